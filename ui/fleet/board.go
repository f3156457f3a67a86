package fleet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Board shows the workers of a run: a table with orders for one of them, and charts over time. At a moment of the history, and for the record
// of a run, the table has what the journal knows of them, without orders. It belongs to the UI goroutine.
type Board struct {
	Content fyne.CanvasObject
	// Asked, if set, is called with a sentence on each order's result.
	Asked func(text string, tone widgets.Tone)

	win    fyne.Window
	fleet  Workers
	all    []workers.State
	over   bool // the run has ended
	least  int  // rows that the table has room for
	table  *widgets.Table
	past   *widgets.Table // at a moment of the history
	orders *fyne.Container
	last   *engine.MetricsRow // of earlier processes, with workers; nil if there was none
	note   *widgets.Line
	drain  *widget.Button
	remove *widget.Button
	limit  *widget.Button
	curves *curves
	now    time.Time // of the newest figures
	asking bool      // an order is in progress
}

var columns = []widgets.Column{
	{Title: "Worker", Sample: "local-12 (rack)"},
	{Title: "Status", Sample: "lost 12 s ago: no answer for 3 s", Weight: 1},
	{Title: "Limit", Sample: "128 (max 200)", Align: fyne.TextAlignTrailing},
	{Title: "In flight", Sample: "1,024", Align: fyne.TextAlignTrailing},
	{Title: "Sessions/s", Sample: "1,024", Align: fyne.TextAlignTrailing},
	{Title: "CPU", Sample: "12.8 of 16 cores", Align: fyne.TextAlignTrailing, Drop: 1},
	{Title: "Memory", Sample: "12.8 GB", Align: fyne.TextAlignTrailing, Drop: 2},
	{Title: "Lag", Sample: "12.8 ms", Align: fyne.TextAlignTrailing, Drop: 3},
}

// pastColumns are those of a moment of the history.
var pastColumns = []widgets.Column{
	{Title: "Worker", Sample: "local-12 (rack)", Weight: 1},
	{Title: "In flight", Sample: "1,024", Align: fyne.TextAlignTrailing},
	{Title: "Sessions/s", Sample: "1,024", Align: fyne.TextAlignTrailing},
	{Title: "CPU", Sample: "12.8 cores", Align: fyne.TextAlignTrailing},
}

// Numbers of rows of a table.
const (
	leastRows = 2
	mostRows  = 6
)

// NewBoard returns a board without a fleet; keep says where pictures of its charts are saved.
func NewBoard(win fyne.Window, keep chart.Keep) *Board {
	b := &Board{win: win, note: widgets.NewLine(theme.SizeNameText, widgets.Quiet), curves: newCurves(keep)}
	b.table = widgets.NewTable(columns, "No worker has joined. The run waits for the first one.", leastRows)
	b.table.OnSelected = func(string) { b.enable() }
	b.drain = widget.NewButton("Drain", b.drainWorker)
	b.remove = widget.NewButton("Remove…", b.askRemove)
	b.limit = widget.NewButton("Limit…", b.askLimit)
	b.past = widgets.NewTable(pastColumns, "No worker had joined.", leastRows)
	b.past.Hide()
	b.orders = container.NewHBox(form.NewCompact(b.drain), form.NewCompact(b.limit), form.NewCompact(b.remove))
	head := container.NewBorder(nil, nil, nil, b.orders, container.New(layout.NewCustomPaddedVBoxLayout(0), layout.NewSpacer(), b.note, layout.NewSpacer()))
	b.Content = container.New(&split{}, widgets.NewPanel("", container.NewBorder(head, nil, nil, nil, container.NewStack(b.table, b.past))), b.curves.content)
	b.enable()
	return b
}

// Record is what the journal has of a run: its rows of earlier processes, oldest first. Gap is a pause that breaks the charts.
type Record struct {
	Rows []engine.MetricsRow
	Gap  time.Duration
}

// Begin shows the workers of another run; fleet is nil if it has none now.
func (b *Board) Begin(fleet Workers, r Record) {
	b.fleet, b.all, b.now, b.asking, b.over, b.last = fleet, nil, time.Time{}, false, false, nil
	b.table.SetRows(nil)
	b.curves.begin(r.Gap)
	for i := range r.Rows {
		if m := &r.Rows[i]; len(m.Workers) > 0 || b.last != nil {
			b.curves.add(m.At, m.Workers)
			b.last = m
		}
	}
}

// Offered reports whether the run has a fleet, or had one.
func (b *Board) Offered() bool { return b.fleet != nil || b.last != nil }

// Within sets the page around the board, which the wheel scrolls over the charts.
func (b *Board) Within(page *container.Scroll) {
	b.curves.group.Within(page)
	b.curves.layout.page = page
}

// Workers returns the workers as of the newest figures; nil without a fleet.
func (b *Board) Workers() []workers.State { return b.all }

// everySecond is the shortest time between two rows of figures.
const everySecond = time.Second

// Collect reads the newest figures, at most once a second. Those at the end of the run stay.
func (b *Board) Collect(now time.Time, over bool) {
	b.over = over
	if b.fleet == nil || over && !b.now.IsZero() || now.Sub(b.now) < everySecond {
		return
	}
	b.now = now
	b.all = b.fleet.Workers()
	b.curves.add(now, workers.Samples(b.all))
}

// Draw draws the newest figures with the marks of the run. Without a fleet, they are the last ones of the record.
func (b *Board) Draw(marks []chart.Marker) {
	switch {
	case b.fleet != nil:
	case b.last != nil:
		b.DrawAt(b.last.At, b.last.Workers, marks)
		return
	default:
		return
	}
	b.turn(false)
	rows := make([]widgets.Row, len(b.all))
	for i := range b.all {
		rows[i] = b.row(&b.all[i])
	}
	b.table.SetRows(rows)
	b.fit(b.table, len(rows))
	b.enable()
	b.curves.draw(marks, time.Time{})
}

// DrawAt draws the figures of a moment of the history with the marks up to then.
func (b *Board) DrawAt(at time.Time, all []workers.Sample, marks []chart.Marker) {
	b.turn(true)
	rows := make([]widgets.Row, len(all))
	for i := range all {
		rows[i] = pastRow(&all[i])
	}
	b.past.SetRows(rows)
	b.fit(b.past, len(rows))
	b.note.Set(engine.Counted(int64(len(rows)), "worker", "workers")+" at "+at.Local().Format(time.TimeOnly), widgets.Quiet)
	b.curves.draw(marks, at)
}

// turn shows the table of the present or of the past.
func (b *Board) turn(past bool) {
	if b.past.Visible() == past {
		return
	}
	b.past.Hidden, b.table.Hidden, b.orders.Hidden, b.least = !past, past, past, 0
	b.Content.Refresh()
}

// fit makes room for a number of rows.
func (b *Board) fit(table *widgets.Table, rows int) {
	if least := min(max(rows, leastRows), mostRows); least != b.least {
		b.least = least
		table.SetLeast(least)
		b.Content.Refresh()
	}
}

// pastRow returns the row of a worker at a moment of the history.
func pastRow(w *workers.Sample) widgets.Row {
	return widgets.Row{Key: w.Name, Cells: []widgets.Cell{
		{Text: cmp.Or(w.Name, "other workers")}, {Text: strconv.Itoa(w.InFlight)}, {Text: rate(w.PerSecond)}, {Text: cores(w.CPU, 0)},
	}}
}

// row returns the row of a worker.
func (b *Board) row(w *workers.State) widgets.Row {
	text, tone := status(w, b.now)
	r := widgets.Row{Key: w.Name, Cells: []widgets.Cell{{Text: w.Name, Tip: about(w)}, {Text: text, Tone: tone, Tip: text}}}
	if gone(w) {
		for range len(columns) - len(r.Cells) {
			r.Cells = append(r.Cells, widgets.Cell{Text: unknown, Tone: widgets.Quiet})
		}
		return r
	}
	limit := widgets.Cell{Text: share(w)}
	if w.MaxLimit > 0 {
		limit.Tip = fmt.Sprintf("its share is %d, and you set at most %d", w.Limit, w.MaxLimit)
	}
	return widgets.Row{Key: r.Key, Cells: append(r.Cells, limit,
		widgets.Cell{Text: strconv.Itoa(w.InFlight), Tip: fmt.Sprintf("%d in flight, and %d wait there", w.InFlight, w.Queued)},
		widgets.Cell{Text: rate(w.PerSecond)}, widgets.Cell{Text: cores(w.CPU, w.Cores), Tone: loadTone(w)}, widgets.Cell{Text: memory(w.Memory)}, widgets.Cell{Text: lag(w.Lag)},
	)}
}

// loadTone is the color of a worker's CPU.
func loadTone(w *workers.State) widgets.Tone {
	if health.BusyWorker(w) {
		return widgets.Warning
	}
	return widgets.Neutral
}

// about describes a worker's machine.
func about(w *workers.State) string {
	text := w.Name
	if w.System != "" {
		text += ", " + w.System
	}
	if w.Version != "" {
		text += ", Throng " + w.Version
	}
	if !gone(w) {
		text += "\nmemory " + memory(w.Memory) + ", lag " + lag(w.Lag)
	}
	return text
}

// rate formats sessions per second.
func rate(perSecond float64) string {
	if perSecond < 10 {
		return strconv.FormatFloat(math.Round(perSecond*10)/10, 'f', -1, 64)
	}
	return engine.FormatCount(int64(math.Round(perSecond)))
}

// chosen returns the selected worker; nil if there is none.
func (b *Board) chosen() *workers.State {
	i := slices.IndexFunc(b.all, func(w workers.State) bool { return w.Name == b.table.Selected() })
	if i < 0 {
		return nil
	}
	return &b.all[i]
}

// enable enables the buttons for the selected worker, and says why they are disabled.
func (b *Board) enable() {
	w, text := b.chosen(), ""
	switch {
	case b.over:
		text = "The run has ended. These are its last figures."
	case b.asking:
		text = "Asking the worker…"
	case w == nil:
		text = workers.Summary(b.all) + ". Select one to drain, limit or remove it."
	case w.Status == workers.Lost:
		text = w.Name + " is lost. It can join again by itself."
	case w.Status == workers.Refused:
		text = w.Name + " was refused, so it has no sessions."
	}
	can := text == ""
	switch {
	case !can:
	case w.Status == workers.Draining:
		text = w.Name + " ends its sessions and takes no others."
	default:
		text = w.Name + " is selected."
	}
	b.note.Set(text, widgets.Quiet)
	label := "Drain"
	if w != nil && w.Status == workers.Draining {
		label = "Undrain"
	}
	if b.drain.Text != label {
		b.drain.SetText(label)
		b.orders.Refresh()
	}
	able(b.drain, can)
	able(b.limit, can && w.Status != workers.Draining)
	able(b.remove, can)
}

func able(button *widget.Button, on bool) {
	if button.Disabled() != on {
		return
	}
	if on {
		button.Enable()
	} else {
		button.Disable()
	}
}

// order sends an order in the background, and reports its result.
func (b *Board) order(do func(Workers) error, done string) {
	fleet := b.fleet
	b.asking = true
	b.enable()
	async.Work(func() (struct{}, error) { return struct{}{}, do(fleet) }, func(_ struct{}, err error) {
		if b.fleet != fleet { // another run started meanwhile
			return
		}
		b.asking = false
		b.all = fleet.Workers()
		b.enable()
		switch {
		case b.Asked == nil:
		case err != nil:
			b.Asked("Nothing has changed: "+err.Error()+".", widgets.Bad)
		default:
			b.Asked(done, widgets.Good)
		}
	})
}

// split puts the charts below the table.
type split struct{}

// leastCharts is the minimum height of the charts, in text sizes.
const leastCharts = 12

// MinSize implements [fyne.Layout].
func (*split) MinSize(objects []fyne.CanvasObject) fyne.Size {
	table, charts := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(max(table.Width, charts.Width), table.Height+theme.Padding()+max(charts.Height, leastCharts*theme.TextSize()))
}

// Layout implements [fyne.Layout].
func (*split) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	high := objects[0].MinSize().Height
	objects[0].Move(fyne.NewPos(0, 0))
	objects[0].Resize(fyne.NewSize(size.Width, high))
	y := high + theme.Padding()
	objects[1].Move(fyne.NewPos(0, y))
	objects[1].Resize(fyne.NewSize(size.Width, size.Height-y))
}
