package experiment

import (
	"errors"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/criteria"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/suggest"
)

// Measure is a number that each run has.
type Measure struct {
	Name string // as in the file, such as events.order.final_total.mean
	Kind MeasureKind
	// Subject is an outcome, an event, a metric of [criteria], a field of agents' memory or a function.
	Subject   string
	Field     string // of the event's data; fields of nested data are separated by dots
	Statistic string // mean, sum, min, max, or a quantile such as p95; "" if the measure is a number already
	// Of is the service or step whose requests count, and Steps the paths of its steps; "" counts those of all.
	Of    string
	Steps []string
}

// MeasureKind is the kind of a measure.
type MeasureKind uint8

// The kinds of measures.
const (
	MeasureActed    MeasureKind = iota // acted: the fraction of sessions that acted
	MeasureOutcome                     // outcomes.NAME: the fraction of sessions that ended so
	MeasureEvents                      // events.NAME: the number of events
	MeasureField                       // events.NAME.FIELD.STATISTIC: of a number in the events' data
	MeasureMetric                      // a metric of success criteria, such as cost, latency_p95 or request_p95.SERVICE
	MeasureTokens                      // tokens: input and output of models
	MeasureMemory                      // memory.FIELD.STATISTIC: of a number in the memory of agents at the end
	MeasureFunction                    // a function of the run's totals
)

// Quantile returns the quantile of the statistic, from 0 to 1; false if it is not a quantile.
func (m *Measure) Quantile() (float64, bool) {
	if m.Statistic == "median" {
		return 0.5, true
	}
	q, err := strconv.ParseFloat(strings.TrimPrefix(m.Statistic, "p"), 64)
	return q / 100, err == nil && quantileForm.MatchString(m.Statistic)
}

// Timing reports whether the measure depends on the speed of machine and services. Runs with the same seed share no luck in
// such a measure.
func (m *Measure) Timing() bool {
	return m.Kind == MeasureMetric && !slices.Contains([]string{"agents_completed", "error_rate", "request_error_rate", "cost"}, m.Subject)
}

var (
	statistics   = []string{"mean", "sum", "min", "max", "median", "p95"}
	quantileForm = regexp.MustCompile(`^p[1-9][0-9]?(\.[0-9]+)?$`)
)

const statisticsHint = "mean, sum, min, max, median, or a quantile such as p95"

// facts are names that the scenario has.
type facts struct {
	events    []string
	allEvents bool // there are no others
	memory    []string
	requests  map[string][]string // steps with requests, by the service and by the step's name and path
}

func newFacts(s *scenario.Scenario) facts {
	figures := s.Figures()
	f := facts{requests: map[string][]string{}, events: figures.Events, allEvents: figures.AllEvents, memory: figures.Memory}
	add := func(name, path string) {
		if !slices.Contains(f.requests[name], path) {
			f.requests[name] = append(f.requests[name], path)
		}
	}
	graph := s.Chain.Graph()
	graph.Walk(func(step *engine.GraphStep) {
		if step.Service != "" {
			add(step.Path, step.Path)
			add(step.Name, step.Path)
		}
	})
	services := map[string][]string{}
	graph.Walk(func(step *engine.GraphStep) {
		if step.Service != "" {
			services[step.Service] = append(services[step.Service], step.Path)
		}
	})
	maps.Copy(f.requests, services) // a service comes before a step with its name
	return f
}

// measureReader reads measures.
type measureReader struct{ *reader }

// functions reads the functions of the measures: a file, or the functions themselves.
func (r measureReader) functions(n *doc.Node) {
	text := n.Text()
	if text == "" {
		return
	}
	r.e.functions = text
	cfg, inline := script.Config{Functions: &script.Source{Name: r.name, Text: text}}, true
	if !strings.ContainsAny(text, "\n(){}=") && path.Ext(text) != "" {
		content, err := r.open(text)
		if err != nil {
			n.Errorf("a path relative to the experiment", "the functions cannot be read: there is no file %s", text)
			return
		}
		r.report.AddSource(text, content)
		cfg.Functions, inline = &script.Source{Name: text, Text: string(content)}, false
	} else {
		cfg.Origin = expr.Origin(n)
	}
	env, err := script.New(cfg)
	mistakes, isErrors := errors.AsType[script.Errors](err)
	switch {
	case err == nil:
		r.e.Functions = env
	case inline:
		expr.ReportScript(n, text, err)
	case isErrors:
		for _, m := range mistakes {
			r.report.Add(*m)
		}
	default:
		n.Errorf("", "%v", err)
	}
}

// measures reads what is measured. Without a list these are the usual ones.
func (r measureReader) measures(n *doc.Node) {
	if n == nil {
		r.usualMeasures()
		return
	}
	items := n.List()
	if n.Kind() == doc.List && len(items) == 0 {
		n.Errorf("such as [acted, cost]", "nothing is measured")
	}
	for _, item := range items {
		for _, m := range r.measure(item) {
			if slices.ContainsFunc(r.e.Measures, func(other Measure) bool { return other.Name == m.Name }) {
				item.Errorf("remove one of them", "%s is measured twice", m.Name)
				continue
			}
			r.e.Measures = append(r.e.Measures, m)
		}
	}
}

// usualMeasures are the fraction of sessions that acted, each event and the error rate.
func (r measureReader) usualMeasures() {
	if r.e.Of != nil && r.e.Of.Acted != "" {
		r.e.Measures = append(r.e.Measures, Measure{Name: "acted", Kind: MeasureActed})
	}
	for _, event := range r.facts.events {
		r.e.Measures = append(r.e.Measures, Measure{Name: "events." + event, Kind: MeasureEvents, Subject: event})
	}
	r.e.Measures = append(r.e.Measures, Measure{Name: "error_rate", Kind: MeasureMetric, Subject: "error_rate"})
}

// measure reads the name of a measure. outcomes stands for all outcomes.
func (r measureReader) measure(n *doc.Node) []Measure {
	name := n.Text()
	if name == "" {
		return nil
	}
	word, rest, dotted := strings.Cut(name, ".")
	m := Measure{Name: name}
	ok := false
	switch metric := criteria.Find(word); {
	case word == "acted" && !dotted:
		m.Kind, ok = MeasureActed, true
		if r.e.Of != nil && r.e.Of.Acted == "" {
			n.Errorf("add `acted: EVENT` to the scenario", "the scenario does not say which event counts as having acted")
		}
	case word == "outcomes" && !dotted:
		return allOutcomes()
	case word == "outcomes":
		m.Kind, m.Subject = MeasureOutcome, rest
		ok = r.known(n, rest, outcomeNames(), "there is no outcome %s", "outcomes: ")
	case word == "events" && dotted:
		ok = r.eventMeasure(&m, n, rest)
	case word == "memory" && dotted:
		ok = r.memoryMeasure(&m, n, rest)
	case word == "tokens" && !dotted:
		m.Kind, ok = MeasureTokens, true
	case metric != nil:
		ok = r.metricMeasure(&m, n, metric, rest)
	default:
		ok = r.functionMeasure(&m, n)
	}
	if !ok {
		return nil
	}
	return []Measure{m}
}

// outcomeNames lists how sessions end.
func outcomeNames() (all []string) {
	for o := engine.OK; o < engine.Cut; o++ {
		all = append(all, o.String())
	}
	return all
}

func allOutcomes() (all []Measure) {
	for _, o := range outcomeNames() {
		all = append(all, Measure{Name: "outcomes." + o, Kind: MeasureOutcome, Subject: o})
	}
	return all
}

// known reports a name that is not among some.
func (r measureReader) known(n *doc.Node, name string, names []string, what, list string) bool {
	if slices.Contains(names, name) {
		return true
	}
	r.guess(n, name, names, what, list)
	return false
}

func guessOf(name string, known []string, list string) suggest.Guess {
	hint := list + strings.Join(known[:min(len(known), 40)], ", ")
	if len(known) == 0 {
		hint = strings.TrimSuffix(list, ": ") + ": there are none"
	}
	return suggest.NewGuess(name, known, hint).And(hint)
}

// eventMeasure reads NAME or NAME.FIELD.STATISTIC.
func (r measureReader) eventMeasure(m *Measure, n *doc.Node, rest string) bool {
	event, field, dotted := strings.Cut(rest, ".")
	m.Kind, m.Subject = MeasureEvents, event
	if r.e.Of != nil && r.facts.allEvents && !r.known(n, event, r.facts.events, "the scenario never emits the event %s", "events: ") {
		return false
	}
	if !dotted {
		return event != ""
	}
	m.Kind = MeasureField
	m.Field, m.Statistic = cutLast(field)
	return r.statistic(m, n, "such as events."+event+".FIELD.mean")
}

// memoryMeasure reads FIELD.STATISTIC.
func (r measureReader) memoryMeasure(m *Measure, n *doc.Node, rest string) bool {
	m.Kind = MeasureMemory
	m.Subject, m.Statistic = cutLast(rest)
	if !r.statistic(m, n, "such as memory.FIELD.mean") {
		return false
	}
	field, _, _ := strings.Cut(m.Subject, ".")
	return r.e.Of == nil || r.known(n, field, r.facts.memory, "no step remembers %s", "memory: ")
}

// statistic checks the last word of a measure.
func (r measureReader) statistic(m *Measure, n *doc.Node, such string) bool {
	switch {
	case m.Field == "" && m.Subject == "" || m.Kind == MeasureField && m.Field == "":
		n.Errorf(such, "%s has no statistic", m.Name)
	case slices.Contains(statistics, m.Statistic) || quantileForm.MatchString(m.Statistic):
		return true
	default:
		n.Guess(suggest.NewGuess(m.Statistic, statistics, statisticsHint).And(statisticsHint)).Errorf("there is no statistic %s", m.Statistic)
	}
	return false
}

// cutLast cuts a text at its last dot; before is "" if it has none.
func cutLast(text string) (before, after string) {
	i := strings.LastIndexByte(text, '.')
	return text[:max(i, 0)], text[i+1:]
}

// metricMeasure reads a metric of success criteria, possibly of a service or step.
func (r measureReader) metricMeasure(m *Measure, n *doc.Node, metric *criteria.Metric, of string) bool {
	m.Kind, m.Subject, m.Of = MeasureMetric, metric.Name, of
	switch {
	case m.Name == metric.Name:
		return true
	case !metric.PerService || of == "":
		n.Errorf("write "+metric.Name, "%s has no parts", metric.Name)
		return false
	case r.e.Of == nil:
		return true
	}
	m.Steps = r.facts.requests[of]
	if m.Steps != nil {
		return true
	}
	names := slices.Sorted(maps.Keys(r.facts.requests))
	r.guess(n, of, names, "the scenario has no service or step %s with requests", "services and steps with requests: ")
	return false
}

// functionMeasure reads the name of a function with one argument, the totals of a run.
func (r measureReader) functionMeasure(m *Measure, n *doc.Node) bool {
	m.Kind, m.Subject = MeasureFunction, m.Name
	if r.e.Functions == nil {
		if r.e.functions != "" && expr.IsName(m.Name) { // its mistakes are reported
			return false
		}
		r.guess(n, m.Name, r.measureNames(), "there is no measure %s", "measures: ")
		return false
	}
	f, ok := r.e.Functions.Func(m.Name)
	if !ok {
		r.guess(n, m.Name, append(r.e.Functions.Names(), r.measureNames()...), "there is no measure and no function %s", "measures: ")
		return false
	}
	needed := 0
	for _, p := range f.Params() {
		if !p.Optional {
			needed++
		}
	}
	if needed != 1 || f.Params()[0].Optional {
		n.Errorf("such as def "+m.Name+"(run): …", "the function %s must have one argument, the totals of a run", m.Name)
		return false
	}
	return true
}

// measureNames lists the measures of the scenario.
func (r measureReader) measureNames() []string {
	all := []string{"acted", "outcomes", "tokens"}
	for _, m := range criteria.Metrics() {
		all = append(all, m.Name)
	}
	for _, e := range r.facts.events {
		all = append(all, "events."+e)
	}
	for _, f := range r.facts.memory {
		all = append(all, "memory."+f+".mean")
	}
	return all
}
