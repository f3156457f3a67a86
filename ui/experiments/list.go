package experiments

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// list is the list of experiments, with the buttons that add one.
type list struct {
	table   *widgets.Table
	open    *widget.Button
	create  *widget.Button
	content fyne.CanvasObject
}

// mostCounted is the largest number of runs that is shown in place of a percentage.
const mostCounted = 999

// listEms is the width of the list, in text heights.
const listEms = 20

func newList(chosen func(path string), a *adder) *list {
	l := &list{
		table:  widgets.NewTable([]widgets.Column{{Title: "Experiment", Sample: "Does it", Weight: 1}, {Title: "State", Sample: "mmnot started"}}, "", 3),
		open:   widget.NewButtonWithIcon("Open file…", theme.FolderOpenIcon(), a.open),
		create: widget.NewButtonWithIcon("New…", theme.DocumentCreateIcon(), a.create),
	}
	l.table.OnSelected = chosen
	buttons := container.New(&form.Flow{}, l.open, l.create)
	l.content = widgets.NewPanel("", container.NewBorder(nil, buttons, nil, nil, container.New(column(listEms), l.table)))
	return l
}

// column is the width of an object in text heights.
type column float32

// MinSize implements [fyne.Layout].
func (c column) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(float32(c)*theme.TextSize(), objects[0].MinSize().Height)
}

// Layout implements [fyne.Layout].
func (c column) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// show lists experiments. A running one shows its progress in place of its state, which the icon says.
func (l *list) show(entries []Entry, chosen string) {
	rows := make([]widgets.Row, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		look := looks[e.State]
		text, tip := look.word, look.word
		if p := e.progress(); p != "" && e.State != Ready && e.State != Complete {
			text, tip = p, look.word+", "+p+" runs"
			if e.Total > mostCounted {
				text = strconv.Itoa(e.Done*100/e.Total) + "%"
			}
		}
		rows = append(rows, widgets.Row{Key: e.Path, Cells: []widgets.Cell{
			{Text: e.Title, Tip: e.Title + "\n" + e.Path},
			{Text: text, Tone: look.tone, Icon: theme.Icon(look.icon), Tip: tip},
		}})
	}
	l.table.SetRows(rows)
	l.table.Select(chosen)
}
