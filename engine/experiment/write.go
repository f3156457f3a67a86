package experiment

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/design"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
)

// Write returns the file of an experiment, without comments. [Read] reads the same experiment from it.
func (e *Experiment) Write() []byte {
	w := &writer{e: e}
	w.line("title: %s", doc.Format(e.Title))
	w.line("scenario: %s", doc.Format(e.Scenario))
	if len(e.Factors) > 0 {
		w.line("vary:")
	}
	for i := range e.Factors {
		w.line("  %s: %s", doc.Format(e.Factors[i].Name), w.factor(&e.Factors[i]))
	}
	w.design()
	w.line("replicates: %s", w.replicates())
	if e.Compared {
		w.line("baseline: %s", w.point(e.Baseline))
	}
	if len(e.Params) > 0 {
		var all []string
		for _, name := range slices.Sorted(maps.Keys(e.Params)) {
			all = append(all, doc.Format(name)+": "+doc.Format(e.Params[name]))
		}
		w.line("params: {%s}", strings.Join(all, ", "))
	}
	var names []string
	for i := range e.Measures {
		names = append(names, doc.Format(e.Measures[i].Name))
	}
	w.line("measures: [%s]", strings.Join(names, ", "))
	if e.functions != "" {
		w.line("functions: %s", doc.Format(e.functions))
	}
	if len(e.Settings) > 0 {
		var all []string
		for _, a := range e.Settings {
			all = append(all, doc.Format(a.Name)+": "+doc.Format(a.Value))
		}
		w.line("settings: {%s}", strings.Join(all, ", "))
	}
	w.rest()
	return []byte(w.text.String())
}

type writer struct {
	e    *Experiment
	text strings.Builder
}

func (w *writer) line(format string, args ...any) { fmt.Fprintf(&w.text, format+"\n", args...) }

// rest writes what has a default.
func (w *writer) rest() {
	w.against()
	e := w.e
	switch b := e.Budget; {
	case b.USD > 0 && b.Time > 0:
		w.line("budget: {usd: %s, time: %s}", decimal(b.USD), b.Time)
	case b.USD > 0:
		w.line("budget: {usd: %s}", decimal(b.USD))
	case b.Time > 0:
		w.line("budget: {time: %s}", b.Time)
	}
	if e.Parallel != DefaultParallel {
		w.line("parallel: %d", e.Parallel)
	}
	if e.Seed != DefaultSeed {
		w.line("seed: %d", e.Seed)
	}
}

// decimal formats a number as files have it.
func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// scalar formats a value.
func (v Value) scalar() string {
	x, err := scalarOf(v.JSON)
	if _, isText := x.(string); err != nil || isText {
		return doc.Format(v.Text)
	}
	return v.JSON
}

func (w *writer) factor(f *Factor) string {
	var fields []string
	switch r := f.Range; {
	case r == nil:
		all := make([]string, len(f.Levels))
		for i, v := range f.Levels {
			all[i] = v.scalar()
		}
		list := "[" + strings.Join(all, ", ") + "]"
		if f.At == 0 {
			return list
		}
		fields = []string{"levels: " + list}
	case r.Log:
		fields = []string{"log: [" + decimal(r.From) + ", " + decimal(r.To) + "]"}
	default:
		fields = []string{"from: " + decimal(r.From), "to: " + decimal(r.To)}
	}
	if f.At > 0 {
		fields = append(fields, "at: "+strconv.Itoa(f.At))
	}
	return "{" + strings.Join(fields, ", ") + "}"
}

func (w *writer) design() {
	switch d := &w.e.Design; {
	case d.Kind == Grid || d.Kind == Zip || d.Kind == OneAtATime:
		w.line("design: %s", d.Kind)
	case d.Kind == Points:
		w.line("design:\n  points:")
		for _, p := range d.Points {
			w.line("    - %s", w.point(p))
		}
	case d.Kind == Morris && d.Levels != design.MorrisLevels:
		w.line("design: {morris: %d, levels: %d}", d.N, d.Levels)
	default:
		w.line("design: {%s: %d}", d.Kind, d.N)
	}
}

func (w *writer) point(values []Value) string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = doc.Format(w.e.Factors[i].Name) + ": " + v.scalar()
	}
	return "{" + strings.Join(all, ", ") + "}"
}

func (w *writer) replicates() string {
	r := &w.e.Replicates
	counted := true
	texts := make([]string, len(r.Seeds))
	for i, seed := range r.Seeds {
		counted = counted && seed == uint64(i)+1
		texts[i] = strconv.FormatUint(seed, 10)
	}
	seeds := "[" + strings.Join(texts, ", ") + "]"
	if counted {
		seeds = strconv.Itoa(len(r.Seeds))
	}
	u := r.Until
	if u == nil {
		return "{seeds: " + seeds + "}"
	}
	width := decimal(u.HalfWidth)
	if u.Relative {
		width = strconv.FormatFloat(100*u.HalfWidth, 'g', 15, 64) + "%"
	}
	return fmt.Sprintf("{seeds: %s, until: {half_width: %s, of: %s, at_most: %d}}", seeds, width, doc.Format(u.Of), u.AtMost)
}

// mostVaried is the number of parameters that a sample varies.
const mostVaried = 2

// Sample returns a commented file of an experiment with a scenario, to begin with. name is the scenario as the file names
// it: a path relative to the experiment, or the name of a built-in scenario.
func Sample(s *scenario.Scenario, name string) []byte {
	w := &writer{}
	varied, others := sampleFactors(s)
	title := "Experiment with " + s.Title
	w.line("# An experiment runs a scenario many times: at every point of its design, with several seeds.")
	w.line("# throngctl experiment run FILE   runs what is missing, and can be stopped and resumed.")
	w.line("title: %s", doc.Format(title))
	w.line("scenario: %s\n", doc.Format(name))
	w.line("# What varies: params.NAME, settings.NAME, service.NAME.FIELD or population.filter. Levels are a list,")
	w.line("# {from: 0, to: 1, step: 0.25}, {log: [1, 1000], points: 7}, or {from: 0, to: 1} for random, lhs, halton, morris and sobol.")
	w.line("# {at: 5, levels: [1, 2]} changes the value at the start of cycle 5; before, it is the baseline's.")
	if len(varied) == 0 {
		w.line("vary:\n  settings.cycles: [1, 2]")
	} else {
		w.line("vary:")
	}
	for _, f := range varied {
		w.line("  params.%s: %s", f.name, f.levels)
	}
	for _, f := range others {
		w.line("  # params.%s: %s", f.name, f.levels)
	}
	w.line("\n# grid, zip, one-at-a-time, {points: [...]}, {random: 40}, {lhs: 40}, {halton: 40}, {morris: 10} or {sobol: 64}")
	w.line("design: grid\n")
	w.line("# Every point runs with the same seeds, so that differences between points are not luck. `until` adds seeds until the 95%%")
	w.line("# interval of a measure is narrow enough: {seeds: 10, until: {half_width: 5%%, of: error_rate, at_most: 40}}")
	w.line("replicates: {seeds: 10}\n")
	if len(varied) > 0 {
		w.line("# The point that the others are compared with. Without it, the defaults of the scenario.")
		w.line("baseline: {params.%s: %s}\n", varied[0].name, varied[0].usual)
	}
	w.line("# acted, outcomes, outcomes.failed, events.NAME, events.NAME.FIELD.mean (sum, min, max, median, p95), memory.FIELD.mean,")
	w.line("# tokens, the metrics of success criteria such as cost, error_rate, latency_p95 and request_p95.SERVICE, or a function")
	w.line("# of a run's totals in `functions: FILE.star`.")
	w.line("measures: [%s]\n", strings.Join(sampleMeasures(s), ", "))
	w.line("# Real data, to find the point that is nearest to it: a CSV file with the columns to compare, each with a figure of a run.")
	w.line("# validate_against: {file: real.csv, measures: {COLUMN: FIGURE}}\n")
	w.line("# params: {NAME: VALUE}                        # parameters with the same value in every run")
	w.line("# settings: {cycles: 24, max-concurrent: 50}   # of every run; throngctl run --help lists them")
	w.line("# budget: {usd: 20, time: 8h}                  # of the experiment as a whole; unlimited without it")
	w.line("# parallel: %d                                  # runs in progress at the same time", DefaultParallel)
	w.line("# seed: %d                                      # of the design and of the order of runs, not of the runs", DefaultSeed)
	return []byte(w.text.String())
}

type sampleFactor struct{ name, levels, usual string }

// sampleFactors proposes levels for the parameters of a scenario, and which parameters to vary.
func sampleFactors(s *scenario.Scenario) (varied, others []sampleFactor) {
	for i := range s.Parameters {
		p := &s.Parameters[i]
		f := Factor{Name: "params." + p.Name, Kind: Parameter, Path: []string{p.Name}}
		levels := sampleLevels(s, p, &f)
		usual, ok := f.usual(&Experiment{Of: s})
		if len(levels) < 2 || !ok {
			continue
		}
		texts := make([]string, len(levels))
		for i, v := range levels {
			texts[i] = v.scalar()
		}
		one := sampleFactor{p.Name, "[" + strings.Join(texts, ", ") + "]", usual.scalar()}
		_, isNumber := usual.Number()
		if isNumber && p.Name != "agents" && len(varied) < mostVaried {
			varied = append(varied, one)
		} else {
			others = append(others, one)
		}
	}
	return varied, others
}

// sampleLevels proposes levels: the choices, both truth values, or numbers around the default.
func sampleLevels(s *scenario.Scenario, p *scenario.Parameter, f *Factor) (levels []Value) {
	add := func(v Value, err error) {
		if err == nil && !slices.ContainsFunc(levels, func(l Value) bool { return l.JSON == v.JSON }) {
			levels = append(levels, v)
		}
	}
	usual, _ := f.usual(&Experiment{Of: s})
	x, isNumber := usual.Number()
	switch {
	case len(p.Choices) > 0:
		for _, c := range p.Choices {
			add(f.canonical(s, c, c))
		}
	case usual.JSON == "true" || usual.JSON == "false":
		add(f.canonical(s, false, "false"))
		add(f.canonical(s, true, "true"))
	case isNumber && x == 0:
		add(usual, nil)
		add(f.number(s, min(p.Max, 1)))
	case isNumber:
		add(f.number(s, x/2))
		add(usual, nil)
		add(f.number(s, x*2))
	}
	return levels
}

// sampleMeasures proposes measures.
func sampleMeasures(s *scenario.Scenario) (names []string) {
	r := measureReader{&reader{e: &Experiment{Of: s}, facts: newFacts(s)}}
	r.usualMeasures()
	for _, m := range r.e.Measures {
		names = append(names, doc.Format(m.Name))
	}
	if graph := s.Chain.Graph(); len(r.facts.requests) > 0 {
		names = append(names, "latency_p95")
		paid := false
		graph.Walk(func(step *engine.GraphStep) { paid = paid || step.Kind == "llm" })
		if paid {
			names = append(names, "cost")
		}
	}
	return names
}
