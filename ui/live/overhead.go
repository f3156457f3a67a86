package live

import (
	"fmt"
	"math"
	"strings"

	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// overheadRows returns the rows of the table of time, the bottleneck first.
func overheadRows(f *feed) []widgets.Row {
	o, late := f.vitals.Overhead(f.snap)
	var rows []widgets.Row
	if b := health.FindBottleneck(&o, f.snap.Limit, f.snap.Binds); b.Kind != health.Unbound {
		tone := widgets.Neutral
		if b.Kind.IsHere() {
			tone = widgets.Warning
		}
		about := b.What
		if _, why, ok := strings.Cut(about, ": "); ok { // the row's title says that it is the limit
			about = why
		}
		rows = append(rows, words.OverheadRow("the limit", b.Kind.Short(), about, tone), words.OverheadRow("what to do", "", b.Advice, tone))
	}
	return append(rows, words.OverheadRows(&o, late)...)
}

// drawOverhead shows the engine overhead and the bottleneck.
func (f *figures) drawOverhead(d *feed) {
	o, _ := d.vitals.Overhead(d.snap)
	text := lostShare(o.Times.Lost())
	b := health.FindBottleneck(&o, d.snap.Limit, d.snap.Binds)
	note, tone, shown := "of their time", widgets.Quiet, widgets.Neutral
	if b.Kind != health.Unbound {
		note = "limit: " + b.Kind.Short()
	}
	if b.Kind.IsHere() {
		tone, shown = widgets.Warning, widgets.Warning
	}
	f.overhead.Set(text, note, tone)
	f.overhead.SetValue(text, shown)
}

// lostShare writes a share with two digits, so that the text seldom changes.
func lostShare(lost float64) string {
	switch percent := 100 * lost; {
	case math.IsNaN(percent):
		return "–"
	case percent > 0 && percent < 0.1:
		return "< 0.1%"
	case percent < 10:
		return fmt.Sprintf("%.1f%%", percent)
	default:
		return fmt.Sprintf("%.0f%%", percent)
	}
}
