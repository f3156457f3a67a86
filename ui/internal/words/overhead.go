package words

import (
	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// OverheadColumns are those of a table of where a run's time goes; title is above the names.
func OverheadColumns(title string) []widgets.Column {
	return []widgets.Column{
		{Title: title, Sample: "mmjournal's writer"},
		{Title: "Share", Sample: "under 0.1%", Align: fyne.TextAlignTrailing},
		{Title: "What it is", Sample: "until intents were durable", Weight: 1},
	}
}

// OverheadRows are the lines of an overhead in such a table.
func OverheadRows(o *engine.Overhead, late engine.Late) (rows []widgets.Row) {
	for _, line := range health.OverheadLines(o, late) {
		rows = append(rows, OverheadRow(line.Name, line.Value, line.About, widgets.Quiet))
	}
	return rows
}

// OverheadRow is a line of such a table, which is about something in a tone.
func OverheadRow(name, value, about string, tone widgets.Tone) widgets.Row {
	return widgets.Row{Key: name, Cells: []widgets.Cell{{Text: name}, {Text: value}, {Text: about, Tone: tone}}}
}
