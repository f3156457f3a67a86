package answer

import (
	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
)

// Events of the JSON lines that a run writes.
const (
	StartedEvent  = "started"
	ProgressEvent = "progress"
	EndedEvent    = "ended"
)

// Started is the first line of a run.
type Started struct {
	Event    string           `json:"event"`
	Run      engine.RunID     `json:"run"`
	Title    string           `json:"title"`
	Agents   int              `json:"agents"`
	Seed     uint64           `json:"seed"`
	Resumed  bool             `json:"resumed,omitempty"`
	Replay   engine.RunID     `json:"replay,omitempty"`
	Parent   engine.RunID     `json:"parent,omitempty"`
	Fork     int              `json:"fork_cycle,omitempty"`
	Forecast *engine.Forecast `json:"forecast,omitempty"`
}

// NewStarted returns the first line of a run.
func NewStarted(job *app.Job, l *app.Launch) Started {
	return Started{
		StartedEvent, job.Run.ID(), l.Scenario.Title, job.Agents, l.Settings.Seed, l.Resume != "", engine.RunID(job.Run.Settings().Replay),
		job.Record.Parent, job.Record.ForkCycle, job.Record.Forecast,
	}
}

// Progress is a line about the progress of a run.
type Progress struct {
	Event string `json:"event"`
	view.Progress
}

// NewProgress returns a line about the progress of a run.
func NewProgress(s *engine.Snapshot) Progress {
	return Progress{ProgressEvent, view.NewProgress(s)}
}

// Ended is the last line of a run.
type Ended struct {
	Event string `json:"event"`
	view.Progress
	view.Totals
	Code     int             `json:"exit_code"`
	Passed   bool            `json:"passed"`
	Exact    bool            `json:"exact"`
	Criteria []view.Judgment `json:"criteria"`
	Target   string          `json:"database,omitempty"` // that receives the results
	Exported string          `json:"exported_to,omitempty"`
	Next     string          `json:"next_command,omitempty"` // continues the run
}

// NewEnded returns the last line of a run. The flags are those that a command to resume it needs as well.
func NewEnded(job *app.Job, r *run.Result, flags string) *Ended {
	s := job.Run.Snapshot()
	j := &Ended{
		Event: EndedEvent, Progress: view.NewProgress(s), Totals: view.NewTotals(s), Passed: r.Passed(), Exact: s.Inexact == nil,
		Criteria: view.NewJudgments(r.Verdict), Target: job.Target,
	}
	j.Ending, j.Reason = r.Ending.String(), r.Reason
	switch r.Ending {
	case engine.EndFinished:
	case engine.EndHopeless:
		j.Next = app.RerunCommand(EndedRecord(job, r))
	default:
		j.Next = "throngctl resume " + string(job.Run.ID()) + flags
	}
	return j
}
