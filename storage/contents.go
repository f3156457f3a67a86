package storage

import "github.com/throng-sim/throng/engine"

// ContentsFormat is the version of what checkpoints restore as it is kept in a remote database. It grows when an older
// Throng would misread it.
const ContentsFormat = 1

// The kinds of a [Part].
const (
	SourcePart = "source" // of the scenario's files; Place is its first byte
	AnswerPart = "answer" // that belongs to the run; Place is its position in the journal
	MemoryPart = "memory" // of an agent, which is Place, as of the checkpoint Number; empty where it forgot everything
	LogPart    = "log"    // of the mock shop's log; Place is its first byte, Number its length
	StatePart  = "state"  // of a checkpoint, which is Place: the rest of it; Number is its [ContentsFormat]
)

// Part is a piece of what checkpoints restore, as a remote database keeps it: immutable, and named within its run by
// kind, place and number.
type Part struct {
	Kind          string
	Place, Number int64
	Data          []byte
}

// Contents is a part of what a run's checkpoints restore, on its way to a remote database.
type Contents struct {
	Parts []Part
	// Kept are the checkpoints that are left, if others were pruned since the database was told; else nil. What only those
	// needed can go there too.
	Kept   []int
	Cursor ContentsCursor // stands for all of it
}

// ContentsCursor is how far what a run's checkpoints restore was sent to a remote database.
type ContentsCursor struct {
	Source     int64  // bytes
	Answers    int64  // position of the last
	Memory     int64  // the last, as [MemoryPlace] has it
	Log        int64  // bytes
	Checkpoint int    // the newest that is whole
	Kept       string // the checkpoints that are there, by number
}

// MemoryPlace orders memory by checkpoint and agent.
func MemoryPlace(number, agent int) int64 { return int64(number)<<32 | int64(agent) }

// RemoteRun is a run as a remote database lists it.
type RemoteRun struct {
	engine.RunRecord        // without source, settings and figures
	Machine          string // where it was made; "" is not known
	Checkpoints      int    // that can be fetched
}
