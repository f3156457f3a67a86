package live

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// What the button beside the figures does.
const (
	toChain  = "Show chain"
	toCharts = "Show charts"
)

// What the charts span.
const (
	wholeRun    = "Whole run"
	lastMinutes = "Last 10 minutes"
)

const numFigures = 9

// figures are the tiles, and what to do about those that are not healthy.
type figures struct {
	content fyne.CanvasObject
	grid    *fyne.Container
	alarm   *widgets.Notice // of breakers, stalls and budgets that will not last
	models  *widgets.Line   // of runs that call models
	budget  *widgets.Line   // of runs that have one
	advice  *widgets.Line
	view    *widget.Button // charts or chain
	span    *widget.Select

	sessions, latency, failed, requests, retries, refused, cpu, memory, connections *widgets.Tile
}

func newFigures(c *charts, show func(chain bool), save func()) *figures {
	f := &figures{
		sessions: widgets.NewTile("Sessions"), latency: widgets.NewTile("Latency p95"), failed: widgets.NewTile("Failed"),
		requests: widgets.NewTile("Requests"), retries: widgets.NewTile("Retries"), refused: widgets.NewTile("429s"),
		cpu: widgets.NewTile("CPU"), memory: widgets.NewTile("Memory left"), connections: widgets.NewTile("Connections"),
		models: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet), advice: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet),
	}
	f.budget, f.alarm = widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet), widgets.NewNotice()
	f.models.Hide()
	f.budget.Hide()
	f.span = widget.NewSelect([]string{wholeRun, lastMinutes}, nil)
	f.span.SetSelected(wholeRun)
	f.span.OnChanged = func(chosen string) { c.show(chosen == lastMinutes) }
	f.view = widget.NewButton(toChain, func() {
		chain := f.view.Text == toChain
		if chain {
			f.view.SetText(toCharts)
			f.span.Disable()
		} else {
			f.view.SetText(toChain)
			f.span.Enable()
		}
		show(chain)
	})
	saving := widget.NewButtonWithIcon("Save charts…", theme.DocumentSaveIcon(), save)
	choices := container.NewVBox(form.NewCompact(f.view), form.NewCompact(form.NewFrame(f.span)), form.NewCompact(saving))
	f.grid = container.NewWithoutLayout(f.sessions, f.latency, f.failed, f.requests, f.retries, f.refused, f.cpu, f.memory, f.connections)
	lines := container.NewVBox(f.models, f.budget, f.advice, f.alarm)
	f.content = widgets.NewPanel("", container.NewBorder(nil, nil, nil, container.NewCenter(choices), container.NewBorder(nil, lines, nil, nil, f.grid)))
	return f
}

func (f *figures) draw(d *feed) {
	s, m := d.snap, &d.snap.Metrics
	judge := func(m engine.Metric) engine.Level { return engine.FindMetric(d.health, m).Level }
	f.sessions.Set(rate(s.PerSecond), short(s.Ended)+" ended", widgets.Quiet)
	note(f.latency, engine.FormatDuration(s.Latency.P95), judge(engine.MetricLatency), "")
	note(f.failed, short(bad(s)), judge(engine.MetricFailed), share(bad(s), s.Ended))
	f.requests.Set(short(s.Requests), rate(m.RequestsPerSec), widgets.Quiet)
	f.retries.Set(short(s.Retries), share(s.Retries, s.Requests), widgets.Quiet)
	note(f.refused, short(s.RateLimited), judge(engine.MetricRefused), "")
	note(f.cpu, fmt.Sprintf("%.0f %%", m.Host.CPU), judge(engine.MetricCPU), "")
	note(f.memory, size(m.Host.Available), max(judge(engine.MetricMemoryLeft), judge(engine.MetricOwnMemory)), "")
	f.drawConnections(m, judge(engine.MetricConnections))
	text, worst := advice(d)
	f.advice.Set(text, tone(worst))
}

// drawNotes shows what calls of models took, what is left of the budget and what a person should know at once; it
// reports whether the panel has become higher or lower.
func (f *figures) drawNotes(s *engine.Snapshot) (changed bool) {
	models, spent := "", budget(s)
	if s.Usage != (engine.Usage{}) {
		models = "model calls " + engine.FormatUsage(&s.Usage)
	}
	for _, note := range []struct {
		line *widgets.Line
		text string
	}{{f.models, models}, {f.budget, spent}} {
		if note.text != "" {
			note.line.Set(note.text, widgets.Quiet)
		}
		if note.line.Visible() != (note.text != "") {
			note.line.Hidden, changed = note.text == "", true
		}
	}
	text, tone := alarm(s)
	if f.alarm.Text() != text {
		f.alarm.Say(text, tone)
		changed = true
	}
	return changed
}

func (f *figures) drawConnections(m *engine.MetricsRow, h engine.Level) {
	switch {
	case m.ServerConnections >= 0 && m.ServerMax > 0:
		note(f.connections, fmt.Sprintf("%d of %d", m.ServerConnections, m.ServerMax), h, fmt.Sprintf("%d own", max(m.Connections, 0)))
	case m.Connections >= 0:
		f.connections.Set(fmt.Sprint(m.Connections), "to the store", widgets.Quiet)
	default:
		f.connections.Set("–", "not known", widgets.Quiet)
	}
}

// note shows a figure and the word for how it stands.
func note(t *widgets.Tile, value string, h engine.Level, beside string) {
	text := word(h)
	if text != "" && beside != "" {
		text += ", "
	}
	t.Set(value, text+beside, tone(h))
}

// size writes bytes with two or three figures, so that the text seldom changes.
func size(n uint64) string {
	switch {
	case n == 0:
		return "–"
	case n < 100e6:
		return fmt.Sprintf("%d MB", n/1e6)
	case n < 1e9:
		return fmt.Sprintf("%d MB", n/10e6*10)
	default:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
}
