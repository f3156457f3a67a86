package answer

import (
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/retention"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
)

// Run is a run in a list.
type Run struct {
	Marks
	Title   string           `json:"title"`
	Differs []string         `json:"differences,omitempty"` // from the defaults of the scenario
	Outcome string           `json:"outcome,omitempty"`
	Acted   int64            `json:"acted,omitempty"`  // sessions
	Failed  int64            `json:"failed,omitempty"` // sessions, or timed out
	Bytes   int64            `json:"stored_bytes,omitempty"`
	State   string           `json:"state"`
	Reason  string           `json:"reason,omitempty"`
	Machine string           `json:"machine,omitempty"` // of runs in a database
	Created time.Time        `json:"created"`
	Ended   time.Time        `json:"ended,omitzero"`
	Cycle   int              `json:"cycle"`
	Cycles  int              `json:"cycles,omitempty"`
	Done    int64            `json:"done"`
	Total   int64            `json:"total,omitempty"`
	Exact   *bool            `json:"exact,omitempty"`
	Passed  *bool            `json:"passed,omitempty"` // all criteria
	Seed    *uint64          `json:"seed,omitempty"`
	Parent  engine.RunID     `json:"parent,omitempty"`
	Fork    int              `json:"fork_cycle,omitempty"`
	Survey  *view.Survey     `json:"survey,omitempty"` // absent if the run is not a survey
	Note    string           `json:"note,omitempty"`
	Cleaned []engine.Cleaned `json:"cleaned,omitempty"`
	Saved   int              `json:"checkpoints,omitempty"` // in a database
}

// NewRun returns the JSON form of a run.
func NewRun(r *engine.RunRecord) Run {
	exact := r.Inexact == nil
	j := Run{
		Marks: NewMarks(r), Title: r.Title, Differs: view.Differences(r), Outcome: view.Outcome(r), Acted: r.Tally.Acted, Failed: r.Tally.Failed, State: r.State(), Reason: r.Reason, Created: utc(r.Created), Ended: utc(r.Ended), Cycle: r.Cycle, Cycles: r.Cycles,
		Done: r.Done, Total: r.Total, Exact: &exact, Seed: &r.Settings.Seed, Parent: r.Parent, Fork: r.ForkCycle, Survey: view.SurveyOf(r), Note: r.Note, Cleaned: r.Cleaned,
	}
	if r.Ending != engine.NotEnded && len(r.Verdict) > 0 {
		passed := r.Ending == engine.EndFinished
		for _, v := range r.Verdict {
			passed = passed && (v.Passed || v.Unknown)
		}
		j.Passed = &passed
	}
	return j
}

// NewRemoteRun returns the JSON form of a run in a database.
func NewRemoteRun(r *storage.RemoteRun) Run {
	state := "not ended"
	if r.Ending != engine.NotEnded {
		state = r.Ending.String()
	}
	return Run{
		Marks: NewMarks(&r.RunRecord), Title: r.Title, State: state, Machine: r.Machine, Created: utc(r.Created), Cycle: r.Cycle, Cycles: r.Cycles, Done: r.Done, Total: r.Total,
		Saved: r.Checkpoints,
	}
}

// Checkpoints lists the checkpoints of a run.
type Checkpoints struct {
	Run         engine.RunID `json:"run"`
	Checkpoints []Checkpoint `json:"checkpoints"`
}

// Checkpoint is a checkpoint.
type Checkpoint struct {
	Number int       `json:"number"`
	At     time.Time `json:"at"`
	Cycle  int       `json:"cycle"`
	Done   int64     `json:"done"`
	Total  int64     `json:"total,omitempty"`
	Kind   string    `json:"kind"`
	Reason string    `json:"reason"`
	Bytes  int64     `json:"bytes"`
	Took   float64   `json:"took_seconds,omitempty"`
	Limit  int       `json:"limit,omitempty"`  // with --show
	Memory *int      `json:"memory,omitempty"` // agents with memory, with --show
}

// NewCheckpoint returns the JSON form of a checkpoint.
func NewCheckpoint(c *engine.CheckpointRecord) Checkpoint {
	return Checkpoint{
		Number: c.Number, At: utc(c.At), Cycle: c.Cycle, Done: c.Done, Total: c.Total, Kind: c.Kind(), Reason: c.Reason, Bytes: c.SizeBytes, Took: c.Took.Seconds(),
	}
}

// NewCheckpoints returns the JSON form of checkpoints.
func NewCheckpoints(run engine.RunID, all []engine.CheckpointRecord) Checkpoints {
	j := Checkpoints{Run: run, Checkpoints: []Checkpoint{}}
	for i := range all {
		j.Checkpoints = append(j.Checkpoints, NewCheckpoint(&all[i]))
	}
	return j
}

// Agents counts the outcomes of a cycle, and lists the agents with one outcome.
type Agents struct {
	Run       engine.RunID   `json:"run"`
	Cycle     int            `json:"cycle"`
	Agents    int            `json:"agents"`
	Outcomes  map[string]int `json:"outcomes"`
	Stops     []view.Stop    `json:"stop_reasons,omitempty"` // the most frequent of sessions that a step stopped, which did not fail
	NoSession int            `json:"no_session"`
	State     string         `json:"state,omitempty"`
	Who       []string       `json:"who,omitempty"`
}

// FoundAgents lists the agents that match an expression.
type FoundAgents struct {
	Run    engine.RunID `json:"run"`
	Agents int          `json:"agents"` // of the run
	Who    []string     `json:"who"`
}

// TrashItem is a run or a checkpoint in the trash.
type TrashItem struct {
	Run        engine.RunID `json:"run"`
	Title      string       `json:"title"`
	Checkpoint int          `json:"checkpoint,omitempty"` // 0 means the whole run
	Deleted    time.Time    `json:"deleted"`
	Until      time.Time    `json:"until"`
	Bytes      int64        `json:"bytes"`
}

// Trash lists the trash, and counts what was deleted for good.
type Trash struct {
	Trash   []TrashItem `json:"trash"`
	Deleted int         `json:"deleted"`
}

// NewTrash returns the JSON form of the trash.
func NewTrash(all []storage.Trashed) Trash {
	j := Trash{Trash: []TrashItem{}}
	for i := range all {
		b := &all[i]
		j.Trash = append(j.Trash, TrashItem{b.Run.ID, b.Run.Title, b.Checkpoint, utc(b.At), utc(b.Until()), b.Bytes})
	}
	return j
}

// Going describes a run or checkpoints to delete.
type Going struct {
	Run         engine.RunID `json:"run"`
	Title       string       `json:"title"`
	Whole       bool         `json:"whole"`
	Sessions    int64        `json:"sessions,omitempty"`
	Events      int64        `json:"events,omitempty"`
	Checkpoints []int        `json:"checkpoints,omitempty"` // deleted from a run that stays
	Unsent      int64        `json:"unsent_rows,omitempty"`
	Bytes       int64        `json:"bytes"`
}

// Pruned lists what to delete, and counts what was deleted.
type Pruned struct {
	Going   []Going `json:"going"`
	Deleted int     `json:"deleted"`
	Trash   bool    `json:"in_trash"`
}

// NewPruned returns the JSON form of what is pruned.
func NewPruned(all []retention.Removal, now bool) Pruned {
	j := Pruned{Going: []Going{}, Trash: !now}
	for i := range all {
		g := &all[i]
		j.Going = append(j.Going, Going{g.Run.ID, g.Run.Title, g.Whole, g.Doomed.Sessions, g.Doomed.Events, g.Checkpoints, g.Unsent(), g.Bytes})
	}
	return j
}

// EndedRecord returns the record of a run that has just ended.
func EndedRecord(job *app.Job, r *run.Result) *engine.RunRecord {
	record := job.Record
	record.Ending, record.Reason, record.Cycle = r.Ending, r.Reason, job.Run.Snapshot().Cycle
	return &record
}

// PastFleet has the workers of a run that is not in progress.
type PastFleet struct {
	Run     engine.RunID `json:"run"`
	State   string       `json:"state"`
	Workers []PastWorker `json:"workers"` // without any, no fleet executed it, or its metrics are off
}

// PastWorker is what a worker did.
type PastWorker struct {
	Name         string    `json:"name"` // "" for several workers together
	From         time.Time `json:"from"`
	To           time.Time `json:"to"`
	MostInFlight int       `json:"most_in_flight"`
	PerSecond    float64   `json:"sessions_per_second"` // mean
	CPU          float64   `json:"cpu_percent"`         // mean, of one core
}
