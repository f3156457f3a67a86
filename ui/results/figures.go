package results

import (
	"fmt"
	"math"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// unknown is shown for a figure that was not measured.
const unknown = "–"

// figure is a figure of a run.
type figure struct {
	name  string
	value func(t *engine.Totals) string
	bad   bool // any value except 0 is a problem
}

func outcome(o engine.Outcome) func(*engine.Totals) string {
	return func(t *engine.Totals) string { return engine.FormatCount(t.Outcomes[o]) }
}

func label(l engine.Label) func(*engine.Totals) string {
	return func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Labels[l]) }
}

// totalFigures are the counts.
var totalFigures = []figure{
	{name: "sessions", value: func(t *engine.Totals) string { return engine.FormatCount(t.Ended()) }},
	{name: "ok", value: outcome(engine.OK)},
	{name: view.OutcomeText(engine.Stopped), value: outcome(engine.Stopped)},
	{name: "failed", value: outcome(engine.Failed), bad: true},
	{name: "timed out", value: outcome(engine.TimedOut), bad: true},
	{name: "canceled", value: outcome(engine.Canceled)},
	{name: "acted", value: func(t *engine.Totals) string { return engine.FormatCount(t.Acted) }},
	{name: "events", value: func(t *engine.Totals) string { return engine.FormatCount(t.Events) }},
	{name: "steps", value: func(t *engine.Totals) string { return engine.FormatCount(t.Steps) }},
	{name: "requests", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Requests) }},
	{name: "retries", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Retries) }},
	{name: "refused (429)", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().RateLimited) }},
	{name: "parallel steps", value: func(t *engine.Totals) string { return engine.FormatCount(t.Flow.Parallel) }},
	{name: "failed steps", value: func(t *engine.Totals) string { return engine.FormatCount(t.Flow.Failed + t.Flow.TimedOut) }},
	{name: "speed-up", value: func(t *engine.Totals) string { return times(t.Speedup()) }},
	{name: "chain speed-up", value: func(t *engine.Totals) string { return times(t.Flow.Speedup()) }},
}

// times formats a factor.
func times(v float64) string { return known(!math.IsNaN(v), fmt.Sprintf("%.3g×", v)) }

// modelFigures are the figures of runs that called models.
var modelFigures = []figure{
	{name: "model calls", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Usage.Calls) }},
	{name: "tokens in", value: tokens(func(u *engine.Usage) int64 { return u.Input })},
	{name: "tokens in, cached", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Usage.Cached) }},
	{name: "tokens in, written to the cache", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Usage.Written) }},
	{name: "tokens out", value: tokens(func(u *engine.Usage) int64 { return u.Output })},
	{name: "calls in batches", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Usage.Batched) }},
	{name: "cost", value: func(t *engine.Totals) string {
		u := t.SentRequests().Usage
		return engine.FormatCost(&u)
	}},
	{name: "cached answers", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Usage.Hits) }},
}

// tokens formats a number of tokens, and says whether some are estimated.
func tokens(of func(*engine.Usage) int64) func(*engine.Totals) string {
	return func(t *engine.Totals) string {
		u := t.SentRequests().Usage
		text := engine.FormatCount(of(&u))
		if u.Estimated > 0 {
			text += ", estimated"
		}
		if u.Doubtful > 0 {
			text += ", doubtful"
		}
		return text
	}
}

// waitFigures are the total throttled times by reason.
var waitFigures = func() []figure {
	var all []figure
	for _, cause := range engine.ThrottleCauses() {
		all = append(all, figure{name: cause.Text(), value: func(t *engine.Totals) string {
			return engine.FormatDuration(t.SentRequests().Waits[cause])
		}})
	}
	return all
}()

func waited(t *engine.Totals) bool { return t.SentRequests().Waits != (engine.Waits{}) }

func calledModels(t *engine.Totals) bool { return t.SentRequests().Usage != (engine.Usage{}) }

// resumedFigures are the figures of resumed runs.
var resumedFigures = []figure{
	{name: "replayed steps", value: label(engine.Replayed)},
	{name: "sent again, executed once", value: label(engine.Resent)},
	{name: "already executed", value: label(engine.Confirmed)},
	{name: "unconfirmed", value: label(engine.Unconfirmed)},
	{name: "not sent again", value: label(engine.NotRepeated)},
	{name: "possibly paid twice", value: func(t *engine.Totals) string { return engine.FormatCount(t.SentRequests().Usage.Again) }},
}

// recordedFigures are the figures of replays.
var recordedFigures = []figure{{name: "recorded steps", value: label(engine.Recorded)}}

func replayed(t *engine.Totals) bool { return t.SentRequests().Labels[engine.Recorded] > 0 }

func resumed(t *engine.Totals) bool {
	asked := t.SentRequests()
	return asked.Labels[engine.Replayed]+asked.Labels[engine.NotRepeated]+asked.Again() > 0
}

// peakFigures are the highest values.
var peakFigures = []figure{
	{name: "Throng's memory", value: func(t *engine.Totals) string {
		return known(t.Peaks.Memory > 0, engine.FormatBytes(int64(t.Peaks.Memory)))
	}},
	{name: "own connections", value: connections(func(p *engine.Peaks) int {
		if p.ServerConnections == 0 { // those of the local store
			return 0
		}
		return p.Connections
	})},
	{name: "server's connections", value: connections(func(p *engine.Peaks) int { return p.ServerConnections })},
	{name: "slowest cycle", value: lasted(func(p *engine.Peaks) time.Duration { return p.Cycle })},
	{name: "checkpoint gap", value: lasted(func(p *engine.Peaks) time.Duration { return p.CheckpointGap })},
	{name: "behind schedule", value: func(t *engine.Totals) string { return engine.FormatDuration(t.Peaks.Lag) }},
}

func known(is bool, text string) string {
	if !is {
		return unknown
	}
	return text
}

func connections(of func(*engine.Peaks) int) func(*engine.Totals) string {
	return func(t *engine.Totals) string {
		n := of(&t.Peaks)
		return known(n > 0, engine.FormatCount(int64(n)))
	}
}

func lasted(of func(*engine.Peaks) time.Duration) func(*engine.Totals) string {
	return func(t *engine.Totals) string {
		d := of(&t.Peaks)
		return known(d > 0, engine.FormatDuration(d))
	}
}

// board shows figures with their names.
type board struct {
	content *fyne.Container
	figures []figure
	values  []*widgets.Text
}

// figureEms is the minimum width of a figure, in text heights.
const figureEms = 8

func newBoard(figures []figure) *board {
	gap := theme.InnerPadding()
	grid := form.NewColumns(figureEms)
	b := &board{figures: figures, content: container.New(layout.NewCustomPaddedLayout(gap/2, gap/2, gap, gap), grid)}
	for _, f := range figures {
		value := widgets.NewText("")
		b.values = append(b.values, value)
		grid.Add(container.New(layout.NewCustomPaddedVBoxLayout(0), widgets.NewCaption(f.name), value))
	}
	return b
}

func (b *board) show(t *engine.Totals) {
	for i, f := range b.figures {
		text, tone := f.value(t), widgets.Neutral
		if f.bad && text != "0" {
			tone = widgets.Bad
		}
		b.values[i].SetColor(tone.Color())
		b.values[i].SetText(text)
	}
}
