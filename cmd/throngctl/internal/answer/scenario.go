package answer

import (
	"math"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/cmd/internal/consent"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/audit"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/compare"
	"github.com/throng-sim/throng/engine/experiment"
	"github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/engine/people"
	"github.com/throng-sim/throng/engine/scenario"
)

// Checks are preflight checks with the worst grade.
type Checks struct {
	Grade  string  `json:"grade"`
	Checks []Check `json:"checks"`
}

// Check is a preflight check.
type Check struct {
	Name  string `json:"name"`
	Grade string `json:"grade"`
	Text  string `json:"text"`
	Hint  string `json:"hint,omitempty"`
}

// NewChecks returns the JSON form of checks.
func NewChecks(all []engine.Check) Checks {
	j := Checks{Grade: engine.WorstGrade(all).String(), Checks: []Check{}}
	for i := range all {
		c := &all[i]
		j.Checks = append(j.Checks, Check{c.Name, c.Grade.String(), c.Text, show.Hint(c)})
	}
	return j
}

// Audit is the result of an audit.
type Audit struct {
	Run     engine.RunID   `json:"run"`
	Equal   bool           `json:"equal"`
	Summary string         `json:"summary"`
	Figures []audit.Figure `json:"figures"`
}

// NewAudit returns the JSON form of an audit.
func NewAudit(r *audit.Report) Audit {
	return Audit{Run: r.Run, Equal: r.Equal(), Summary: r.Summary(), Figures: append([]audit.Figure{}, r.Figures...)}
}

// Comparison compares groups of runs with the first group.
type Comparison struct {
	From     int       `json:"from_cycle"`
	To       int       `json:"to_cycle"` // exclusive
	Level    float64   `json:"level"`    // of the intervals
	Unit     string    `json:"unit"`     // run, or agent where agents share nothing
	Paired   bool      `json:"paired"`   // each unit is compared with its partner
	Method   string    `json:"method"`   // in words
	Groups   []Group   `json:"groups"`
	Measures []Measure `json:"measures"`
}

// Group is runs that are compared as one.
type Group struct {
	Runs        []Compared `json:"runs"`
	Differences []string   `json:"differences,omitempty"` // of settings and scenario, from the first group
}

// Compared is a run in a comparison.
type Compared struct {
	Run
	Sessions int64   `json:"sessions"`
	PerCycle []Cycle `json:"per_cycle,omitempty"`
}

// Cycle has the results of a cycle.
type Cycle struct {
	Cycle     int              `json:"cycle"`
	Sessions  int64            `json:"sessions"`
	Completed int64            `json:"completed"`
	Acted     int64            `json:"acted"`
	P50       float64          `json:"latency_p50_seconds"`
	P95       float64          `json:"latency_p95_seconds"`
	Events    map[string]int64 `json:"events,omitempty"`
	Dollars   float64          `json:"cost_dollars,omitempty"`
}

// Measure is a measure of a comparison.
type Measure struct {
	Kind    string            `json:"kind"`
	Name    string            `json:"name"`
	Of      []MeasureEstimate `json:"of"`      // per group
	Against []MeasureContrast `json:"against"` // the first group, per other group
}

// MeasureEstimate is a mean over the units of a group with its confidence interval.
type MeasureEstimate struct {
	Units int      `json:"units"` // with a value
	Mean  *float64 `json:"mean"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// MeasureContrast is a difference from the first group, with its significance.
type MeasureContrast struct {
	MeasureEstimate
	Same     bool     `json:"same"`
	P        *float64 `json:"p"`
	Adjusted *float64 `json:"p_adjusted"`
	Test     string   `json:"test"`
	Differs  bool     `json:"differs"`
}

// known returns a pointer to a number, or nil for NaN and infinity.
func known(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func newMeasureEstimate(units int, mean float64, i statistics.Interval) MeasureEstimate {
	return MeasureEstimate{units, known(mean), known(i.Low), known(i.High)}
}

// NewComparison returns the JSON form of a comparison.
func NewComparison(c *review.Comparison, cycles bool) Comparison {
	j := Comparison{From: c.From, To: c.To, Level: compare.Level, Unit: "run", Paired: c.Units.Paired, Method: c.Method(), Measures: []Measure{}}
	if c.Units.Agents {
		j.Unit = "agent"
	}
	for i := range c.Groups {
		g := Group{Differences: c.Groups[i].Differences}
		for k := range c.Groups[i].Runs {
			sample := c.Groups[i].Samples[k]
			r := Compared{Run: NewRun(&c.Groups[i].Runs[k]), Sessions: sample.Sessions}
			for _, y := range sample.Cycles {
				if cycles {
					r.PerCycle = append(r.PerCycle, Cycle{y.Cycle, y.Sessions, y.Completed, y.Acted, y.P50.Seconds(), y.P95.Seconds(), y.Events, y.Cost})
				}
			}
			g.Runs = append(g.Runs, r)
		}
		j.Groups = append(j.Groups, g)
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		m := Measure{Kind: row.Kind.Title(), Name: row.Name}
		for _, e := range row.Of {
			m.Of = append(m.Of, newMeasureEstimate(e.N, e.Mean, e.Interval))
		}
		for k := range row.Against {
			d := &row.Against[k]
			m.Against = append(m.Against, MeasureContrast{newMeasureEstimate(d.Point, d.Value, d.Interval), d.Same, known(d.P), known(d.Adjusted), string(d.Test), d.Clear()})
		}
		j.Measures = append(j.Measures, m)
	}
	return j
}

// Heading names a part of a scenario.
type Heading struct {
	Name  string `json:"name"`
	Title string `json:"title,omitempty"`
	About string `json:"about,omitempty"`
}

// Scenario describes a scenario and its forecast.
type Scenario struct {
	Title      string           `json:"title"`
	About      string           `json:"about,omitempty"`
	Agents     int              `json:"agents"`
	Cycles     int              `json:"cycles"`
	Arrivals   string           `json:"arrivals,omitempty"`   // how the agents of a cycle arrive, if not together
	Population *people.Report   `json:"population,omitempty"` // how the agents were drawn from a file, if they were
	Parameters []Parameter      `json:"parameters"`
	Services   []Service        `json:"services"`
	Chains     []Chain          `json:"chains"`
	Criteria   []Criterion      `json:"criteria"`
	Forecast   *engine.Forecast `json:"forecast"`
	Warnings   []Mistake        `json:"warnings"`
	Pairing    *[]Mistake       `json:"pairing,omitempty"` // what keeps runs with the same seed from sharing their luck; with --crn
}

// NewPairing lists what keeps runs of a scenario with the same seed from sharing their luck.
func NewPairing(s *scenario.Scenario) *[]Mistake { return newPairing(experiment.CRN(s)) }

func newPairing(found []experiment.Warning) *[]Mistake {
	all := []Mistake{}
	for _, w := range found {
		all = append(all, Mistake{File: w.File, Line: w.Line, Column: w.Col, Problem: w.Reason, Hint: w.Hint})
	}
	return &all
}

// Parameter is a parameter of a scenario.
type Parameter struct {
	Heading
	Value   string   `json:"value"`
	Default string   `json:"default"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Choices []string `json:"choices,omitempty"`
}

// Service is a service of a scenario.
type Service struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Address   string   `json:"address"`
	Embedded  bool     `json:"mock"`
	Unallowed []string `json:"not_allowed,omitempty"` // addresses for --allow
	Secrets   []Secret `json:"secrets,omitempty"`
}

// Secret says where a secret is found. It never has the value.
type Secret struct {
	Name    string `json:"name"`
	Place   string `json:"place,omitempty"`
	Problem string `json:"problem,omitempty"`
}

// Chain is a chain and its steps.
type Chain struct {
	Name  string `json:"name"`
	Steps []Step `json:"steps"`
}

// Step is a step of a chain.
type Step struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	After []string `json:"after,omitempty"`
	Steps []Step   `json:"steps,omitempty"` // inside the step
}

// Criterion is a success criterion.
type Criterion struct {
	Metric string `json:"metric"`
	Of     string `json:"of,omitempty"` // service or step
	Text   string `json:"text"`
}

// NewScenario returns the JSON form of a scenario.
func NewScenario(s *scenario.Scenario, services []app.PlannedService, f *engine.Forecast) Scenario {
	j := Scenario{
		Title: s.Title, About: s.About, Agents: s.Agents, Cycles: max(s.Cycles, 1), Forecast: f,
		Parameters: []Parameter{}, Services: []Service{}, Criteria: []Criterion{}, Warnings: []Mistake{},
	}
	j.Arrivals, j.Population = s.Clock.Arrivals.String(), s.Drawn()
	for _, p := range s.Parameters {
		j.Parameters = append(j.Parameters, Parameter{Heading{p.Name, p.Title, p.About}, p.Value.String(), p.Default.String(), known(p.Min), known(p.Max), p.Choices})
	}
	for _, o := range services {
		one := Service{Name: o.Name, Kind: o.Kind, Address: o.Address, Embedded: o.Embedded}
		for _, d := range o.Unallowed {
			one.Unallowed = append(one.Unallowed, consent.Name(d))
		}
		for _, secret := range o.Secrets {
			two := Secret{Name: secret.Name, Place: secret.Place}
			if secret.Err != nil {
				two.Problem = secret.Err.Error()
			}
			one.Secrets = append(one.Secrets, two)
		}
		j.Services = append(j.Services, one)
	}
	j.Chains = append(j.Chains, Chain{s.Chain.Name, newSteps(s.Chain.Plan())})
	for _, sub := range s.Chain.Runs() {
		j.Chains = append(j.Chains, Chain{sub.Name, newSteps(sub.Plan())})
	}
	for _, c := range s.Success {
		j.Criteria = append(j.Criteria, Criterion{c.Metric, c.Of, c.Text})
	}
	for _, w := range s.Warnings() {
		j.Warnings = append(j.Warnings, Mistake{File: w.File, Line: w.Line, Column: w.Col, Problem: w.Text, Hint: w.Hint})
	}
	return j
}

func newSteps(p chain.Plan) (all []Step) {
	for _, segment := range p.Segments {
		for _, step := range segment {
			one := Step{Name: step.Name, Kind: step.Kind, After: step.After}
			for _, inner := range step.Inner {
				one.Steps = append(one.Steps, newSteps(inner)...)
			}
			all = append(all, one)
		}
	}
	return all
}
