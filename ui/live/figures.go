package live

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// figures are the tiles, and the advice on unhealthy figures.
type figures struct {
	content fyne.CanvasObject
	grid    *fyne.Container
	alarm   *widgets.Notice // about breakers, stalls and budgets
	budget  *widgets.Line   // of runs with a budget
	advice  *widgets.Line

	sessions, latency, failed, requests, retries, refused, cpu, memory, connections, overhead *widgets.Tile
}

func newFigures() *figures {
	f := &figures{
		sessions: widgets.NewTile("Sessions"), latency: widgets.NewTile("Latency p95"), failed: widgets.NewTile("Failed"),
		requests: widgets.NewTile("Requests"), retries: widgets.NewTile("Retries"), refused: widgets.NewTile("429s"),
		cpu: widgets.NewTile("CPU"), memory: widgets.NewTile("Memory left"), connections: widgets.NewTile("Connections"), overhead: widgets.NewTile("Overhead"),
		budget: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet), advice: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet),
		alarm: widgets.NewNotice(),
	}
	f.budget.Hide()
	f.grid = container.New(&rows{ems: 6.5}, f.sessions, f.latency, f.failed, f.requests, f.retries, f.refused, f.cpu, f.overhead, f.memory, f.connections)
	f.content = widgets.NewPanel("", container.NewVBox(f.grid, f.budget, f.advice, f.alarm))
	return f
}

func (f *figures) draw(d *feed) {
	s, m := d.snap, &d.snap.Metrics
	judge := func(m health.Metric) health.Level { return health.Find(d.health, m).Level }
	f.sessions.Set(rate(s.PerSecond), short(s.Ended)+" ended", widgets.Quiet)
	if d.past && s.PerSecond == 0 { // no session ended in that second, so there is nothing to judge
		f.latency.Set("–", "no session ended", widgets.Quiet)
	} else {
		note(f.latency, engine.FormatDuration(s.Latency.P95), judge(health.MetricLatency), "")
	}
	f.drawFailed(d, judge(health.MetricFailed))
	if d.past { // single moments have only the figures of their second
		f.requests.Set(rate(m.RequestsPerSec), "in that second", widgets.Quiet)
	} else {
		f.requests.Set(short(s.Requests), rate(m.RequestsPerSec), widgets.Quiet)
	}
	detail := ""
	if s.Requests > 0 {
		detail = share(s.Retries, s.Requests)
	}
	f.retries.Set(short(s.Retries), detail, widgets.Quiet)
	note(f.refused, short(s.RateLimited), judge(health.MetricRefused), "")
	note(f.cpu, fmt.Sprintf("%.0f%%", m.Host.CPU), judge(health.MetricCPU), "")
	f.drawOverhead(d)
	note(f.memory, size(m.Host.Available), max(judge(health.MetricMemoryLeft), judge(health.MetricOwnMemory)), "")
	f.drawConnections(m, judge(health.MetricConnections))
	text, worst := advice(d)
	f.advice.Set(text, tone(worst))
}

// drawFailed shows the failures of the run or, in the history, of the moment's cycle.
func (f *figures) drawFailed(d *feed, h health.Level) {
	s := d.snap
	if d.past {
		note(f.failed, short(bad(s)), h, "in its cycle")
		return
	}
	note(f.failed, short(bad(s)), h, share(bad(s), s.Ended))
}

// drawNotes shows the rest of the budget and the alarms. It reports whether the panel has changed its height.
func (f *figures) drawNotes(s *engine.Snapshot, logged string) (changed bool) {
	spent := budget(s)
	if spent != "" {
		f.budget.Set(spent, widgets.Quiet)
	}
	if f.budget.Visible() != (spent != "") {
		f.budget.Hidden, changed = spent == "", true
	}
	text, tone := alarm(s, logged)
	if f.alarm.Text() != text {
		f.alarm.Say(text, tone)
		changed = true
	}
	return changed
}

func (f *figures) drawConnections(m *engine.MetricsRow, h health.Level) {
	switch {
	case m.ServerConnections >= 0 && m.ServerMax > 0:
		note(f.connections, fmt.Sprintf("%d of %d", m.ServerConnections, m.ServerMax), h, ownPool(m))
	case m.Pool.Size > 0:
		f.connections.Set(fmt.Sprint(max(m.Connections, 0)), fmt.Sprintf("of %d own", m.Pool.Size), widgets.Quiet)
	case m.Connections >= 0:
		f.connections.Set(fmt.Sprint(m.Connections), "to the store", widgets.Quiet)
	default:
		f.connections.Set("–", "not known", widgets.Quiet)
	}
}

// ownPool returns Throng's share of a server's connections.
func ownPool(m *engine.MetricsRow) string {
	if m.Pool.Size == 0 {
		return fmt.Sprintf("%d own", max(m.Connections, 0))
	}
	return fmt.Sprintf("%d of %d own", max(m.Connections, 0), m.Pool.Size)
}

// note shows a figure and its health.
func note(t *widgets.Tile, value string, h health.Level, detail string) {
	text := word(h)
	if text != "" && detail != "" {
		text += ", "
	}
	t.Set(value, text+detail, tone(h))
	shown := widgets.Neutral
	if h >= health.Warning { // problems are visible from a distance
		shown = tone(h)
	}
	t.SetValue(value, shown)
}

// size writes bytes with two or three digits, so that the text seldom changes.
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
