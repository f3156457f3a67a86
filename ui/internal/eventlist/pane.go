// Package eventlist lists the events of a run.
package eventlist

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/turn"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

const (
	eventRows = 200 // on a page
	// eventFields is how many fields of the data have a column.
	eventFields = 6
	everyEvent  = "All events"
	cycleEms    = 6.5 // width of the field for a cycle
	leastRows   = 3   // of the table
	readEvery   = 2 * time.Second
)

// Read reads a page of the events of a run. It is not called on the UI goroutine.
type Read func(ctx context.Context, q view.EventQuery) (view.Events, error)

// Pane lists the events of a run with their fields, page by page. A click on a row opens its data.
type Pane struct {
	Content fyne.CanvasObject
	// OnAgent, if it is set, opens the agent of an event.
	OnAgent func(agent int)

	win     fyne.Window
	now     func() time.Time
	body    *fyne.Container
	table   *widgets.Table
	columns []string // of the table: names of fields
	numbers []bool   // of the columns: all values are numbers
	name    *widget.Select
	cycle   *form.Entry
	find    *form.Entry
	place   *widgets.Text
	back    *widget.Button
	next    *widget.Button

	from   Read // nil: no run
	query  view.EventQuery
	before []view.Cursor
	page   view.Events
	names  []string // of the events that were seen
	read   time.Time
	live   bool               // the run was in progress
	cancel context.CancelFunc // of the read in progress; nil if none
}

// New returns a pane for no run.
func New(win fyne.Window, now func() time.Time) *Pane {
	t := &Pane{win: win, now: now, body: container.NewStack(), cycle: form.NewEntry(), find: form.NewEntry(), place: widgets.NewCaption("")}
	t.name = widget.NewSelect([]string{everyEvent}, nil)
	t.name.Selected = everyEvent
	t.name.OnChanged = func(string) { t.filter() }
	t.cycle.SetPlaceHolder("Cycle")
	t.cycle.OnChanged = func(string) { t.filter() }
	t.find.SetPlaceHolder("Find on this page")
	t.find.OnChanged = func(string) { t.show() }
	t.back = widget.NewButtonWithIcon("Earlier", theme.NavigateBackIcon(), t.earlier)
	t.next = widget.NewButtonWithIcon("Later", theme.NavigateNextIcon(), t.later)
	t.next.IconPlacement = widget.ButtonIconTrailingText
	filters := container.NewHBox(form.NewCompact(form.NewFrame(t.name)), form.NewWide(cycleEms, form.NewCompact(t.cycle)))
	hands := container.NewHBox(container.NewCenter(t.place), form.NewCompact(t.back), form.NewCompact(t.next))
	t.Content = widgets.NewPanel("", container.NewBorder(container.NewBorder(nil, nil, filters, hands, form.NewCompact(t.find)), nil, nil, nil, t.body))
	t.build(nil, nil)
	return t
}

// Open shows the events of a run; nil shows none.
func (t *Pane) Open(from Read) {
	t.stop()
	t.from, t.before, t.page, t.names, t.read = from, nil, view.Events{}, nil, time.Time{}
	t.query = view.EventQuery{Cycle: -1, Most: eventRows}
	t.name.Options, t.name.Selected, t.cycle.Text, t.find.Text = []string{everyEvent}, everyEvent, "", ""
	t.name.Refresh()
	t.cycle.Refresh()
	t.find.Refresh()
	t.show()
}

// Draw reads the page again if it may have changed. until is a moment of the history; the zero time is now. live says that the run is in
// progress.
func (t *Pane) Draw(until time.Time, live bool) {
	ended := t.live && !live
	t.live = live
	if !t.query.Until.Equal(until) {
		t.query.Until, t.read = until, time.Time{}
		t.stop()
	}
	if t.cancel == nil && (t.read.IsZero() || ended || live && t.now().Sub(t.read) >= readEvery) {
		t.load()
	}
}

// Loading reports whether a page is being read.
func (t *Pane) Loading() bool { return t.cancel != nil }

func (t *Pane) stop() {
	if t.cancel != nil {
		t.cancel()
		t.cancel = nil
	}
}

// load reads the page.
func (t *Pane) load() {
	from, q := t.from, t.query
	if from == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	async.Work(func() (view.Events, error) { return from(ctx, q) }, func(page view.Events, err error) {
		stale := ctx.Err() != nil
		cancel()
		if stale {
			return
		}
		t.cancel, t.read = nil, t.now()
		if err != nil {
			t.table.SetEmpty("Cannot read the events: " + err.Error())
			return
		}
		t.page = page
		t.show()
	})
}

func (t *Pane) filter() {
	name, cycle := t.name.Selected, -1
	if name == everyEvent {
		name = ""
	}
	if n, err := strconv.Atoi(strings.TrimSpace(t.cycle.Text)); err == nil && n >= 0 {
		cycle = n
	}
	if name != t.query.Name || cycle != t.query.Cycle {
		t.stop()
		t.before, t.query.From, t.query.Name, t.query.Cycle = nil, view.Cursor{}, name, cycle
		t.load()
	}
}

func (t *Pane) earlier() {
	if n := len(t.before); n > 0 {
		t.stop()
		t.query.From, t.before = t.before[n-1], t.before[:n-1]
		t.load()
	}
}

func (t *Pane) later() {
	if t.page.More {
		t.stop()
		t.before, t.query.From = append(t.before, t.query.From), t.page.Next
		t.load()
	}
}

// show shows the page.
func (t *Pane) show() {
	var fields []string
	for i := range t.page.Rows {
		e := &t.page.Rows[i]
		if !slices.Contains(t.names, e.Name) {
			t.names = append(t.names, e.Name)
			slices.Sort(t.names)
		}
		for _, f := range e.Fields() {
			if len(fields) < eventFields && !slices.Contains(fields, f.Name) {
				fields = append(fields, f.Name)
			}
		}
	}
	if all := append([]string{everyEvent}, t.names...); !slices.Equal(all, t.name.Options) {
		t.name.Options = all
		t.name.Refresh()
	}
	if numbers := t.numeric(fields); !slices.Equal(fields, t.columns) || !slices.Equal(numbers, t.numbers) {
		t.build(fields, numbers)
	}
	rows := make([]widgets.Row, 0, len(t.page.Rows))
	for i := range t.page.Rows {
		if r := t.row(i); r.Contains(t.find.Text) {
			rows = append(rows, r)
		}
	}
	t.table.SetRows(rows)
	place := ""
	if t.page.More || len(t.before) > 0 {
		place = fmt.Sprintf("Page %d", len(t.before)+1)
	}
	t.place.SetText(place)
	enable(t.back, len(t.before) > 0)
	enable(t.next, t.page.More)
}

// numeric reports which fields have only numbers on the page.
func (t *Pane) numeric(fields []string) []bool {
	all := make([]bool, len(fields))
	for i, name := range fields {
		all[i] = true
		for k := range t.page.Rows {
			for _, f := range t.page.Rows[k].Fields() {
				if _, err := strconv.ParseFloat(f.Value, 64); f.Name == name && err != nil {
					all[i] = false
				}
			}
		}
	}
	return all
}

// row returns the row of an event.
func (t *Pane) row(i int) widgets.Row {
	e := &t.page.Rows[i]
	r := widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{
		{Text: e.At.Local().Format(time.TimeOnly)}, {Text: strconv.Itoa(e.Cycle)}, {Text: e.ID}, {Text: e.Name},
	}}
	fields := e.Fields()
	for _, name := range t.columns {
		text := ""
		if k := slices.IndexFunc(fields, func(f engine.Fact) bool { return f.Name == name }); k >= 0 {
			text = words.Brief(fields[k].Value)
		}
		r.Cells = append(r.Cells, widgets.Cell{Text: text})
	}
	return r
}

// build makes a table with columns for some fields; those with numbers are aligned at the right.
func (t *Pane) build(fields []string, numbers []bool) {
	columns := []widgets.Column{
		{Title: "Time", Sample: "10:02:03"},
		{Title: "Cycle", Sample: "10000", Align: fyne.TextAlignTrailing},
		{Title: "Agent", Sample: "shopper-1000"},
		{Title: "Event", Sample: "order_placed"},
	}
	for i, name := range fields {
		align := fyne.TextAlignLeading
		if numbers[i] {
			align = fyne.TextAlignTrailing
		}
		columns = append(columns, widgets.Column{Title: strings.ReplaceAll(name, "_", " "), Sample: "10,000.00", Weight: 1, Align: align, Drop: len(fields) - i})
	}
	t.columns, t.numbers = fields, numbers
	t.table = widgets.NewTable(columns, "No events", leastRows)
	t.table.OnOpened = t.open
	t.body.Objects = []fyne.CanvasObject{t.table}
	t.body.Refresh()
}

// open shows the data of an event.
func (t *Pane) open(key string) {
	i, err := strconv.Atoi(key)
	if err != nil || i >= len(t.page.Rows) {
		return
	}
	e := t.page.Rows[i]
	var data bytes.Buffer
	if json.Indent(&data, []byte(e.Data), "", "  ") != nil {
		data.WriteString(e.Data)
	}
	text := widget.NewLabel(turn.Clip(data.String()))
	text.Selectable, text.Wrapping, text.TextStyle.Monospace = true, fyne.TextWrapBreak, true
	about := words.NewParagraph(t.win, fmt.Sprintf("%s, cycle %d, step %s, %s", e.ID, e.Cycle, e.Step, words.Stamp(e.At)))
	parts := container.NewVBox(about, text)
	if t.OnAgent != nil {
		parts.Add(container.NewHBox(widget.NewButton("Show agent", func() { t.OnAgent(e.Agent) })))
	}
	widgets.Tell(t.win, e.Name, parts)
}

// enable enables or disables a button, if its state differs.
func enable(b *widget.Button, on bool) {
	switch {
	case b.Disabled() == !on:
	case on:
		b.Enable()
	default:
		b.Disable()
	}
}
