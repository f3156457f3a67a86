package live

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/graph"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// leastChain is the minimum height of the graph, which fills the height that is left.
const leastChain = 190

// stepCheck is a threshold of a step, as a row of the table in checks.
type stepCheck struct {
	name       string
	value      func(step *engine.GraphStep, f *engine.StepFigures) float64
	warn, crit float64
}

// stepChecks are the thresholds of a step: those of sessions that apply to a step.
var stepChecks = [...]stepCheck{
	{"latency", stepLatency, 1, 2},
	{"failed", stepFailed, 0.05, 0.10},
	{"429s", stepRefused, 0, 1},
}

// stepLatency returns the mean in seconds of a step that calls a service. The latency of models is not judged.
func stepLatency(step *engine.GraphStep, f *engine.StepFigures) float64 {
	if f.Requests == 0 || f.Service.Count == 0 || slices.Contains([]string{"llm", "embed", "recall"}, step.Kind) {
		return math.NaN()
	}
	return f.Service.Mean.Seconds()
}

// stepFailed returns the failed share of a step's executions.
func stepFailed(_ *engine.GraphStep, f *engine.StepFigures) float64 {
	return ratio(float64(f.Errors()), float64(f.Ran()))
}

// stepRefused returns the share of requests that were answered with 429. It causes a warning, but is never critical.
func stepRefused(_ *engine.GraphStep, f *engine.StepFigures) float64 {
	return ratio(float64(f.RateLimited), float64(f.Requests))
}

// judgeStep returns a step's health and the reason.
func judgeStep(step *engine.GraphStep, f *engine.StepFigures) (worst health.Level, by []string) {
	for i := range stepChecks {
		c := &stepChecks[i]
		level := health.Healthy
		switch v := c.value(step, f); {
		case math.IsNaN(v):
			continue
		case v > c.crit:
			level = health.Critical
		case v > c.warn:
			level = health.Warning
		}
		if level > health.Healthy {
			by = append(by, c.name+" "+level.String())
		}
		worst = max(worst, level)
	}
	return worst, by
}

// chain is the graph of the chain, with its steps colored by health.
type chain struct {
	panel *widgets.Panel
	graph *graph.Graph
	note  *widgets.Line   // the critical path
	head  *fyne.Container // the note and the title
	of    *engine.Graph
	steps []engine.StepFigures
	leaf  map[string]bool // paths of steps without inner steps
}

func newChain() *chain {
	c := &chain{graph: graph.New(leastChain)}
	c.note = widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet)
	c.head = container.New(inline{c.note}, widgets.NewHeading("Chain"), c.note)
	c.panel = widgets.NewPanel("", container.NewBorder(c.head, nil, nil, nil, c.graph))
	return c
}

// begin shows the chain of a job.
func (c *chain) begin(job *Job) {
	c.graph.Set(job.Graph)
	c.of, c.steps, c.leaf = &job.Graph, nil, map[string]bool{}
	c.note.Set("", widgets.Quiet)
	job.Graph.Walk(func(s *engine.GraphStep) { c.leaf[s.Path] = len(s.Inner) == 0 })
}

// draw colors the steps, if there are newer figures.
func (c *chain) draw(f *feed) {
	s := f.snap
	if len(s.Steps) == 0 || len(c.steps) > 0 && &c.steps[0] == &s.Steps[0] {
		return
	}
	c.steps = s.Steps
	slowest := c.slowest()
	path := view.FindCriticalPath(c.of, c.spent(f.sessions()))
	if text := criticalText(&path); text != c.note.Text() {
		c.note.Set(text, widgets.Quiet)
		c.head.Refresh()
	}
	c.graph.Mark(func(step *engine.GraphStep) graph.State {
		f, ok := c.find(step.Path)
		if !ok {
			return graph.State{Line: "not yet"}
		}
		state := stepState(step, f, slowest)
		state.Critical = path.Paths[step.Path]
		return state
	})
}

func (c *chain) find(path string) (*engine.StepFigures, bool) {
	i, ok := slices.BinarySearchFunc(c.steps, path, func(f engine.StepFigures, path string) int { return strings.Compare(f.Path, path) })
	if !ok {
		return nil, false
	}
	return &c.steps[i], true
}

// slowest returns the longest p95 of the steps without inner steps.
func (c *chain) slowest() (longest time.Duration) {
	for i := range c.steps {
		if f := &c.steps[i]; c.leaf[f.Path] {
			longest = max(longest, f.Service.P95)
		}
	}
	return longest
}

// stepState returns how a step is drawn. Slower steps have a stronger background.
func stepState(step *engine.GraphStep, f *engine.StepFigures, slowest time.Duration) graph.State {
	out := graph.State{Line: stepLine(step, f), More: stepMore(step, f)}
	if f.Ran() == 0 {
		return out
	}
	if worst, _ := judgeStep(step, f); worst != health.Unknown {
		out.Tone = tone(worst)
	}
	if slowest > 0 && len(step.Inner) == 0 {
		out.Shade = uint8(min(math.Round(graph.Shades*float64(f.Service.P95)/float64(slowest)), graph.Shades))
	}
	return out
}

// stepLine returns a step's most important figure in a few characters.
func stepLine(step *engine.GraphStep, f *engine.StepFigures) string {
	var parts []string
	switch {
	case f.Ran() == 0 && f.Statuses[engine.StepSkipped] > 0:
		return "skipped"
	case f.Ran() == 0:
		return "not yet"
	case f.Requests > 0 && f.Errors() > 0: // the column is too narrow for both
		parts = append(parts, engine.FormatDuration(rough(f.Service.P95)))
	case f.Requests > 0:
		parts = append(parts, "p95 "+engine.FormatDuration(rough(f.Service.P95)))
	case len(step.Inner) > 0:
		parts = append(parts, step.Kind, times(f))
	case f.Service.P95 >= time.Millisecond: // a step that waits or computes
		parts = append(parts, "p95 "+engine.FormatDuration(rough(f.Service.P95)))
	default:
		parts = append(parts, times(f))
	}
	if f.Errors() > 0 {
		parts = append(parts, share(f.Errors(), f.Ran())+" failed")
	}
	return strings.Join(parts, " · ")
}

// times returns how often a step ran.
func times(f *engine.StepFigures) string {
	if f.Ran() == 1 {
		return "once"
	}
	return short(f.Ran()) + " times"
}

// rough rounds a duration to two digits, so that its text seldom changes.
func rough(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d >= 100*unit {
		unit *= 10
	}
	return d.Round(unit)
}

// stepMore returns the figures of a step, one per line.
func stepMore(step *engine.GraphStep, f *engine.StepFigures) string {
	var lines []string
	if worst, by := judgeStep(step, f); worst > health.Healthy {
		lines = append(lines, strings.Join(by, ", "))
	}
	var counts []string
	for status, n := range f.Statuses {
		if n > 0 {
			counts = append(counts, short(n)+" "+engine.StepStatus(status).String())
		}
	}
	if len(counts) > 0 {
		lines = append(lines, strings.Join(counts, ", "))
	}
	if q := &f.Service; q.Count > 0 && len(step.Inner) == 0 {
		lines = append(lines, fmt.Sprintf("p50 %s, p95 %s, p99 %s", engine.FormatDuration(rough(q.P50)), engine.FormatDuration(rough(q.P95)),
			engine.FormatDuration(rough(q.P99))))
	}
	if f.Requests > 0 {
		lines = append(lines, fmt.Sprintf("%s requests, %s retries, %s 429s", short(f.Requests), short(f.Retries), short(f.RateLimited)))
	}
	return strings.Join(lines, "\n")
}

// criticalText describes a critical path.
func criticalText(c *view.CriticalPath) string {
	if len(c.Names) == 0 {
		return ""
	}
	return "critical path " + engine.FormatDuration(rough(c.Took)) + " of " + engine.FormatDuration(rough(c.All)) + " in an average session: " + strings.Join(c.Names, ", ")
}

// spent returns the mean time of a step per session, over all sessions and iterations, including sessions without the step.
func (c *chain) spent(sessions int64) func(path string) time.Duration {
	return func(path string) time.Duration {
		f, ok := c.find(path)
		if !ok || sessions == 0 {
			return 0
		}
		return time.Duration(float64(f.Service.Mean) * float64(f.Service.Count) / float64(sessions))
	}
}
