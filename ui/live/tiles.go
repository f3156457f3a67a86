package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// tiles are the four key figures, and the advice on unhealthy figures.
type tiles struct {
	content fyne.CanvasObject
	row     *fyne.Container
	all     []*widgets.Tile
	shown   []view.Tile
	advice  *widgets.Line // its line is always there, so that nothing moves
	options view.TileOptions
	brief   bool // without notes
}

// tileHealth are the metrics of health that color a tile.
var tileHealth = map[view.TileKind]health.Metric{view.LatencyTile: health.MetricLatency, view.FailureTile: health.MetricFailed}

func newTiles() *tiles {
	t := &tiles{advice: widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet), row: container.New(&rows{ems: 9})}
	for range 4 {
		t.row.Add(widgets.NewTile(""))
	}
	t.content = widgets.NewPanel("", container.NewVBox(t.row, t.advice))
	return t
}

// begin chooses the tiles for a job.
func (t *tiles) begin(job *Job) {
	t.options = view.TileOptions{Acted: job.Acted}
	job.Graph.Walk(func(s *engine.GraphStep) { t.options.World = t.options.World || s.Kind == "say" })
	t.shown = nil
}

func (t *tiles) draw(f *feed) {
	t.options.Past = f.past
	now := view.Tiles(f.snap, t.options)
	if !t.same(now) {
		t.all, t.row.Objects = nil, nil
		for i := range now {
			tile := widgets.NewTile(now[i].Caption)
			tile.Brief(t.brief)
			t.all = append(t.all, tile)
			t.row.Add(tile)
		}
	}
	t.shown = now
	for i := range now {
		level := health.Unknown
		if m, ok := tileHealth[now[i].Kind]; ok {
			level = health.Find(f.health, m).Level
		}
		note(t.all[i], now[i].Value, level, now[i].Note)
	}
	text, worst := advice(f)
	t.advice.Set(text, tone(worst))
}

// shorten hides the notes in a short window.
func (t *tiles) shorten(on bool) {
	t.brief = on
	for _, tile := range t.all {
		tile.Brief(on)
	}
}

// same reports whether the tiles have the captions of the shown ones.
func (t *tiles) same(now []view.Tile) bool {
	if len(now) != len(t.shown) {
		return false
	}
	for i := range now {
		if now[i].Caption != t.shown[i].Caption {
			return false
		}
	}
	return true
}

// note shows a figure and its health.
func note(t *widgets.Tile, value string, h health.Level, detail string) {
	text, shown, quiet := detail, widgets.Neutral, widgets.Quiet
	if h >= health.Warning { // problems are visible from a distance
		shown, quiet = tone(h), tone(h)
		text = word(h) + ", " + detail
	}
	t.Set(value, text, quiet)
	t.SetValue(value, shown)
}
