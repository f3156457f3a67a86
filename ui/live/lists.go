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

// lists are the tables of what happened, and how sessions ended: one table of them below the charts, or all beside them.
type lists struct {
	orders  *orders
	win     fyne.Window
	content *fyne.Container
	below   fyne.CanvasObject // one table
	aside   fyne.CanvasObject // all
	all     []*list
	shown   *list
	tabs    *widgets.Segments
	stack   *fyne.Container
	spreads bool
	counts  []*widgets.Text // by outcome
	of      *widgets.Text   // what the counts are of
	line    *fyne.Container // of the counts
	head    *fyne.Container // above the table: the tabs and the counts
	top     *fyne.Container // above all tables: the counts
	notes   []engine.ErrorNote
	oldest  []engine.Doing
	cycle   int // the open one
}

// list is a table that can be chosen.
type list struct {
	title  string
	sheet  *widgets.Sheet
	scroll *container.Scroll
	place  *fyne.Container // where it stands among all
	fill   func(f *feed) []widgets.Row
	empty  string
	past   string // what is said where moments of the past have no rows
	rows   int
}

// leastRows is for how many rows of a table there is room.
const leastRows = 2

func newLists(o *orders) *lists {
	l := &lists{orders: o, win: o.screen.win, stack: container.NewStack()}
	add := func(title string, columns []widgets.Column, empty string, fill func(*feed) []widgets.Row, tapped func(string)) *list {
		one := &list{title: title, sheet: widgets.NewSheet(columns, empty, tapped), fill: fill, empty: empty, past: empty, place: container.NewStack()}
		one.scroll = container.NewVScroll(one.sheet)
		l.all = append(l.all, one)
		return one
	}
	add("Errors", errorColumns, "none so far", l.errors, l.explain)
	add("Services", serviceColumns, "none is asked", l.services, nil).past = "what services did is not kept; the charts tell of requests and 429s"
	add("In flight", oldestColumns, "no session that waits", l.inFlight, l.askAbout).past = "no session was in flight, as far as is known"
	add("Changes", changeColumns, "nothing was changed mid-run", changes, nil)
	add("Events", eventColumns, "no session has emitted one yet", events, nil)
	add("Time", words.OverheadColumns("Time goes to"), "the first figures come within seconds", overheadRows, nil).past = "nothing is known of that time"
	l.tabs = widgets.NewSegments(nil, func(i int) { l.show(l.all[i]) })
	l.line = l.outcomes()
	l.head, l.top = container.New(&beside{least: 27}, container.NewHBox(l.tabs), l.line), container.NewStack()
	l.below = widgets.NewPanel("", container.NewBorder(l.head, nil, nil, nil, container.New(roomFor(leastRows), l.stack)))
	l.aside = container.NewBorder(l.top, nil, nil, nil, container.New(evenly{}, l.panels()...))
	l.content = container.NewStack(l.below, l.aside)
	l.aside.Hide()
	l.name(nil)
	l.gather()
	l.choose(l.all[0])
	return l
}

// outcomes are the counts of how sessions ended, in a line.
func (l *lists) outcomes() *fyne.Container {
	l.of = widgets.NewCaption("")
	line := container.NewHBox(l.of)
	for _, o := range outcomes {
		n := widgets.NewCaption("")
		l.counts = append(l.counts, n)
		line.Add(container.New(layout.NewCustomPaddedHBoxLayout(theme.Padding()), widgets.NewCaption("·  "+o.String()), n))
	}
	return line
}

// count shows how sessions ended. What is longer now moves what stands behind it.
func (l *lists) count(f *feed) {
	before := l.of.Text()
	of := "Sessions ended"
	if f.past {
		of = fmt.Sprintf("Ended in cycle %d", f.snap.Cycle)
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

// panels are all tables with their titles.
func (l *lists) panels() (all []fyne.CanvasObject) {
	for _, one := range l.all {
		all = append(all, widgets.NewPanel(one.title, one.place))
	}
	return all
}

// spread shows all tables beside the charts, or one below them.
func (l *lists) spread(all bool) {
	if l.spreads == all {
		return
	}
	l.spreads = all
	l.gather()
	l.below.(*widgets.Panel).Hidden, l.aside.(*fyne.Container).Hidden = all, !all
	l.content.Refresh()
	l.orders.screen.draw()
}

// gather puts the tables where they are shown.
func (l *lists) gather() {
	l.stack.Objects, l.top.Objects, l.head.Objects = nil, nil, l.head.Objects[:1]
	if l.spreads {
		l.top.Objects = []fyne.CanvasObject{widgets.NewPanel("", l.line)}
	} else {
		l.head.Objects = append(l.head.Objects, l.line)
	}
	for _, one := range l.all {
		one.place.Objects = nil
		if l.spreads {
			one.scroll.Show()
			one.place.Objects = []fyne.CanvasObject{one.scroll}
		} else {
			l.stack.Objects = append(l.stack.Objects, one.scroll)
		}
		one.place.Refresh()
	}
	if !l.spreads && l.shown != nil {
		l.choose(l.shown)
	}
	l.stack.Refresh()
}

// choose makes a table the one that is seen.
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

// name says how much there is behind the tabs, where that tells of trouble.
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
	for _, one := range l.all {
		if l.spreads || one == l.shown {
			one.draw(f)
		}
	}
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
	s, before := f.snap, "all before the run was resumed"
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
			{Text: n.Who()},
			{Text: n.Path},
			{Text: n.Message, Tone: widgets.Quiet},
		}}
		if !n.Known() {
			rows[i].Cells[2].Text, rows[i].Cells[3].Text, rows[i].Cells[5].Text = "–", "–", before
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
		if n.Cycle == l.cycle && l.orders.open() {
			again = widget.NewButtonWithIcon("Run this session again", theme.ViewRefreshIcon(), func() { l.orders.requeue(n.Agent, n.Who()) })
		}
		words.ShowError(l.win, n, again)
		return
	}
}
