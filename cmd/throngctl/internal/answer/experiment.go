package answer

import (
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/experiments"
	"github.com/throng-sim/throng/cmd/internal/app/experiments/steering"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Experiment is an experiment with its runs.
type Experiment struct {
	Title      string          `json:"title"`
	State      string          `json:"state,omitempty"` // as in the list; absent if it is unknown
	Points     int             `json:"points"`
	Replicates int             `json:"replicates"`
	Runs       ExperimentRuns  `json:"runs"`
	PausedBy   string          `json:"paused_by,omitempty"`  // no further run starts
	BudgetUSD  float64         `json:"budget_usd,omitempty"` // of the file
	List       []ExperimentRun `json:"list"`                 // in the order of execution
	// Forecast is about the runs that are missing.
	Forecast *experiments.Forecast `json:"forecast,omitempty"`
}

// ExperimentRuns counts the runs of an experiment by state.
type ExperimentRuns struct {
	All         int `json:"all"`
	Waiting     int `json:"waiting"`
	Running     int `json:"running"`
	Interrupted int `json:"interrupted"`
	Done        int `json:"done"`
	Failed      int `json:"failed"`
	Skipped     int `json:"skipped"`
}

// ExperimentEntry is an experiment in the list. The numbers of runs are those of the last look at it.
type ExperimentEntry struct {
	File     string    `json:"file"`
	Title    string    `json:"title"`
	State    string    `json:"state"` // running, paused, stopped, complete or missing
	Runs     int       `json:"runs"`
	Done     int       `json:"done"`
	Failed   int       `json:"failed"`
	Skipped  int       `json:"skipped"`
	Used     time.Time `json:"used"`
	PausedBy string    `json:"paused_by,omitempty"`
	Process  int       `json:"process,omitempty"` // that executes it
}

// NewExperimentList returns the answer for a list of experiments.
func NewExperimentList(entries []steering.Entry) []ExperimentEntry {
	all := []ExperimentEntry{}
	for i := range entries {
		e := &entries[i]
		one := ExperimentEntry{
			File: e.File, Title: e.Title, State: string(e.State), Used: e.Used, Runs: e.Progress.All, Done: e.Progress.Done, Failed: e.Progress.Failed, Skipped: e.Progress.Skipped,
		}
		if e.Paused != nil {
			one.PausedBy = e.Paused.Who
		}
		if e.Executor != nil {
			one.Process = e.Executor.Process
		}
		all = append(all, one)
	}
	return all
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
	e := Experiment{Title: x.Title, Points: len(s.Plan.Points), Replicates: len(s.Plan.Seeds), BudgetUSD: x.Budget.USD, List: []ExperimentRun{}}
	if state, err := x.Orders.State(); err == nil {
		e.State = string(state)
	}
	if order := s.Orders.Paused; order != nil {
		e.PausedBy = order.Who
	}
	for state, n := range map[experiments.State]*int{
		experiments.Waiting: &e.Runs.Waiting, experiments.Running: &e.Runs.Running, experiments.Interrupted: &e.Runs.Interrupted,
		experiments.Done: &e.Runs.Done, experiments.Failed: &e.Runs.Failed, experiments.Skipped: &e.Runs.Skipped,
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

// Effects are the estimates of an experiment and the differences between its points. Unknown figures are null.
type Effects struct {
	Title    string        `json:"title"`
	Baseline int           `json:"baseline"` // number of the point that the others are compared with; 0 if there is none
	Points   []EffectPoint `json:"points"`
	Measures []EffectOfOne `json:"measures"`
	// Sensitivity says which factors matter, if the design allows that.
	Sensitivity []Sensitivity `json:"sensitivity,omitempty"`
	RealData    *RealData     `json:"real_data,omitempty"` // if the experiment or its scenario names real data
}

// EffectPoint is a point of an experiment.
type EffectPoint struct {
	Point  int               `json:"point"`
	Values map[string]string `json:"values"`
}

// EffectOfOne is a measure at all points.
type EffectOfOne struct {
	Measure string   `json:"measure"`
	Points  []Effect `json:"points"`
}

// Effect is a measure at one point.
type Effect struct {
	Point      int            `json:"point"`
	Runs       int            `json:"runs"`
	Missing    int            `json:"missing"`
	Mean       *float64       `json:"mean"`
	Median     *float64       `json:"median"`
	SD         *float64       `json:"sd"`
	Interval   *EffectRange   `json:"interval"`
	Difference *EffectAgainst `json:"difference,omitempty"`
}

// EffectRange is a 95% interval.
type EffectRange struct {
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Method string  `json:"method"`
	Note   string  `json:"note,omitempty"`
}

// EffectAgainst is the difference of a point from the baseline.
type EffectAgainst struct {
	Value       *float64     `json:"value"`
	Interval    *EffectRange `json:"interval"`
	Joint       *EffectRange `json:"joint"` // holds for all points together
	P           *float64     `json:"p"`
	Adjusted    *float64     `json:"p_adjusted"` // for all points and measures
	Test        string       `json:"test"`
	Effect      *float64     `json:"effect"`
	EffectName  string       `json:"effect_name"`
	Margin      *float64     `json:"margin"` // largest difference that the runs leave possible
	Correlation *float64     `json:"correlation"`
	RunsSaved   *float64     `json:"runs_saved"` // by the same seeds at both points
	Same        bool         `json:"same"`
	Note        string       `json:"note,omitempty"`
}

// NewEffects returns the answer for the effects of an experiment.
func NewEffects(e *findings.Comparison) Effects {
	t := e.Table
	all := Effects{Title: t.Title, Baseline: e.Baseline + 1, Points: []EffectPoint{}, Measures: []EffectOfOne{}, RealData: newRealData(nearest.Rank(t))}
	for point := range t.Points {
		one := EffectPoint{point + 1, map[string]string{}}
		for i, v := range t.Points[point].Values {
			one.Values[t.Factors[i].Name] = v.Text
		}
		all.Points = append(all.Points, one)
	}
	for i := range e.Rows {
		row := &e.Rows[i]
		m := EffectOfOne{Measure: row.Name}
		for point := range row.Estimates {
			s := &row.Estimates[point]
			one := Effect{
				Point: point + 1, Runs: s.N, Missing: s.Missing, Mean: known(s.Mean), Median: known(s.Median), SD: known(s.SD), Interval: newRange(s.Interval),
			}
			if d := e.Difference(row, point); d != nil {
				one.Difference = newAgainst(d)
			}
			m.Points = append(m.Points, one)
		}
		all.Measures = append(all.Measures, m)
	}
	return all
}

func newAgainst(d *statistics.Difference) *EffectAgainst {
	return &EffectAgainst{
		Value: known(d.Value), Interval: newRange(d.Interval), Joint: newRange(d.Joint), P: known(d.P), Adjusted: known(d.Adjusted), Test: string(d.Test),
		Effect: known(d.Effect.Value), EffectName: d.Effect.Name, Margin: known(d.Margin), Correlation: known(d.Pairing.Correlation),
		RunsSaved: known(d.Pairing.Saved), Same: d.Same, Note: d.Note,
	}
}

func newRange(i statistics.Interval) *EffectRange {
	if !i.Known() {
		return nil
	}
	return &EffectRange{i.Low, i.High, string(i.Method), i.Note}
}

// Sensitivity says how much each factor matters for a measure.
type Sensitivity struct {
	Measure string      `json:"measure"`
	Method  string      `json:"method"`
	Factors []Influence `json:"factors"`
	Note    string      `json:"note,omitempty"`
}

// Influence is how much one factor matters, or two together.
type Influence struct {
	Factor  string            `json:"factor"`
	Figures []InfluenceFigure `json:"figures"`
}

// InfluenceFigure is a figure of an influence.
type InfluenceFigure struct {
	Name     string       `json:"name"`
	Value    *float64     `json:"value"`
	Interval *EffectRange `json:"interval,omitempty"`
}

// NewSensitivity returns the answer for the sensitivity of a measure.
func NewSensitivity(s *findings.Sensitivity) Sensitivity {
	one := Sensitivity{Measure: s.Measure, Method: string(s.Method), Note: s.Note, Factors: []Influence{}}
	for _, f := range s.Factors {
		influence := Influence{Factor: f.Name}
		for i, v := range f.Figures {
			influence.Figures = append(influence.Figures, InfluenceFigure{s.Figures[i], known(v.Value), newRange(v.Interval)})
		}
		one.Factors = append(one.Factors, influence)
	}
	return one
}

// ExperimentPlan is a valid experiment file with its plan.
type ExperimentPlan struct {
	Title    string     `json:"title"`
	Scenario string     `json:"scenario"`
	Design   string     `json:"design"`
	Factors  []string   `json:"factors"`
	Points   int        `json:"points"`
	Seeds    []uint64   `json:"seeds"` // each runs at every point
	Measures []string   `json:"measures"`
	RealData []string   `json:"real_data,omitempty"` // what runs are compared with: COLUMN=FIGURE
	Warnings []Mistake  `json:"warnings"`
	Pairing  *[]Mistake `json:"pairing,omitempty"` // what keeps runs with the same seed from sharing their luck; with --crn
}

// NewExperimentPlan returns the answer for an experiment file.
func NewExperimentPlan(e *experiment.Experiment, p *experiment.Plan, crn bool) ExperimentPlan {
	a := ExperimentPlan{
		Title: e.Title, Scenario: e.Scenario, Design: string(e.Design.Kind), Points: len(p.Points), Seeds: p.Seeds, Factors: []string{}, Measures: []string{}, Warnings: []Mistake{},
	}
	for i := range e.Factors {
		a.Factors = append(a.Factors, e.Factors[i].Name)
	}
	for i := range e.Measures {
		a.Measures = append(a.Measures, e.Measures[i].Name)
	}
	if e.Against != nil {
		a.RealData = e.Against.Pairs()
	}
	for _, w := range e.Warnings() {
		a.Warnings = append(a.Warnings, Mistake{File: w.File, Line: w.Line, Column: w.Col, Problem: w.Text, Hint: w.Hint})
	}
	if crn {
		a.Pairing = newPairing(e.CRN())
	}
	return a
}
