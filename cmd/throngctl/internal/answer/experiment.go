package answer

import (
	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/engine"
)

// Experiment is an experiment with its runs.
type Experiment struct {
	Title      string          `json:"title"`
	Points     int             `json:"points"`
	Replicates int             `json:"replicates"`
	Runs       ExperimentRuns  `json:"runs"`
	List       []ExperimentRun `json:"list"` // in the order of execution
}

// ExperimentRuns counts the runs of an experiment by state.
type ExperimentRuns struct {
	All         int `json:"all"`
	Waiting     int `json:"waiting"`
	Running     int `json:"running"`
	Interrupted int `json:"interrupted"`
	Done        int `json:"done"`
	Failed      int `json:"failed"`
}

// ExperimentRun is a run of an experiment.
type ExperimentRun struct {
	Identity  string            `json:"identity"` // hash of what decides its results
	Point     int               `json:"point"`    // from 1; 0 for a run that others continue
	Values    map[string]string `json:"values"`   // by factor
	Replicate int               `json:"replicate"`
	Seed      uint64            `json:"seed"`
	State     string            `json:"state"`
	Run       engine.RunID      `json:"run,omitempty"`
	Why       string            `json:"why,omitempty"` // it failed
}

// NewExperiment returns the answer for an experiment.
func NewExperiment(x *experiments.Experiment, s *experiments.Status) Experiment {
	e := Experiment{Title: x.Title, Points: len(s.Plan.Points), Replicates: len(s.Plan.Seeds), List: []ExperimentRun{}}
	for state, n := range map[experiments.State]*int{
		experiments.Waiting: &e.Runs.Waiting, experiments.Running: &e.Runs.Running, experiments.Interrupted: &e.Runs.Interrupted,
		experiments.Done: &e.Runs.Done, experiments.Failed: &e.Runs.Failed,
	} {
		*n, e.Runs.All = s.Count(state)
	}
	for _, r := range s.Runs {
		e.List = append(e.List, NewExperimentRun(x, r))
	}
	return e
}

// NewExperimentRun returns the answer for a run of an experiment.
func NewExperimentRun(x *experiments.Experiment, r *experiments.Run) ExperimentRun {
	one := ExperimentRun{
		Identity: r.ID, Point: r.Point + 1, Values: map[string]string{}, Replicate: r.Replicate + 1, Seed: r.Seed, State: string(r.State), Run: r.Record.ID, Why: r.Why,
	}
	for i, v := range r.Values {
		one.Values[x.Factors[i].Name] = v.Text
	}
	return one
}
