package live

import (
	"fmt"
	"math"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

var overheadColumns = []widgets.Column{
	{Title: "Where the time goes", Sample: "mjournal's writer"},
	{Title: "Share", Sample: "under 0.1 %", Align: fyne.TextAlignTrailing},
	{Title: "What it is", Sample: "until intents were durable", Weight: 1},
}

// overheadRows tell where the time goes, what keeps the run from going faster first.
func overheadRows(f *feed) []widgets.Row {
	o, late := f.vitals.Overhead(f.snap)
	var rows []widgets.Row
	if b := o.Bottleneck(f.snap.Limit, f.snap.Binds); b.Text != "" {
		tone := widgets.Neutral
		if b.Kind.IsHere() {
			tone = widgets.Warning
		}
		rows = append(rows, widgets.Row{Key: "limit", Cells: []widgets.Cell{
			{Text: "What limits the run", Tone: tone}, {Text: b.Kind.Short(), Tone: tone}, {Text: b.Text + "  ·  " + b.Advice, Tone: tone},
		}})
	}
	for _, line := range o.Lines(late) {
		rows = append(rows, widgets.Row{Key: line.Name, Cells: []widgets.Cell{{Text: line.Name}, {Text: line.Value}, {Text: line.About, Tone: widgets.Quiet}}})
	}
	return rows
}

// drawLost shows what went to the engine and the journal, and what keeps the run from going faster.
func (f *figures) drawLost(d *feed) {
	o, _ := d.vitals.Overhead(d.snap)
	lost, text := o.Times.Lost(), "–"
	if !math.IsNaN(lost) {
		text = fmt.Sprintf("%.2g %%", 100*lost)
		if lost >= 0.995 {
			text = "100 %"
		}
	}
	b := o.Bottleneck(d.snap.Limit, d.snap.Binds)
	beside, tone, shown := "of their time", widgets.Quiet, widgets.Neutral
	if b.Kind != engine.Unbound {
		beside = "limit: " + b.Kind.Short()
	}
	if b.Kind.IsHere() {
		tone, shown = widgets.Warning, widgets.Warning
	}
	f.lost.Set(text, beside, tone)
	f.lost.SetValue(text, shown)
}
