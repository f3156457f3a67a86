package view

import (
	"cmp"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// StepCall says what a step is and what it calls. Service and Endpoint are "" if it calls nothing.
type StepCall struct {
	Service  string
	Endpoint string // method and path of its request
	Label    string // how the graph names the step; "" is its path
	Encloses bool   // it runs other steps, one after another: its time is that of the steps inside
}

// StepCalls returns what the steps of a chain call, by path.
func StepCalls(g *engine.Graph) map[string]StepCall {
	all := map[string]StepCall{}
	g.Walk(func(s *engine.GraphStep) {
		call := StepCall{s.Service, s.Endpoint, s.Label, len(s.Inner) > 0 && inTurn(s.Inner)}
		if s.Label == s.Name {
			call.Label = ""
		}
		all[s.Path] = call
	})
	return all
}

// inTurn reports whether the steps of blocks never run in parallel.
func inTurn(blocks []engine.Graph) bool {
	for i := range blocks {
		for _, segment := range blocks[i].Segments {
			if len(segment) > 1 || len(segment) == 1 && !inTurn(segment[0].Inner) {
				return false
			}
		}
	}
	return true
}

// StepLine is a step with its figures over the run.
type StepLine struct {
	engine.StepFigures
	StepCall
	Rate   float64       // executions per second
	Inside time.Duration // of a step that encloses others: mean time of an execution, with the steps inside
}

// StepLines returns steps with their figures.
func StepLines(all []engine.StepFigures, calls map[string]StepCall, elapsed time.Duration) []StepLine {
	lines := make([]StepLine, len(all))
	for i, f := range all {
		lines[i] = StepLine{StepFigures: f, StepCall: calls[f.Path]}
		if s := elapsed.Seconds(); s > 0 {
			lines[i].Rate = float64(f.Ran()) / s
		}
		if ran := f.Ran(); ran > 0 && lines[i].Encloses {
			sum := f.Sum
			for k := range all {
				if strings.HasPrefix(all[k].Path, f.Path+".") {
					sum += all[k].Sum
				}
			}
			lines[i].Inside = sum / time.Duration(ran)
		}
	}
	return lines
}

// Name returns the step's label and, after it, its path, which identifies it in the data.
func (l *StepLine) Name() string {
	if l.Label == "" || l.Label == l.Path {
		return l.Path
	}
	return l.Label + " · " + l.Path
}

// Calls returns the service and endpoint that the step calls, or [Unknown].
func (l *StepLine) Calls() string {
	return cmp.Or(strings.TrimSpace(strings.TrimSpace(l.StepCall.Service+" ")+" "+l.Endpoint), Unknown)
}

// StepColumn is a column of a table of steps. Texts sort from the first, figures from the largest.
type StepColumn struct {
	Title   string
	Figure  bool
	Text    func(l *StepLine) string
	Compare func(a, b *StepLine) int
}

// The indexes of some columns of steps.
const (
	StepPath     = 0
	StepP95      = 5
	StepFailures = 7
)

// StepColumns are the columns of every table of steps.
var StepColumns = []StepColumn{
	{"Step", false, (*StepLine).Name, func(a, b *StepLine) int { return strings.Compare(a.Path, b.Path) }},
	{"Endpoint", false, (*StepLine).Calls, func(a, b *StepLine) int { return strings.Compare(a.Calls(), b.Calls()) }},
	stepCount("Executions", (*StepLine).ran),
	{"Rate", true, func(l *StepLine) string { return FormatPerSecond(l.Rate) }, func(a, b *StepLine) int { return cmp.Compare(a.Rate, b.Rate) }},
	stepTime("p50", func(q *engine.Quantiles) time.Duration { return q.P50 }),
	{"p95", true, stepP95, func(a, b *StepLine) int { return cmp.Compare(a.longest(), b.longest()) }},
	stepTime("p99", func(q *engine.Quantiles) time.Duration { return q.P99 }),
	stepCount("Failures", func(l *StepLine) int64 { return l.Errors() }),
	{"Size", true, stepSize, func(a, b *StepLine) int { return cmp.Compare(a.MeanSize(), b.MeanSize()) }},
	stepCount("Requests", func(l *StepLine) int64 { return l.Requests }),
	stepCount("Retries", func(l *StepLine) int64 { return l.Retries }),
	stepCount("429s", func(l *StepLine) int64 { return l.RateLimited }),
	stepCount("Timed out", func(l *StepLine) int64 { return l.Statuses[engine.StepTimedOut] }),
	stepCount("Skipped", func(l *StepLine) int64 { return l.Statuses[engine.StepSkipped] + l.Statuses[engine.StepCanceled] }),
	stepTime("Longest", func(q *engine.Quantiles) time.Duration { return q.Max }),
}

func (l *StepLine) ran() int64 { return l.Ran() }

func stepSize(l *StepLine) string {
	if l.Size == 0 {
		return Unknown
	}
	return engine.FormatBytes(l.MeanSize())
}

func stepCount(title string, of func(l *StepLine) int64) StepColumn {
	return StepColumn{title, true, func(l *StepLine) string { return some(of(l)) }, func(a, b *StepLine) int { return cmp.Compare(of(a), of(b)) }}
}

func stepTime(title string, of func(q *engine.Quantiles) time.Duration) StepColumn {
	return StepColumn{
		title, true, func(l *StepLine) string {
			if l.Encloses { // its own time is nearly 0, and the quantiles of the steps inside cannot be added
				return Unknown
			}
			return Durations(l.StepFigures.Service.Count, of(&l.StepFigures.Service))[0]
		},
		func(a, b *StepLine) int { return cmp.Compare(of(&a.StepFigures.Service), of(&b.StepFigures.Service)) },
	}
}

// longest is the time that p95 sorts by.
func (l *StepLine) longest() time.Duration {
	if l.Encloses {
		return l.Inside
	}
	return l.StepFigures.Service.P95
}

// stepP95 formats the 95th percentile or, for a step that encloses others, the mean with the time of the steps inside.
func stepP95(l *StepLine) string {
	switch {
	case !l.Encloses:
		return Durations(l.StepFigures.Service.Count, l.StepFigures.Service.P95)[0]
	case l.Ran() == 0:
		return Unknown
	}
	return "mean " + engine.FormatDuration(l.Inside)
}

// StepTable returns the figures of steps as texts.
func StepTable(lines []StepLine) (out Table) {
	for _, c := range StepColumns {
		out.Head = append(out.Head, c.Title)
	}
	for i := range lines {
		row := make([]string, len(StepColumns))
		for k, c := range StepColumns {
			row[k] = c.Text(&lines[i])
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}
