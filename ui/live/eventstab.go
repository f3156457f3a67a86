package live

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
)

// eventTab lists the events of the run with their fields, page by page. A click on a row opens its data.
type eventTab struct {
	content fyne.CanvasObject
	screen  *Screen
	body    *fyne.Container
	table   *widgets.Table
	columns []string // of the table: names of fields
	name    *widget.Select
	cycle   *form.Entry
	find    *form.Entry
	place   *widgets.Text
	back    *widget.Button
	next    *widget.Button

	job    *Job
	query  view.EventQuery
	before []view.Cursor
	page   view.Events
	names  []string // of the events that were seen
	read   time.Time
	phase  engine.Phase
	cancel context.CancelFunc // of the read in progress; nil if none
}

func newEventTab(s *Screen) *eventTab {
	t := &eventTab{screen: s, body: container.NewStack(), cycle: form.NewEntry(), find: form.NewEntry(), place: widgets.NewCaption("")}
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
	t.content = widgets.NewPanel("", container.NewBorder(container.NewBorder(nil, nil, filters, hands, form.NewCompact(t.find)), nil, nil, nil, t.body))
	t.build(nil)
	return t
}

// begin shows the events of a job.
func (t *eventTab) begin(job *Job) {
	t.stop()
	t.job, t.before, t.page, t.names, t.read = job, nil, view.Events{}, nil, time.Time{}
	t.query = view.EventQuery{Cycle: -1, Most: eventRows}
	t.name.Options, t.name.Selected, t.cycle.Text, t.find.Text = []string{everyEvent}, everyEvent, "", ""
	t.name.Refresh()
	t.cycle.Refresh()
	t.find.Refresh()
	t.show()
}

// draw reads the page again if it may have changed.
func (t *eventTab) draw(f *feed) {
	ended := f.snap.Phase == engine.Ended && t.phase != engine.Ended
	t.phase = f.snap.Phase
	if until := f.until(); !t.query.Until.Equal(until) {
		t.query.Until, t.read = until, time.Time{}
		t.stop()
	}
	if t.cancel == nil && (t.read.IsZero() || ended || f.snap.Phase != engine.Ended && t.screen.now().Sub(t.read) >= readEvery) {
		t.load()
	}
}

func (t *eventTab) stop() {
	if t.cancel != nil {
		t.cancel()
		t.cancel = nil
	}
}

// load reads the page.
func (t *eventTab) load() {
	job, q := t.job, t.query
	if job == nil || job.Events == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.cancel = cancel
	async.Work(func() (view.Events, error) { return job.Events(ctx, q) }, func(page view.Events, err error) {
		stale := ctx.Err() != nil
		cancel()
		if stale {
			return
		}
		t.cancel, t.read = nil, t.screen.now()
		if err != nil {
			t.table.SetEmpty("Cannot read the events: " + err.Error())
			return
		}
		t.page = page
		t.show()
	})
}

func (t *eventTab) filter() {
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

func (t *eventTab) earlier() {
	if n := len(t.before); n > 0 {
		t.stop()
		t.query.From, t.before = t.before[n-1], t.before[:n-1]
		t.load()
	}
}

func (t *eventTab) later() {
	if t.page.More {
		t.stop()
		t.before, t.query.From = append(t.before, t.query.From), t.page.Next
		t.load()
	}
}

// show shows the page.
func (t *eventTab) show() {
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
	if !slices.Equal(fields, t.columns) {
		t.build(fields)
	}
	rows := make([]widgets.Row, 0, len(t.page.Rows))
	for i := range t.page.Rows {
		if r := t.row(i); contains(r, t.find.Text) {
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

// row returns the row of an event.
func (t *eventTab) row(i int) widgets.Row {
	e := &t.page.Rows[i]
	r := widgets.Row{Key: strconv.Itoa(i), Cells: []widgets.Cell{
		{Text: e.At.Local().Format(time.TimeOnly)}, {Text: strconv.Itoa(e.Cycle)}, {Text: e.ID}, {Text: e.Name},
	}}
	fields := e.Fields()
	for _, name := range t.columns {
		text := ""
		if k := slices.IndexFunc(fields, func(f engine.Fact) bool { return f.Name == name }); k >= 0 {
			text = brief(fields[k].Value)
		}
		r.Cells = append(r.Cells, widgets.Cell{Text: text})
	}
	return r
}

// build makes a table with columns for some fields.
func (t *eventTab) build(fields []string) {
	columns := []widgets.Column{
		{Title: "Time", Sample: "10:02:03"},
		{Title: "Cycle", Sample: "10000", Align: fyne.TextAlignTrailing},
		{Title: "Agent", Sample: "shopper-1000"},
		{Title: "Event", Sample: "order_placed"},
	}
	for i, name := range fields {
		columns = append(columns, widgets.Column{Title: strings.ReplaceAll(name, "_", " "), Sample: "10,000.00", Weight: 1, Drop: len(fields) - i})
	}
	t.columns = fields
	t.table = widgets.NewTable(columns, "No events", leastRows)
	t.table.OnOpened = t.open
	t.body.Objects = []fyne.CanvasObject{t.table}
	t.body.Refresh()
}

// open shows the data of an event.
func (t *eventTab) open(key string) {
	i, err := strconv.Atoi(key)
	if err != nil || i >= len(t.page.Rows) {
		return
	}
	e := t.page.Rows[i]
	var data bytes.Buffer
	if json.Indent(&data, []byte(e.Data), "", "  ") != nil {
		data.WriteString(e.Data)
	}
	text := selectable(fyne.TextWrapBreak)
	text.TextStyle.Monospace = true
	text.SetText(turn.Clip(data.String()))
	agent := widget.NewButton("Show agent", func() {
		t.screen.tabs.reveal("Agents")
		t.screen.agents.open(e.Agent)
	})
	about := words.NewParagraph(t.screen.win, fmt.Sprintf("%s, cycle %d, step %s, %s", e.ID, e.Cycle, e.Step, words.Stamp(e.At)))
	widgets.Tell(t.screen.win, e.Name, container.NewVBox(about, text, container.NewHBox(agent)))
}

// contains reports whether a cell of a row contains a text, regardless of case.
func contains(r widgets.Row, text string) bool {
	text = strings.ToLower(strings.TrimSpace(text))
	return text == "" || slices.ContainsFunc(r.Cells, func(c widgets.Cell) bool { return strings.Contains(strings.ToLower(c.Text), text) })
}
