package main

import (
	"math"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/compare"
	"github.com/throng-sim/throng/engine/scenario"
)

// checksJSON are checks, with the worst grade among them.
type checksJSON struct {
	Grade  string      `json:"grade"`
	Checks []checkJSON `json:"checks"`
}

type checkJSON struct {
	Name  string `json:"name"`
	Grade string `json:"grade"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

func newChecks(all []engine.Check) checksJSON {
	j := checksJSON{Grade: engine.WorstGrade(all).String(), Checks: []checkJSON{}}
	for i := range all {
		c := &all[i]
		j.Checks = append(j.Checks, checkJSON{c.Name, c.Grade.String(), c.Text, inTerminal(c)})
	}
	return j
}

// auditJSON is what an audit found.
type auditJSON struct {
	Run     engine.RunID  `json:"run"`
	Equal   bool          `json:"equal"`
	Summary string        `json:"summary"`
	Figures []auditedJSON `json:"figures"`
}

type auditedJSON struct {
	Group        string `json:"group"`
	Name         string `json:"name"`
	Recorded     string `json:"recorded"`
	Recomputed   string `json:"recomputed,omitempty"`
	Values       int    `json:"values"`
	Differ       int    `json:"differ"`
	Where        string `json:"where,omitempty"`
	Within       string `json:"within,omitempty"`
	RecordedOnly bool   `json:"recorded_only,omitempty"`
}

func newAudit(r *audit.Report) auditJSON {
	j := auditJSON{Run: r.Run, Equal: r.Equal(), Summary: r.Summary(), Figures: []auditedJSON{}}
	for i := range r.Figures {
		f := &r.Figures[i]
		j.Figures = append(j.Figures, auditedJSON{f.Group, f.Name, f.Recorded, f.Recomputed, f.Values, f.Differ, f.Where, f.Bound, f.Alone})
	}
	return j
}

// comparisonJSON is in what runs differ from the first.
type comparisonJSON struct {
	From     int            `json:"from_cycle"`
	To       int            `json:"to_cycle"` // not included
	Level    float64        `json:"level"`    // of the intervals
	Runs     []comparedJSON `json:"runs"`
	Measures []measureJSON  `json:"measures"`
}

type comparedJSON struct {
	runJSON
	Sessions    int64       `json:"sessions"`
	Differences []string    `json:"differences,omitempty"` // in how it was made
	Paired      *bool       `json:"paired,omitempty"`
	PerCycle    []cycleJSON `json:"per_cycle,omitempty"`
}

type cycleJSON struct {
	Cycle     int              `json:"cycle"`
	Sessions  int64            `json:"sessions"`
	Completed int64            `json:"completed"`
	Acted     int64            `json:"acted"`
	P50       float64          `json:"latency_p50_seconds"`
	P95       float64          `json:"latency_p95_seconds"`
	Events    map[string]int64 `json:"events,omitempty"`
	Dollars   float64          `json:"cost_dollars,omitempty"`
}

type measureJSON struct {
	Kind    string           `json:"kind"`
	Name    string           `json:"name"`
	Of      []intervalJSON   `json:"of"`      // each run
	Against []differenceJSON `json:"against"` // the first, of each other run
}

type intervalJSON struct {
	Mean *float64 `json:"mean"`
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

type differenceJSON struct {
	intervalJSON
	Agents   int      `json:"agents"`
	Same     bool     `json:"same"`
	P        *float64 `json:"p"`
	Adjusted *float64 `json:"p_adjusted"`
	Differs  bool     `json:"differs"`
}

// known is a number; nil where there is none.
func known(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func newInterval(i compare.Interval) intervalJSON {
	return intervalJSON{known(i.Mean), known(i.Low), known(i.High)}
}

func newComparison(c *review.Comparison, cycles bool) comparisonJSON {
	j := comparisonJSON{From: c.From, To: c.To, Level: compare.Level, Measures: []measureJSON{}}
	for i := range c.Runs {
		r := comparedJSON{runJSON: newRunJSON(&c.Runs[i]), Sessions: c.Samples[i].Sessions}
		if i > 0 {
			r.Differences, r.Paired = c.Differences[i-1], &c.Paired[i-1]
		}
		for _, y := range c.Samples[i].Cycles {
			if cycles {
				r.PerCycle = append(r.PerCycle, cycleJSON{y.Cycle, y.Sessions, y.Completed, y.Acted, y.P50.Seconds(), y.P95.Seconds(), y.Events, y.Cost})
			}
		}
		j.Runs = append(j.Runs, r)
	}
	for _, row := range c.Rows {
		m := measureJSON{Kind: row.Kind.Title(), Name: row.Name}
		for _, i := range row.Of {
			m.Of = append(m.Of, newInterval(i))
		}
		for i := range row.Against {
			d := &row.Against[i]
			m.Against = append(m.Against, differenceJSON{newInterval(d.Interval), d.Agents, d.Same, known(d.P), known(d.Adjusted), d.Clear()})
		}
		j.Measures = append(j.Measures, m)
	}
	return j
}

// scenarioJSON is what a scenario is and would do.
type scenarioJSON struct {
	Title      string           `json:"title"`
	About      string           `json:"about,omitempty"`
	Agents     int              `json:"agents"`
	Cycles     int              `json:"cycles"`
	Parameters []parameterJSON  `json:"parameters"`
	Services   []serviceJSON    `json:"services"`
	Chains     []chainJSON      `json:"chains"`
	Criteria   []criterionJSON  `json:"criteria"`
	Forecast   *engine.Forecast `json:"forecast"`
	Warnings   []mistakeJSON    `json:"warnings"`
}

type parameterJSON struct {
	Name    string   `json:"name"`
	Title   string   `json:"title,omitempty"`
	About   string   `json:"about,omitempty"`
	Value   string   `json:"value"`
	Default string   `json:"default"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Choices []string `json:"choices,omitempty"`
}

type serviceJSON struct {
	Name      string       `json:"name"`
	Kind      string       `json:"kind"`
	Address   string       `json:"address"`
	Embedded  bool         `json:"mock"`
	Unallowed []string     `json:"to_be_allowed,omitempty"` // addresses, as --allow takes them
	Secrets   []secretJSON `json:"secrets,omitempty"`
}

// secretJSON is where a secret is; never what it is.
type secretJSON struct {
	Name    string `json:"name"`
	Place   string `json:"place,omitempty"`
	Problem string `json:"problem,omitempty"`
}

type chainJSON struct {
	Name  string     `json:"name"`
	Steps []stepJSON `json:"steps"`
}

type stepJSON struct {
	Name  string     `json:"name"`
	Kind  string     `json:"kind"`
	After []string   `json:"after,omitempty"`
	Steps []stepJSON `json:"steps,omitempty"` // inside it
}

type criterionJSON struct {
	Metric string `json:"metric"`
	Text   string `json:"text"`
}

func newScenario(s *scenario.Scenario, services []app.PlannedService, f *engine.Forecast) scenarioJSON {
	j := scenarioJSON{
		Title: s.Title, About: s.About, Agents: s.Agents, Cycles: max(s.Cycles, 1), Forecast: f,
		Parameters: []parameterJSON{}, Services: []serviceJSON{}, Criteria: []criterionJSON{}, Warnings: []mistakeJSON{},
	}
	for _, p := range s.Parameters {
		j.Parameters = append(j.Parameters, parameterJSON{p.Name, p.Title, p.About, p.Value.String(), p.Default.String(), known(p.Min), known(p.Max), p.Choices})
	}
	for _, o := range services {
		one := serviceJSON{Name: o.Name, Kind: o.Kind, Address: o.Address, Embedded: o.Embedded}
		for _, d := range o.Unallowed {
			one.Unallowed = append(one.Unallowed, consent.Name(d))
		}
		for _, secret := range o.Secrets {
			two := secretJSON{Name: secret.Name, Place: secret.Place}
			if secret.Err != nil {
				two.Problem = secret.Err.Error()
			}
			one.Secrets = append(one.Secrets, two)
		}
		j.Services = append(j.Services, one)
	}
	j.Chains = append(j.Chains, chainJSON{s.Chain.Name, newSteps(s.Chain.Plan())})
	for _, sub := range s.Chain.Runs() {
		j.Chains = append(j.Chains, chainJSON{sub.Name, newSteps(sub.Plan())})
	}
	for _, c := range s.Success {
		j.Criteria = append(j.Criteria, criterionJSON{c.Metric, c.Text})
	}
	for _, w := range s.Warnings() {
		j.Warnings = append(j.Warnings, mistakeJSON{File: w.File, Line: w.Line, Column: w.Col, Problem: w.Text, Hint: w.Hint})
	}
	return j
}

func newSteps(p chain.Plan) (all []stepJSON) {
	for _, segment := range p.Segments {
		for _, step := range segment {
			one := stepJSON{Name: step.Name, Kind: step.Kind, After: step.After}
			for _, inner := range step.Inner {
				one.Steps = append(one.Steps, newSteps(inner)...)
			}
			all = append(all, one)
		}
	}
	return all
}
