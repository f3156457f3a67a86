package live

import (
	"fmt"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

var errorColumns = []widgets.Column{
	{Title: "Class", Sample: "server_error"},
	{Title: "Count", Sample: "100,000", Align: fyne.TextAlignTrailing},
	{Title: "Cycle", Sample: "10000", Align: fyne.TextAlignTrailing, Drop: 1},
	{Title: "Agent", Sample: "shopper-1000", Drop: 2},
	{Title: "Step", Sample: "checkout", Weight: 1},
	{Title: "Message", Sample: "connection refused", Weight: 4},
}

// outcomes are the ways a session ends, in display order.
var outcomes = []engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Canceled}

// lists are the tables below the charts, one at a time, and the counts of outcomes.
type lists struct {
	orders  *orders
	win     fyne.Window
	content fyne.CanvasObject
	all     []*list
	shown   *list
	tabs    *widgets.Segments
	stack   *fyne.Container
	counts  []*widgets.Text // by outcome
	of      *widgets.Text   // what the counts cover
	line    *fyne.Container // the row of counts
	head    *fyne.Container // above the table: the tabs and the counts
	notes   []engine.ErrorNote
	oldest  []engine.Activity
	cycle   int // the current one
}

// list is one of the tables.
type list struct {
	title  string
	sheet  *widgets.Sheet
	scroll *container.Scroll
	fill   func(f *feed) []widgets.Row
	empty  string
	past   string // empty text in the history, where past moments have no rows
	rows   int
}

// leastRows is the minimum number of visible rows in a table.
const leastRows = 3

func newLists(o *orders) *lists {
	l := &lists{orders: o, win: o.screen.win, stack: container.NewStack()}
	add := func(title string, columns []widgets.Column, empty string, fill func(*feed) []widgets.Row, tapped func(string)) *list {
		one := &list{title: title, sheet: widgets.NewSheet(columns, empty, tapped), fill: fill, empty: empty, past: empty}
		one.scroll = container.NewVScroll(one.sheet)
		l.all = append(l.all, one)
		l.stack.Add(one.scroll)
		return one
	}
	add("Errors", errorColumns, "No errors", l.errors, l.explain)
	add("Figures", figureColumns, "No figures yet", l.figures, nil)
	add("Services", serviceColumns, "No services", l.services, nil).past = "No history of services; see the charts for requests and 429s"
	add("In flight", oldestColumns, "No session is waiting", l.inFlight, l.askAbout).past = "No session is known to have been in flight"
	add("Time", words.OverheadColumns("Time goes to"), "First figures in a few seconds", overheadRows, nil).past = "No data for that time"
	l.tabs = widgets.NewSegments(nil, func(i int) { l.show(l.all[i]) })
	l.line = l.outcomes()
	l.head = container.New(&leftRight{least: 27}, container.NewHBox(l.tabs), l.line)
	l.content = widgets.NewPanel("", container.NewBorder(l.head, nil, nil, nil, container.New(roomFor(leastRows), l.stack)))
	l.name(nil)
	l.choose(l.all[0])
	return l
}

// outcomes returns the row of counts by outcome.
func (l *lists) outcomes() *fyne.Container {
	l.of = widgets.NewCaption("")
	line := container.NewHBox(l.of)
	for _, o := range outcomes {
		n := widgets.NewCaption("")
		l.counts = append(l.counts, n)
		line.Add(container.New(layout.NewCustomPaddedHBoxLayout(theme.Padding()), widgets.NewCaption("·  "+view.OutcomeText(o)), n))
	}
	return line
}

// count shows the counts. The row is laid out again if a count has become wider.
func (l *lists) count(f *feed) {
	before := l.of.Text()
	of := "Completed sessions"
	if f.past {
		of = fmt.Sprintf("Completed in cycle %d", f.snap.Cycle)
	}
	l.of.SetText(of)
	moved := before != of
	for i, o := range outcomes {
		text := engine.FormatCount(f.snap.Outcomes[o])
		if was := l.counts[i].Text(); was != text {
			l.counts[i].SetText(text)
			moved = moved || len(was) != len(text)
		}
		if (o == engine.Failed || o == engine.TimedOut) && f.snap.Outcomes[o] > 0 {
			l.counts[i].SetColor(widgets.Bad.Color())
		} else {
			l.counts[i].SetColor(theme.ColorNameForeground)
		}
	}
	if moved {
		for _, o := range l.line.Objects {
			o.Refresh()
		}
		l.line.Refresh()
		l.head.Refresh()
	}
}

// choose shows one of the tables.
func (l *lists) choose(chosen *list) {
	l.shown = chosen
	for i, one := range l.all {
		if one == chosen {
			one.scroll.Show()
			l.tabs.Choose(i)
		} else {
			one.scroll.Hide()
		}
	}
	l.stack.Refresh()
}

func (l *lists) show(chosen *list) {
	l.choose(chosen)
	l.orders.screen.draw()
}

// name shows counts of problems in the tabs' names.
func (l *lists) name(s *engine.Snapshot) {
	names := make([]string, len(l.all))
	for i, one := range l.all {
		names[i] = one.title
	}
	if s != nil && len(s.Errors) > 0 {
		names[0] += " " + short(bad(s))
	}
	l.tabs.SetOptions(names)
}

func (l *lists) draw(f *feed) {
	s := f.snap
	l.count(f)
	l.name(s)
	l.notes, l.oldest, l.cycle = s.Errors, s.Oldest, s.Cycle
	l.shown.draw(f)
}

func (one *list) draw(f *feed) {
	empty := one.empty
	if f.past {
		empty = one.past
	}
	one.sheet.SetEmpty(empty)
	rows := one.fill(f)
	one.sheet.SetRows(rows)
	if one.rows != len(rows) {
		one.rows = len(rows)
		one.scroll.Refresh()
	}
}

func (l *lists) errors(f *feed) []widgets.Row {
	s, before := f.snap, "before the run was resumed"
	if f.past {
		before = "in an earlier cycle"
	}
	rows := make([]widgets.Row, len(s.Errors))
	for i := range s.Errors {
		n := &s.Errors[i]
		rows[i] = widgets.Row{Key: n.Class.String(), Cells: []widgets.Cell{
			{Text: n.Class.String(), Tone: widgets.Bad},
			{Text: engine.FormatCount(n.Count)},
			{Text: strconv.Itoa(n.Cycle)},
			{Text: n.AgentName()},
			{Text: n.Path},
			{Text: n.Message, Tone: widgets.Quiet},
		}}
		if !n.Known() {
			rows[i].Cells[2].Text, rows[i].Cells[3].Text, rows[i].Cells[5].Text = "–", "–", before
		}
	}
	return rows
}

// explain shows the last error of a class in full, with a button that opens its agent. The user can run its session again during the
// session's cycle.
func (l *lists) explain(class string) {
	for i := range l.notes {
		n := &l.notes[i]
		if n.Class.String() != class || !n.Known() {
			continue
		}
		do := []*widget.Button{widget.NewButtonWithIcon("Show agent", theme.AccountIcon(), func() {
			l.orders.screen.tabs.reveal("Agents")
			l.orders.screen.agents.open(n.Agent)
		})}
		if n.Cycle == l.cycle && l.orders.open() {
			do = append(do, widget.NewButtonWithIcon("Run this session again", theme.ViewRefreshIcon(), func() { l.orders.requeue(n.Agent, n.AgentName()) }))
		}
		words.ShowErrors(l.win, []engine.ErrorNote{*n}, do...)
		return
	}
}
