package engine

import (
	"time"
)

// Row is one thing to be journaled: an [IntentRow], [AnswerRow], [SharedRow], [SessionRows], [BarrierRow], [ChangeRow],
// [CheckpointRow], [MetricsRow], [EndRow], [StartRow] or [UnconfirmedRow].
type Row interface{ row() }

// Place names a session: a take of an agent's turn in a cycle. Takes count from 0; a session requeued by hand has a
// higher one, and the last counts.
type Place struct {
	Cycle int `json:"cycle"`
	Agent int `json:"agent"`
	Take  int `json:"take"`
}

// Entry is the result of one service step, as the journal keeps it for a replay.
type Entry struct {
	Path     string     `cbor:"1,keyasint"`
	Status   StepStatus `cbor:"2,keyasint,omitempty"`
	Class    Class      `cbor:"3,keyasint,omitempty"`
	Error    string     `cbor:"4,keyasint,omitempty"`
	Output   []byte     `cbor:"5,keyasint,omitempty"` // as the step's kind encodes it
	Attempts int        `cbor:"6,keyasint,omitempty"`
	Statuses []int      `cbor:"7,keyasint,omitempty"`
	Hash     uint64     `cbor:"8,keyasint,omitempty"` // of the request
	// Private marks an answer that is here for a replay only: a store shows its Output to nobody else, and keeps none
	// once the cycle is closed, of failed sessions neither. Its Error has nothing of the answer.
	Private bool `cbor:"9,keyasint,omitempty"`
	// Spent is what the step's requests took; of an intent without an answer, what they may have taken at most.
	Spent Outlay `cbor:"10,keyasint,omitzero"`
	// Again says that an earlier process had sent the request before.
	Again bool `cbor:"11,keyasint,omitempty"`
	// Unconfirmed says that the request was sent again, and that no answer proved that it was carried out only once.
	Unconfirmed bool `cbor:"12,keyasint,omitempty"`
}

// IntentRow is written before a changing request leaves; a later one of the same path takes its place. Earlier holds the results of the session's service steps
// that are not journaled yet.
type IntentRow struct {
	Place
	Path    string
	Hash    uint64
	Spent   Outlay // by the request's attempts so far and the one that is about to leave, at most
	Earlier []Entry
}

// AnswerRow follows the intent of the same path.
type AnswerRow struct {
	Place
	Entry
}

// SharedRow is about an answer that belongs to the run: without a Record, that it is about to be asked for; with one,
// how that ended.
type SharedRow struct {
	Key    SharedKey   `cbor:"1,keyasint"`
	Cycle  int         `cbor:"2,keyasint"`
	Entry  Entry       `cbor:"3,keyasint"` // the intent, of a Path and a Hash only; the answer; or nothing
	Record *StepRecord `cbor:"4,keyasint,omitempty"`
	// Took is how long it took to have the population written, in the last of the rows of its PopulationKey.
	Took time.Duration `cbor:"5,keyasint,omitempty"`
}

// Answers reports whether the row holds an answer.
func (r *SharedRow) Answers() bool { return r.Record != nil && r.Entry.Attempts > 0 }

// StepRecord is what is kept of a finished step.
type StepRecord struct {
	Path     string        `cbor:"1,keyasint"`
	Status   StepStatus    `cbor:"2,keyasint,omitempty"`
	Class    Class         `cbor:"3,keyasint,omitempty"`
	Label    Label         `cbor:"4,keyasint,omitempty"`
	Attempts int           `cbor:"5,keyasint,omitempty"` // requests sent; 0 for a step that asks nobody
	Statuses []int         `cbor:"6,keyasint,omitempty"` // of the attempts, and of the 429s between them
	Held     time.Duration `cbor:"7,keyasint,omitempty"` // waited because the engine held it back
	Service  time.Duration `cbor:"8,keyasint,omitempty"` // spent by the service or the step itself
	Usage    *Usage        `cbor:"9,keyasint,omitempty"` // of models; nil is none
	// Beside says that the step belongs to a group in which another could run at the same time, and that they did not
	// have to take turns.
	Beside bool   `cbor:"10,keyasint,omitempty"`
	Waits  *Waits `cbor:"11,keyasint,omitempty"` // what Held consists of; nil is nothing
}

// Event is a row of results that a session emitted.
type Event struct {
	Path string `cbor:"1,keyasint"`
	Name string `cbor:"2,keyasint"`
	Data []byte `cbor:"3,keyasint,omitempty"` // JSON text; its place in SessionRow.Events is its sequence
}

// SessionRow is one finished session. The slices belong to the batch that the row is in, and are reused.
type SessionRow struct {
	Place
	Outcome     Outcome
	Class       Class
	Path        string // the step whose failure is the session's, or that stopped it
	Error       string // for people; never part of a result
	Because     string // why it stopped
	Started     time.Time
	Queue       time.Duration // from the moment it could have started to its start: the queued
	Held        time.Duration
	Service     time.Duration
	Total       time.Duration // from its start to its end
	Acted       bool
	OutOfBudget string  // why it was cut, if that is for the budget
	Lasting     Lasting // of a failure; not journaled
	Steps       []StepRecord
	Events      []Event
	Delta       Delta // committed at the barrier if the outcome commits
}

// SessionRows is a batch of finished sessions.
type SessionRows []SessionRow

// BarrierRow closes a cycle.
type BarrierRow struct {
	Cycle    int
	At       time.Time
	Active   int           // sessions of the cycle
	Took     time.Duration // from the cycle's start to its last session's end, without pacing waits and pauses
	Lag      time.Duration // how far behind its schedule the cycle started
	Sessions int64         // of the run so far
	Work     CycleWork     // of this cycle's sessions
	Mock     int64         // bytes of the mock shop's log; 0 where there is none
}

// What a [ChangeRow] says was changed.
const (
	PhaseChange   = "phase"
	InjectChange  = "inject"  // Old says for whom, New is what
	RetireChange  = "retire"  // Old is the agent for people, New says which and when
	RequeueChange = "requeue" // likewise
	StallChange   = "stall"
	MemoryChange  = "memory" // sessions wait for memory
	SleepChange   = "sleep"  // New is how long it was
	ClockChange   = "clock"  // the wall clock was set; New is by how much

	ExactnessChange = "exactness"
)

// ChangeRow is anything that a person or a governor changed mid-run, or that happened to it. What is one of the above,
// one of [LiveSettings], or what a service calls it.
type ChangeRow struct {
	At      time.Time `json:"at"`
	Cycle   int       `json:"cycle"`
	What    string    `json:"what"`
	Old     string    `json:"old,omitempty"`
	New     string    `json:"new,omitempty"`
	Who     string    `json:"who,omitempty"`
	Why     string    `json:"why,omitempty"`
	Inexact *Inexact  `json:"-"` // set if the run's result may depend on timing from here on
}

// CheckpointRow makes a checkpoint. Memory holds the agents whose memory changed since the previous checkpoint, as
// of the start of Cycle.
type CheckpointRow struct {
	At          time.Time
	Cycle       int
	Done, Total int64 // sessions
	Reason      string
	State       State
	Memory      map[int]*Memory
}

// State is what a checkpoint keeps of the loop.
type State struct {
	Limit  int    `cbor:"1,keyasint"`
	Totals Totals `cbor:"2,keyasint"`
	// Injected are the messages injected by hand that sessions of its cycle may find, in the order of their cycles.
	Injected []Injection `cbor:"3,keyasint,omitempty"`
	// Retired are the agents that take no part in its cycle any more, with the first cycle that they are missing from.
	Retired map[int]int `cbor:"4,keyasint,omitempty"`
	// Tuned is what services had been changed to by hand where the run was forked; nil in a run that is no fork.
	Tuned []Tunable `cbor:"5,keyasint,omitempty"`
}

// StartRow says that a process took up the run, at first or again.
type StartRow struct {
	At      time.Time
	Cycle   int
	Resumed bool
}

// EndRow ends a run.
type EndRow struct {
	At      time.Time
	Total   int64 // sessions; 0 is not known
	Ending  Ending
	Reason  string
	Totals  Totals
	Verdict []Judgement
}

func (IntentRow) row()      {}
func (AnswerRow) row()      {}
func (SharedRow) row()      {}
func (SessionRows) row()    {}
func (BarrierRow) row()     {}
func (ChangeRow) row()      {}
func (CheckpointRow) row()  {}
func (MetricsRow) row()     {}
func (StartRow) row()       {}
func (UnconfirmedRow) row() {}
func (EndRow) row()         {}

// MetricsRow is the state of the run and the machine at one second. Gauges that are not known are NaN or negative.
type MetricsRow struct {
	At       time.Time `cbor:"1,keyasint"`
	Cycle    int       `cbor:"2,keyasint"`
	Phase    Phase     `cbor:"3,keyasint"`
	Ended    int64     `cbor:"4,keyasint"` // sessions so far (agents_processed)
	Acted    int64     `cbor:"5,keyasint"` // sessions that acted so far (agents_shopped)
	Limit    int       `cbor:"6,keyasint"`
	InFlight int       `cbor:"7,keyasint"`
	// Of the sessions that ended in this second; zero where Window.Count is 0.
	Total   Quantiles `cbor:"8,keyasint"`
	Service Quantiles `cbor:"9,keyasint"`
	Held    Quantiles `cbor:"10,keyasint"`
	// Per second, over this second.
	SessionsPerSec float64     `cbor:"11,keyasint"`
	RequestsPerSec float64     `cbor:"12,keyasint"`
	WritesPerSec   float64     `cbor:"13,keyasint"`
	RateLimited    int64       `cbor:"14,keyasint"` // 429s so far
	Retries        int64       `cbor:"15,keyasint"` // so far
	Errors         Errors      `cbor:"16,keyasint"` // failed sessions so far, by class
	Host           HostMetrics `cbor:"17,keyasint"`
	// Connections in use by Throng, and of all clients of the database server; -1 where there is none.
	Connections       int           `cbor:"18,keyasint"`
	ServerConnections int           `cbor:"19,keyasint"`
	Lag               time.Duration `cbor:"20,keyasint"`
	Unsent            int64         `cbor:"21,keyasint"` // rows not yet in the remote database; -1 without one
	ServerMax         int           `cbor:"22,keyasint"` // connections that the server takes; -1 where it is not known

	Flow     Flow      `cbor:"23,keyasint"` // so far
	TimedOut int64     `cbor:"24,keyasint"` // sessions so far
	Queue    Quantiles `cbor:"25,keyasint"` // waits for the gate of the sessions that ended in this second
	// Speedup is the busy time of the sessions that ended in this second, over the second.
	Speedup float64 `cbor:"26,keyasint"`
	Usage   Usage   `cbor:"27,keyasint,omitzero"` // of models, so far
	Waits   Waits   `cbor:"28,keyasint,omitzero"` // so far
	Pool    Pool    `cbor:"29,keyasint,omitzero"` // connections to remote databases

	Overhead Overhead `cbor:"30,keyasint,omitzero"` // so far
	Late     Late     `cbor:"31,keyasint,omitzero"` // of this second

	Stored int64 `cbor:"32,keyasint,omitempty"` // bytes that the run has taken in the store so far; 0 is not known

	Beside Outlay `cbor:"33,keyasint,omitzero"` // as in Peaks, so far
}

// Pool is Throng's connections to remote databases, over all its pools. The zero value is that there is none.
type Pool struct {
	Size    int `cbor:"1,keyasint,omitempty"` // may be open at once
	InUse   int `cbor:"2,keyasint,omitempty"` // by a statement or a batch
	Idle    int `cbor:"3,keyasint,omitempty"` // open, with nothing to do
	Waiting int `cbor:"4,keyasint,omitempty"` // statements and batches that wait for one
}

// Add adds the figures of another pool.
func (p *Pool) Add(q Pool) {
	p.Size += q.Size
	p.InUse += q.InUse
	p.Idle += q.Idle
	p.Waiting += q.Waiting
}

// HostMetrics are what the machine and this process use. Rates are per second since the previous sample.
type HostMetrics struct {
	CPU         float64 `cbor:"1,keyasint"` // percent of the machine
	ProcessCPU  float64 `cbor:"2,keyasint"` // percent of one core
	Memory      uint64  `cbor:"3,keyasint"` // resident bytes of this process
	Available   uint64  `cbor:"4,keyasint"` // bytes that the system can still give
	NetIn       float64 `cbor:"5,keyasint"` // bytes per second, all interfaces
	NetOut      float64 `cbor:"6,keyasint"`
	DiskFree    uint64  `cbor:"7,keyasint"` // bytes, of the data folder's disk
	MemoryTotal uint64  `cbor:"8,keyasint"`

	Cores     int     `cbor:"9,keyasint,omitempty"`  // of the machine; 0 is not known
	Collector float64 `cbor:"10,keyasint,omitempty"` // percent of one core, for collecting garbage; part of ProcessCPU
	// CoreWait is for how long goroutines that could run waited for a core, at the 99th percentile.
	CoreWait time.Duration `cbor:"11,keyasint,omitempty"`
}

// Errors counts by class; the index is the Class.
type Errors [NumClasses]int64

// RunRecord is a run as the store lists it.
type RunRecord struct {
	ID         RunID
	Title      string
	Source     Source
	Settings   Settings
	Created    time.Time
	Ended      time.Time // zero while it is not over
	Ending     Ending
	Reason     string
	Cycle      int // the open cycle
	Cycles     int // 0 when the run ends by the clock
	Done       int64
	Total      int64 // planned sessions; 0 when not known
	Parent     RunID
	ForkCycle  int
	Limit      int // of sessions in flight, as it was set last
	Inexact    *Inexact
	Verdict    []Judgement
	Forecast   *Forecast // made before it started; nil is none
	InProgress bool      // a process holds its lock
	SizeBytes  int64     // of its checkpoints
	Fetched    *Fetched  // nil for a run that was made in this store
	Note       string    // what a person wrote of it
	Cleaned    []Cleaned // the cleanups of it, the oldest first
	Damage     string    // why it cannot be read whole, so that it can be listed and deleted, and no more; "" is that it can
}

// Fetched says where a run came from that was made elsewhere: its checkpoints can be forked, and its results are there.
type Fetched struct {
	Database string    // host:port/database
	Machine  string    // where it was made; "" is not known
	At       time.Time // when it was fetched first
}

// Why is why a run ended, where it did not just finish: also of one that finished and of which every session failed.
func (r *RunRecord) Why() string {
	if r.InProgress || r.Ending == EndFinished && (r.Reason == AllDone || r.Reason == NoAgents) {
		return ""
	}
	return r.Reason
}

// State says what a run is doing, or how it ended.
func (r *RunRecord) State() string {
	switch {
	case r.Damage != "":
		return "damaged"
	case r.InProgress:
		return "in progress"
	case r.Fetched != nil && r.Ending == NotEnded:
		return "elsewhere"
	case r.Ending == NotEnded:
		return "interrupted"
	}
	return r.Ending.String()
}

// CheckpointRecord is a checkpoint as the picker lists it.
type CheckpointRecord struct {
	Run         RunID
	Number      int // counts from 1 in its run
	At          time.Time
	Cycle       int
	Done, Total int64
	Reason      string
	SizeBytes   int64
	// Took is from its order until it was written, but for the last commit's sync; sessions went on meanwhile. 0 is not
	// known.
	Took   time.Duration
	Newest bool
}

// Resumption is where a run goes on: the journal's end, read back.
type Resumption struct {
	Cycle       int
	Unbegun     bool            // no process has taken up the run before: it is a fork
	Done        []int           // agents with a session row in the open cycle
	Outcomes    []Outcome       // of these sessions
	Deltas      map[int]Delta   // of those of them that have one and whose outcome commits
	Memory      map[int]*Memory // as of the start of the cycle
	Prefixes    map[int]Prefix  // of the agents without a session row
	Takes       map[int]int     // of those of them whose take in progress is not the first
	State       State           // Totals up to the journal's end
	AtBarrier   Totals          // as of the start of the cycle, but for Shared, which is up to the end
	Changed     []int           // agents whose memory changed since the last checkpoint
	Shared      Shared          // answers that belong to the run, of all cycles
	Writing     time.Duration   // it took to have the population written, before the run began
	Checkpoints int             // taken so far
	Checkpoint  time.Time       // of the last one; zero without any
	Injected    []Injection     // by hand, in the order of their cycles
	// Retired are agents with the first cycle that each takes no part in; Requeued are the takes that were ordered last, by
	// the session's first; Tuned is what services, and settings, were changed to last, in the order of that.
	Retired  map[int]int
	Requeued map[Place]int
	Tuned    []Tunable
	Bad      map[int]SessionEnd // of the agents that are done, whose session failed or timed out
	// Mock is how many bytes the log of the mock shop had at the last barrier; 0 is not known. Lost is how many sessions
	// of closed cycles the barriers count and the journal does not hold.
	Mock, Lost int64
}

// Prefix is what the journal holds of a session that has not ended: answered steps, and intents without an answer
// (an Entry whose Attempts is 0). The order does not matter.
type Prefix []Entry
