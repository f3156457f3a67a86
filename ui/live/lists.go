package live

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

var errorColumns = []widgets.Column{
	{Title: "Class", Sample: "server_error"},
	{Title: "Count", Sample: "100,000", Align: fyne.TextAlignTrailing},
	{Title: "Cycle", Sample: "10000", Align: fyne.TextAlignTrailing},
	{Title: "Agent", Sample: "shopper-1000"},
	{Title: "Step", Sample: "checkout", Weight: 1},
	{Title: "Message", Sample: "what went wrong", Weight: 4},
}

// outcomes are the ways a session ends, in the order in which they are shown.
var outcomes = []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Cancelled}

// lists are what stands below the charts: one of some tables, and how sessions ended.
type lists struct {
	orders  *orders
	win     fyne.Window
	content fyne.CanvasObject
	all     []*list
	shown   *list
	stack   *fyne.Container
	counts  []*widgets.Text // by outcome
	notes   []engine.ErrorNote
	oldest  []engine.Doing
	cycle   int // the open one
}

// list is a table that can be chosen.
type list struct {
	title  string
	button *widget.Button
	sheet  *widgets.Sheet
	scroll *container.Scroll
	fill   func(s *engine.Snapshot) []widgets.Row
	rows   int
}

func newLists(o *orders) *lists {
	l := &lists{orders: o, win: o.screen.win, stack: container.NewStack()}
	bar := container.NewHBox()
	add := func(title string, columns []widgets.Column, empty string, fill func(*engine.Snapshot) []widgets.Row, tapped func(string)) {
		one := &list{title: title, sheet: widgets.NewSheet(columns, empty, tapped), fill: fill}
		one.scroll = container.NewVScroll(one.sheet)
		one.button = widget.NewButton(title, func() { l.show(one) })
		l.all, bar.Objects = append(l.all, one), append(bar.Objects, one.button)
		l.stack.Objects = append(l.stack.Objects, one.scroll)
	}
	add("Errors by class", errorColumns, "none so far", l.errors, l.explain)
	add("Services", serviceColumns, "none is asked", services, nil)
	add("In flight", oldestColumns, "no session that waits", l.inFlight, l.askAbout)
	add("Changes", changeColumns, "nothing was changed mid-run", changes, nil)
	ended := container.NewGridWithColumns(2)
	for _, o := range outcomes {
		n := widgets.NewText("").Align(fyne.TextAlignTrailing)
		l.counts = append(l.counts, n)
		ended.Objects = append(ended.Objects, widgets.NewText(o.String()), n)
	}
	l.content = container.NewBorder(nil, nil, nil, widgets.NewPanel("Sessions ended", ended),
		widgets.NewPanel("", container.NewBorder(form.NewCompact(bar), nil, nil, nil, l.stack)))
	l.choose(l.all[0])
	return l
}

// choose makes a table the one that is seen.
func (l *lists) choose(chosen *list) {
	l.shown = chosen
	for _, one := range l.all {
		one.button.Importance = widget.LowImportance
		if one == chosen {
			one.scroll.Show()
			one.button.Importance = widget.MediumImportance
		} else {
			one.scroll.Hide()
		}
		one.button.Refresh()
	}
	l.stack.Refresh()
}

func (l *lists) show(chosen *list) {
	l.choose(chosen)
	l.orders.screen.draw()
}

func (l *lists) draw(s *engine.Snapshot) {
	for i, o := range outcomes {
		l.counts[i].SetText(engine.FormatCount(s.Outcomes[o]))
	}
	l.notes, l.oldest, l.cycle = s.Errors, s.Oldest, s.Cycle
	rows := l.shown.fill(s)
	l.shown.sheet.SetRows(rows)
	if l.shown.rows != len(rows) {
		l.shown.rows = len(rows)
		l.shown.scroll.Refresh()
	}
}

func (l *lists) errors(s *engine.Snapshot) []widgets.Row {
	rows := make([]widgets.Row, len(s.Errors))
	for i := range s.Errors {
		n := &s.Errors[i]
		rows[i] = widgets.Row{Key: n.Class.String(), Cells: []widgets.Cell{
			{Text: n.Class.String(), Tone: widgets.Bad},
			{Text: engine.FormatCount(n.Count)},
			{Text: strconv.Itoa(n.Cycle)},
			{Text: n.Who()},
			{Text: n.Path},
			{Text: n.Message, Tone: widgets.Quiet},
		}}
		if !n.Known() {
			rows[i].Cells[2].Text, rows[i].Cells[3].Text, rows[i].Cells[5].Text = "–", "–", "all before the run was resumed"
		}
	}
	return rows
}

// explain shows the whole of a class's last error. As long as the cycle of that session is open, it can run again.
func (l *lists) explain(class string) {
	for i := range l.notes {
		n := &l.notes[i]
		if n.Class.String() != class || !n.Known() {
			continue
		}
		var again *widget.Button
		if n.Cycle == l.cycle && l.orders.phase != engine.Ended {
			again = widget.NewButtonWithIcon("Run this session again", theme.ViewRefreshIcon(), func() { l.orders.requeue(n.Agent, n.Who()) })
		}
		words.ShowError(l.win, n, again)
		return
	}
}
