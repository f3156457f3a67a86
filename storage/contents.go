package storage

import "github.com/throng-sim/throng/engine"

// ContentsFormat is the version of the format of checkpoint contents in a remote database. It grows when an older Throng
// would misread the contents.
const ContentsFormat = 1

// The kinds of a [Part].
const (
	SourcePart = "source" // bytes of the scenario's files; Place is the first byte
	AnswerPart = "answer" // shared answer of the run; Place is its position in the journal
	MemoryPart = "memory" // memory of the agent Place at checkpoint Number; empty if the agent forgot everything
	LogPart    = "log"    // bytes of the mock shop's log; Place is the first byte, Number the length
	StatePart  = "state"  // the rest of checkpoint Place; Number is its [ContentsFormat]
)

// Part is an immutable piece of the contents of checkpoints in a remote database. Kind, place and number identify it within
// its run.
type Part struct {
	Kind          string
	Place, Number int64
	Data          []byte
}

// Contents is the next portion of a run's checkpoint contents for a remote database.
type Contents struct {
	Parts []Part
	// Kept lists the remaining checkpoints, if others were pruned since the last portion, and is nil otherwise. The database
	// may delete the parts that only pruned checkpoints need.
	Kept   []int
	Cursor ContentsCursor // after this portion
}

// ContentsCursor is how far the contents of a run's checkpoints were sent to a remote database.
type ContentsCursor struct {
	Source     int64  // bytes
	Answers    int64  // position of the last one
	Memory     int64  // the last one, as returned by [MemoryPlace]
	Log        int64  // bytes
	Checkpoint int    // the newest complete one
	Kept       string // numbers of the checkpoints in the database
}

// MemoryPlace returns a number that orders memory by checkpoint and agent.
func MemoryPlace(number, agent int) int64 { return int64(number)<<32 | int64(agent) }

// RemoteRun is a run in the list of a remote database.
type RemoteRun struct {
	engine.RunRecord        // without source, settings and figures
	Machine          string // that executed it; "" if unknown
	Checkpoints      int    // that can be fetched
}
