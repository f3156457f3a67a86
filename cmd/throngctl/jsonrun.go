package main

import (
	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/view"
)

// Events of the JSON lines that a run writes.
const (
	startedEvent  = "started"
	progressEvent = "progress"
	endedEvent    = "ended"
)

// startedJSON is the first line of a run.
type startedJSON struct {
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

func newStarted(job *app.Job, l *app.Launch) startedJSON {
	return startedJSON{
		startedEvent, job.Run.ID(), l.Scenario.Title, job.Agents, l.Settings.Seed, l.Resume != "", engine.RunID(job.Run.Settings().Replay),
		job.Record.Parent, job.Record.ForkCycle, job.Record.Forecast,
	}
}

// progressJSON is how far a run is.
type progressJSON struct {
	Event string `json:"event"`
	view.Progress
}

func newProgressLine(s *engine.Snapshot) progressJSON {
	return progressJSON{progressEvent, view.NewProgress(s)}
}

// endedJSON is the last line of a run.
type endedJSON struct {
	Event string `json:"event"`
	view.Progress
	view.Totals
	Code     int              `json:"exit_code"`
	Passed   bool             `json:"passed"`
	Exact    bool             `json:"exact"`
	Criteria []view.Judgement `json:"criteria"`
	Target   string           `json:"database,omitempty"` // that results are sent to
	Exported string           `json:"exported_to,omitempty"`
	GoOn     string           `json:"next_command,omitempty"` // to continue the run
}

func newEnded(job *app.Job, r *run.Result) *endedJSON {
	s := job.Run.Snapshot()
	j := &endedJSON{
		Event: endedEvent, Progress: view.NewProgress(s), Totals: view.NewTotals(s), Passed: r.Passed(), Exact: s.Inexact == nil,
		Criteria: view.NewJudgements(r.Verdict), Target: job.Target,
	}
	j.Ending, j.Reason = r.Ending.String(), r.Reason
	switch r.Ending {
	case engine.EndFinished:
	case engine.EndHopeless:
		j.GoOn = app.RerunCommand(endedRecord(job, r))
	default:
		j.GoOn = "throngctl resume " + string(job.Run.ID())
	}
	return j
}
