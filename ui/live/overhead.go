package live

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// overheadRows returns the rows of the table of time, what limits the speed first.
func overheadRows(f *feed) []widgets.Row {
	o, late := f.vitals.Overhead(f.snap)
	var rows []widgets.Row
	if b := health.FindFleetBottleneck(&o, f.snap.Limit, f.snap.Binds, f.workers); b.Kind != health.Unbound {
		tone := widgets.Neutral
		if b.Kind.IsHere() {
			tone = widgets.Warning
		}
		rows = append(rows, words.OverheadRow("limited by", "", words.Sentence(b.What), tone), words.OverheadRow("advice", "", words.Sentence(b.Advice), tone))
	}
	return append(rows, words.OverheadRows(&o, late)...)
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
