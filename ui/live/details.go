package live

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// showDetails shows the facts about a run that the header omits.
func (o *orders) showDetails() {
	s := o.screen
	where, _ := results(s.job, s.desk)
	grid := container.New(layout.NewFormLayout())
	for _, row := range details(s.job, s.seen().snap, where) {
		value := widget.NewLabel(row[1])
		value.Selectable = true
		grid.Add(widget.NewLabelWithStyle(row[0], fyne.TextAlignLeading, fyne.TextStyle{Bold: true}))
		grid.Add(value)
	}
	widgets.Tell(s.win, "Run details", grid)
}
