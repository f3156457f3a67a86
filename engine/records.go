package engine

import (
	"time"

	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/workers"
)

// Row is an entry for the journal: an [IntentRow], [AnswerRow], [SharedRow], [SessionRows], [BarrierRow], [ChangeRow],
// [CheckpointRow], [MetricsRow], [EndRow], [StartRow] or [UnconfirmedRow].
type Row interface{ row() }

// Place identifies a session: a take of an agent's turn in a cycle. Takes count from 0. Requeuing a session by hand
// adds a take, and the last take counts.
type Place struct {
	Cycle int `json:"cycle"`
	Agent int `json:"agent"`
	Take  int `json:"take"`
}

// Entry is the result of one service step, stored in the journal for replay.
type Entry struct {
	Path     string     `cbor:"1,keyasint"`
	Status   StepStatus `cbor:"2,keyasint,omitempty"`
	Class    Class      `cbor:"3,keyasint,omitempty"`
	Error    string     `cbor:"4,keyasint,omitempty"`
	Output   []byte     `cbor:"5,keyasint,omitempty"` // encoded by the step's kind
	Attempts int        `cbor:"6,keyasint,omitempty"`
	Statuses []int      `cbor:"7,keyasint,omitempty"`
	Hash     uint64     `cbor:"8,keyasint,omitempty"` // of the request
	// Private marks an answer that is stored for replay only. A store does not expose its Output, and deletes it when the
	// cycle closes, even for failed sessions. Its Error contains nothing from the answer.
	Private bool `cbor:"9,keyasint,omitempty"`
	// Spent is what the step's requests used. For an intent without an answer, it is an upper limit.
	Spent Outlay `cbor:"10,keyasint,omitzero"`
	// Again reports that an earlier process already sent the request.
	Again bool `cbor:"11,keyasint,omitempty"`
	// Unconfirmed reports that the request was resent and no answer proved that it was executed only once.
	Unconfirmed bool `cbor:"12,keyasint,omitempty"`
}

// IntentRow is written before a changing request is sent. A later intent for the same path replaces it. Earlier holds
// the results of the session's service steps that are not in the journal yet.
type IntentRow struct {
	Place
	Path    string
	Hash    uint64
	Spent   Outlay // upper limit for the attempts so far and the one about to be sent
	Earlier []Entry
}

// AnswerRow follows the intent with the same path.
type AnswerRow struct {
	Place
	Entry
}

// SharedRow concerns an answer that belongs to the run. Without a Record, the request is about to be sent. With a
// Record, it has ended.
type SharedRow struct {
	Key    SharedKey   `cbor:"1,keyasint"`
	Cycle  int         `cbor:"2,keyasint"`
	Entry  Entry       `cbor:"3,keyasint"` // the intent, with only Path and Hash; the answer; or empty
	Record *StepRecord `cbor:"4,keyasint,omitempty"`
	// Took is how long writing the population took. It is set in the last row of its PopulationKey.
	Took time.Duration `cbor:"5,keyasint,omitempty"`
}

// Answers reports whether the row contains an answer.
func (r *SharedRow) Answers() bool { return r.Record != nil && r.Entry.Attempts > 0 }

// StepRecord is the stored record of a finished step.
type StepRecord struct {
	Path      string         `cbor:"1,keyasint"`
	Status    StepStatus     `cbor:"2,keyasint,omitempty"`
	Class     Class          `cbor:"3,keyasint,omitempty"`
	Label     Label          `cbor:"4,keyasint,omitempty"`
	Attempts  int            `cbor:"5,keyasint,omitempty"`  // requests sent; 0 for a step that calls no service
	Statuses  []int          `cbor:"6,keyasint,omitempty"`  // of the attempts, including 429s between them
	Throttled time.Duration  `cbor:"7,keyasint,omitempty"`  // time throttled
	Service   time.Duration  `cbor:"8,keyasint,omitempty"`  // time used by the service or the step itself
	Usage     *Usage         `cbor:"9,keyasint,omitempty"`  // of models; nil if none
	Parallel  bool           `cbor:"10,keyasint,omitempty"` // it belongs to a group whose steps could run in parallel and did not have to take turns
	Waits     *Waits         `cbor:"11,keyasint,omitempty"` // breakdown of Throttled; nil if zero
	Size      int64          `cbor:"12,keyasint,omitempty"` // of the answers that it used, in bytes
	Redirects int            `cbor:"13,keyasint,omitempty"` // those among Attempts that followed a redirect
	Rounds    int            `cbor:"14,keyasint,omitempty"` // those among Attempts that gave a model the results of its tools
	Decision  *decision.Pair `cbor:"15,keyasint,omitempty"` // answers of a model and of its rule; nil if there are none to compare
}

// Event is a result row that a session emitted.
type Event struct {
	Path string `cbor:"1,keyasint"`
	Name string `cbor:"2,keyasint"`
	Data []byte `cbor:"3,keyasint,omitempty"` // JSON text; the index in SessionRow.Events is the sequence number
}

// SessionRow is one finished session. Its slices belong to the row's batch and are reused.
type SessionRow struct {
	Place
	Outcome   Outcome
	Class     Class
	Path      string // the step that failed or stopped the session
	Error     string // for display; never part of a result
	Because   string // why the session stopped
	Started   time.Time
	Queue     time.Duration // time queued: from when the session could have started to its start
	Open      bool          // the session had an intended start, from which Queue and the latency count
	Throttled time.Duration
	Service   time.Duration
	Total     time.Duration // from start to end
	Acted     bool
	CutAlone  string  // why the session was cut while others continue; "" if it was not
	Lasting   Lasting // whether a failure is permanent; not journaled
	Steps     []StepRecord
	Events    []Event
	Delta     Delta // committed at the barrier if the outcome commits
}

// Latency returns the time of the session for its caller: from its intended start, if it had one, to its end.
func (r *SessionRow) Latency() time.Duration {
	if r.Open {
		return r.Queue + r.Total
	}
	return r.Total
}

// SessionRows is a batch of finished sessions.
type SessionRows []SessionRow

// BarrierRow closes a cycle.
type BarrierRow struct {
	Cycle    int
	At       time.Time
	Active   int           // sessions of the cycle
	Took     time.Duration // from the cycle's start to the end of its last session, without pacing waits and pauses
	Lag      time.Duration // how far behind schedule the cycle started
	Sessions int64         // of the run so far
	Work     CycleWork     // of this cycle's sessions
	Mock     int64         // bytes in the mock shop's log; 0 without a mock shop
}

// Values of [ChangeRow].What. A limit that a person sets has the name of its setting, [LimitSetting].
const (
	LimitChange   = "limit" // a governor moved the concurrency limit
	PhaseChange   = "phase"
	InjectChange  = "inject"  // Old is the recipient, New is the message
	RetireChange  = "retire"  // Old is the agent's name, New is which agents and when
	RequeueChange = "requeue" // same as for RetireChange
	StallChange   = "stall"
	MemoryChange  = "memory" // sessions wait for memory
	WorkerChange  = "worker" // a worker of the fleet was lost
	FleetChange   = "fleet"  // a process began to have workers execute the sessions; New names them as --fleet or --nats does
	SleepChange   = "sleep"  // New is the duration
	ClockChange   = "clock"  // the wall clock was set; New is the offset

	ExactnessChange = "exactness"

	// RestartChange says that a run was interrupted or resumed. It is not in the journal: view.WithRestarts adds it.
	RestartChange = "run"
)

// ChangeRow is a change to a running run by a person or a governor, or an incident. Its What is one of the constants
// above, one of [LiveSettings], or a name from a service.
type ChangeRow struct {
	At      time.Time `json:"at"`
	Cycle   int       `json:"cycle"`
	What    string    `json:"what"`
	Old     string    `json:"old,omitempty"`
	New     string    `json:"new,omitempty"`
	Who     string    `json:"who,omitempty"`
	Why     string    `json:"why,omitempty"`
	Inexact *Inexact  `json:"-"` // set if the result may depend on timing from this point on
}

// CheckpointRow creates a checkpoint. Memory holds the agents whose memory changed since the previous checkpoint, as
// of the start of Cycle.
type CheckpointRow struct {
	At          time.Time
	Cycle       int
	Done, Total int64 // sessions
	Reason      string
	State       State
	Memory      map[int]*Memory
}

// State is the part of the loop's state that a checkpoint stores.
type State struct {
	Limit  int    `cbor:"1,keyasint"`
	Totals Totals `cbor:"2,keyasint"`
	// Injected lists the messages injected by hand that sessions of the cycle may receive, in order of cycle.
	Injected []Injection `cbor:"3,keyasint,omitempty"`
	// Retired maps the agents that are retired to the first cycle without them.
	Retired map[int]int `cbor:"4,keyasint,omitempty"`
	// Tuned lists the changes made to services by hand before the run was forked; nil if the run is not a fork.
	Tuned []Tunable `cbor:"5,keyasint,omitempty"`
	// Manual means that a person has set the limit.
	Manual bool `cbor:"6,keyasint,omitempty"`
}

// StartRow records that a process started or resumed the run.
type StartRow struct {
	At      time.Time
	Cycle   int
	Resumed bool
}

// EndRow ends a run.
type EndRow struct {
	At      time.Time
	Total   int64 // sessions; 0 if unknown
	Ending  Ending
	Reason  string
	Totals  Totals
	Verdict []Judgment
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

// MetricsRow is the state of the run and the machine at one second; Fine: a tenth. Unknown gauges are NaN or negative.
type MetricsRow struct {
	At       time.Time `cbor:"1,keyasint"`
	Cycle    int       `cbor:"2,keyasint"`
	Phase    Phase     `cbor:"3,keyasint"`
	Ended    int64     `cbor:"4,keyasint"` // sessions so far (agents_processed)
	Acted    int64     `cbor:"5,keyasint"` // sessions that acted so far (agents_shopped)
	Limit    int       `cbor:"6,keyasint"`
	InFlight int       `cbor:"7,keyasint"`

	SecondTimes
	SecondRates
	Counters
	DatabaseUse

	Host HostMetrics   `cbor:"17,keyasint"`
	Lag  time.Duration `cbor:"20,keyasint"`
	Late Late          `cbor:"31,keyasint,omitzero"` // of this second
	Fine bool          `cbor:"35,keyasint,omitempty"`

	Workers []workers.Sample `cbor:"37,keyasint,omitempty"` // of a fleet, by name
}

// SecondTimes is how long the sessions took that ended in a second. The quantiles are zero if none ended.
type SecondTimes struct {
	Total     Quantiles `cbor:"8,keyasint"`
	Service   Quantiles `cbor:"9,keyasint"`
	Throttled Quantiles `cbor:"10,keyasint"`
	Queue     Quantiles `cbor:"25,keyasint"` // time queued
	// Active is Total of those that sent a request or acted, without agents that had nothing to do.
	Active Quantiles `cbor:"34,keyasint,omitzero"`
	// Request is Service of their steps with requests: what services took, with retries.
	Request Quantiles `cbor:"36,keyasint,omitzero"`
	// Speedup is their busy time, divided by one second.
	Speedup float64 `cbor:"26,keyasint"`
}

// SecondRates are rates per second, in one second.
type SecondRates struct {
	SessionsPerSec float64 `cbor:"11,keyasint"`
	RequestsPerSec float64 `cbor:"12,keyasint"`
	WritesPerSec   float64 `cbor:"13,keyasint"`
}

// Counters count what happened in a run so far.
type Counters struct {
	RateLimited int64    `cbor:"14,keyasint"` // 429s
	Retries     int64    `cbor:"15,keyasint"`
	Errors      Errors   `cbor:"16,keyasint"` // failed sessions, by class
	Flow        Flow     `cbor:"23,keyasint"`
	TimedOut    int64    `cbor:"24,keyasint"`          // sessions
	Usage       Usage    `cbor:"27,keyasint,omitzero"` // of models
	Waits       Waits    `cbor:"28,keyasint,omitzero"`
	Overhead    Overhead `cbor:"30,keyasint,omitzero"`
	Stored      int64    `cbor:"32,keyasint,omitempty"` // bytes that the run uses in the store; 0 if unknown
	Unrecorded  Outlay   `cbor:"33,keyasint,omitzero"`  // as in Peaks
}

// DatabaseUse counts connections to databases, and rows that a remote database lacks.
type DatabaseUse struct {
	// Connections that Throng uses, and those of all clients of the database server; -1 without a server.
	Connections       int   `cbor:"18,keyasint"`
	ServerConnections int   `cbor:"19,keyasint"`
	Unsent            int64 `cbor:"21,keyasint"` // rows not sent to the remote database yet; -1 without one
	ServerMax         int   `cbor:"22,keyasint"` // maximum connections of the server; -1 if unknown
	Pool              Pool  `cbor:"29,keyasint,omitzero"`
}

// Pool counts Throng's connections to remote databases, over all its pools. It is zero if there are none.
type Pool struct {
	Size    int `cbor:"1,keyasint,omitempty"` // maximum open connections
	InUse   int `cbor:"2,keyasint,omitempty"` // by a statement or a batch
	Idle    int `cbor:"3,keyasint,omitempty"` // open and unused
	Waiting int `cbor:"4,keyasint,omitempty"` // statements and batches that wait for a connection
}

// Add adds the figures of pool q.
func (p *Pool) Add(q Pool) {
	p.Size += q.Size
	p.InUse += q.InUse
	p.Idle += q.Idle
	p.Waiting += q.Waiting
}

// HostMetrics is the resource usage of the machine and of Throng there: of this process and, in a row of metrics, of the run's workers on
// this machine. Rates are per second since the previous sample.
type HostMetrics struct {
	CPU         float64 `cbor:"1,keyasint"` // percent of the machine
	ProcessCPU  float64 `cbor:"2,keyasint"` // percent of one core, by Throng
	Memory      uint64  `cbor:"3,keyasint"` // resident bytes of Throng
	Available   uint64  `cbor:"4,keyasint"` // bytes that the system can still allocate
	NetIn       float64 `cbor:"5,keyasint"` // bytes per second, all interfaces
	NetOut      float64 `cbor:"6,keyasint"`
	DiskFree    uint64  `cbor:"7,keyasint"` // bytes, of the data folder's disk
	MemoryTotal uint64  `cbor:"8,keyasint"`

	Cores     int     `cbor:"9,keyasint,omitempty"`  // of the machine; 0 if unknown
	Collector float64 `cbor:"10,keyasint,omitempty"` // percent of one core used by garbage collection; part of ProcessCPU
	// CoreWait is how long runnable goroutines waited for a core, at the 99th percentile.
	CoreWait time.Duration `cbor:"11,keyasint,omitempty"`
}

// Errors counts errors by class; the index is the Class.
type Errors [NumClasses]int64

// RunRecord is a run as the store lists it.
type RunRecord struct {
	ID       RunID
	Title    string
	Source   Source
	Settings Settings
	Created  time.Time
	Ended    time.Time // zero until the run ends
	Ending   Ending
	Reason   string
	Cycle    int // the open cycle
	Cycles   int // 0 when the run ends by the clock
	Done     int64
	Total    int64 // planned sessions; 0 if unknown
	Ancestry
	Limit      int // concurrency limit, as last set
	Inexact    *Inexact
	Verdict    []Judgment
	Forecast   *Forecast // made before the run started; nil if none
	InProgress bool      // a process holds the run's lock
	SizeBytes  int64     // of its checkpoints
	Fetched    *Fetched  // nil if the run was made in this store
	Membership
	Marks
	Tally   Tally
	Cleaned []Cleaned // cleanups of the run, oldest first
	Standing
}

// Standing is what the store finds out about a run when it reads the record.
type Standing struct {
	Queued string // its ID in the queue while it waits to start
	Damage string // why the run cannot be read completely; "" if it can; a damaged run can only be listed and deleted
}

// Membership is the place of a run in an experiment; zero for other runs.
type Membership struct {
	Experiment string // the experiment that it was made for
	// Identity is the hash of all that decides the run's results: scenario, values of the factors, settings and seed. An experiment
	// takes over runs with the identity of one of its own.
	Identity string
}

// Ancestry is where a fork comes from; zero for other runs.
type Ancestry struct {
	Parent    RunID
	ForkCycle int
	ForkedAt  time.Time // when the parent's checkpoint was taken; zero if unknown
	Kept      int64     // sessions of the cycles before ForkCycle, completed by the parent and its parents
}

// Fetched describes the origin of a run from another machine. Its checkpoints can be forked, and its results are in
// the remote database.
type Fetched struct {
	Database string    // host:port/database
	Machine  string    // where the run was made; "" if unknown
	At       time.Time // when it was first fetched
}

// State returns what a run is doing, or how it ended.
func (r *RunRecord) State() string {
	switch {
	case r.Damage != "":
		return "damaged"
	case r.InProgress:
		return "in progress"
	case r.Queued != "":
		return "waiting"
	case r.Fetched != nil && r.Ending == NotEnded:
		return "elsewhere"
	case r.Ending == NotEnded:
		return "interrupted"
	}
	return r.Ending.String()
}

// CheckpointRecord is a checkpoint as listed by the store.
type CheckpointRecord struct {
	Run         RunID
	Number      int // counts from 1 in the run
	At          time.Time
	Cycle       int
	Done, Total int64
	Kept        int64 // of Done, the sessions of closed cycles: a run that continues from here keeps them
	Reason      string
	SizeBytes   int64
	// Took is the time from the order to the written checkpoint, without the last commit's sync. Sessions continued in the
	// meantime. 0 if unknown.
	Took   time.Duration
	Newest bool
}

// Resumption is the state from which a run resumes, as read back from the journal.
type Resumption struct {
	Cycle       int
	Unbegun     bool            // no process has executed the run yet: it is a fork
	Done        []int           // agents with a session row in the open cycle
	Outcomes    []Outcome       // of these sessions
	Deltas      map[int]Delta   // of the sessions in Done with a delta whose outcome commits
	Memory      map[int]*Memory // as of the start of the cycle
	Prefixes    map[int]Prefix  // of the agents without a session row
	Takes       map[int]int     // of the agents in Prefixes whose current take is not the first
	State       State           // Totals up to the journal's end
	AtBarrier   Totals          // as of the start of the cycle, except Shared, which covers the whole journal
	Changed     []int           // agents whose memory changed since the last checkpoint
	Shared      Shared          // answers that belong to the run, from all cycles
	Writing     time.Duration   // time spent on writing the population before the run began
	Checkpoints int             // taken so far
	Checkpoint  time.Time       // of the last one; zero if there is none
	Injected    []Injection     // by hand, in order of cycle
	// Retired maps agents to the first cycle without them. Requeued maps a session's first take to the last ordered one.
	// Tuned lists the latest changes to services and settings, in order.
	Retired  map[int]int
	Requeued map[Place]int
	Tuned    []Tunable
	Bad      map[int]SessionEnd // of the agents in Done whose session failed or timed out
	// Mock is the size of the mock shop's log in bytes at the last barrier; 0 if unknown. Lost is the number of sessions
	// of closed cycles that the barriers count but the journal does not contain.
	Mock, Lost int64
}

// Prefix is what the journal contains of an unfinished session: answered steps, and intents without an answer (an
// Entry whose Attempts is 0). The order does not matter.
type Prefix []Entry
