package results

import (
	"fmt"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Limits of what is shown. The export and the report have the rest.
const (
	mostLines  = 4 // events in the chart over the cycles
	mostCharts = 4 // of numbers
	mostBars   = 8 // lists of shares
)

func textSize() float32 { return theme.TextSize() }

// emitted shows what the sessions of a run emitted: events over simulated time, numbers in their data, and shares.
type emitted struct {
	content *fyne.Container
	events  *chart.Bars
	numbers *widgets.Sheet
	numeric *widgets.Panel
	over    [2]*gallery // of cycles with and without simulated time
	shares  *fyne.Container
	none    *form.Note
	some    *fyne.Container
	drawn   *outcomes.Outcomes
	keep    chart.Keep
}

func newEmitted(keep chart.Keep) *emitted {
	e := &emitted{keep: keep, events: chart.NewBars("Events", "The sessions emitted no events.", keep), none: form.NewNote(""), shares: form.NewColumns(chartColumnEms)}
	end := fyne.TextAlignTrailing
	e.numbers = widgets.NewSheet([]widgets.Column{
		{Title: "Event", Sample: "conversation"},
		{Title: "Field", Sample: "frontstore_discount", Weight: 1},
		{Title: "Values", Sample: "100,000", Align: end, Drop: 3},
		{Title: "Mean", Sample: "100,000", Align: end},
		{Title: "Lowest", Sample: "100,000", Align: end, Drop: 2},
		{Title: "Highest", Sample: "100,000", Align: end, Drop: 1},
		{Title: "Sum", Sample: "1,000,000", Align: end},
	}, "", nil)
	e.numeric = widgets.NewPanel("Numbers in events", e.numbers)
	for i := range e.over {
		e.over[i] = newGallery(keep)
		e.over[i].numbers = i == 1
	}
	e.some = form.NewPanels(form.NewColumns(chartColumnEms, widgets.NewPanel("Events", e.events), e.numeric), e.over[0].content, e.over[1].content, e.shares)
	e.content = form.NewPanels(widgets.NewPanel("Outcomes", e.none), e.some)
	return e
}

// show shows the outcomes of a run; nil are not known yet.
func (e *emitted) show(o *outcomes.Outcomes) {
	e.some.Hidden = o == nil || len(o.Events) == 0
	switch {
	case o == nil:
		e.none.SetText("Reading the sessions…")
	case len(o.Events) == 0:
		e.none.SetText("The sessions emitted no events. A step of kind emit records a result, such as an order or an opinion.")
	default:
		e.none.SetText(summary(o))
	}
	if o == nil || o == e.drawn {
		return
	}
	e.drawn = o
	var bars []chart.Bar
	for i := range o.Events {
		bars = append(bars, chart.Bar{Key: o.Events[i].Name, Label: o.Events[i].Name, Value: engine.FormatCount(o.Events[i].Count), Amount: float64(o.Events[i].Count)})
	}
	e.events.Set(bars)
	rows := numberRows(o)
	e.numbers.SetRows(rows)
	e.numeric.Hidden = len(rows) == 0
	charts := overCycles(o)
	timed := o.Clock.Cycle > 0
	e.over[0].content.Hidden, e.over[1].content.Hidden = !timed || len(charts) == 0, timed || len(charts) == 0
	e.over[map[bool]int{true: 0, false: 1}[timed]].set(charts)
	e.setShares(o)
}

// summary describes the outcomes in one sentence.
func summary(o *outcomes.Outcomes) string {
	var all int64
	for i := range o.Events {
		all += o.Events[i].Count
	}
	text := engine.Counted(all, "event", "events") + " from " + engine.Counted(o.Sessions, "session", "sessions")
	if n := len(o.Cycles); n > 1 && o.Clock.Cycle > 0 {
		text += " in " + span(o.Clock.At(o.Cycles[n-1]+1).Sub(o.Clock.At(o.Cycles[0]))) + " of simulated time"
	}
	if o.Cut {
		text += "; further events are in the export"
	}
	return text + "."
}

// span formats a simulated time in days, if it has whole ones, or in hours.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d == day:
		return "1 day"
	case d%day == 0:
		return engine.FormatCount(int64(d/day)) + " days"
	case d == time.Hour:
		return "1 hour"
	case d%time.Hour == 0:
		return engine.FormatCount(int64(d/time.Hour)) + " hours"
	default:
		return engine.FormatDuration(d)
	}
}

func numberRows(o *outcomes.Outcomes) (rows []widgets.Row) {
	for i := range o.Events {
		e := &o.Events[i]
		for k := range e.Numbers {
			n := &e.Numbers[k]
			row := widgets.Row{Key: fmt.Sprint(i, k), Cells: []widgets.Cell{{Text: e.Name}, {Text: n.Field}, {Text: engine.FormatCount(n.Count)}}}
			for _, v := range []float64{n.Mean(), n.Min, n.Max, n.Sum} {
				row.Cells = append(row.Cells, widgets.Cell{Text: view.FormatNumber(v)})
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// overCycles returns the charts over the cycles; none with a single cycle.
func overCycles(o *outcomes.Outcomes) (all []view.Chart) {
	if len(o.Cycles) < 2 {
		return nil
	}
	times := make([]float64, len(o.Cycles))
	about := "in each cycle"
	for i, c := range o.Cycles {
		times[i] = float64(c)
		if o.Clock.Cycle > 0 {
			times[i], about = float64(o.Clock.At(c).Unix()), "in each cycle, over simulated time"
		}
	}
	events := view.Chart{Title: "Events", About: about, Times: times}
	for i := range o.Events[:min(len(o.Events), mostLines)] {
		events.Lines, events.Values = append(events.Lines, o.Events[i].Name), append(events.Values, o.Events[i].PerCycle)
	}
	all = append(all, events)
	for i := range o.Events {
		for k := range o.Events[i].Numbers {
			n := &o.Events[i].Numbers[k]
			if n.Min != n.Max && len(all) <= mostCharts {
				all = append(all, view.Chart{Title: o.Events[i].Name + ": " + n.Field, About: "mean " + about, Lines: []string{n.Field}, Times: times, Values: [][]float64{n.PerCycle}})
			}
		}
	}
	return all
}

// setShares shows the shares of texts and the sessions that acted by attribute.
func (e *emitted) setShares(o *outcomes.Outcomes) {
	e.shares.RemoveAll()
	add := func(title string, rates bool, values []outcomes.Value) {
		if len(e.shares.Objects) == mostBars {
			return
		}
		b := chart.NewBars(title, "", e.keep)
		b.Rates = rates
		var bars []chart.Bar
		for _, v := range values {
			bar := chart.Bar{Key: v.Text, Label: v.Text, Value: engine.FormatCount(v.Count), Amount: float64(v.Count)}
			if rates {
				bar.Value, bar.Amount = v.Describe(), 100*v.Share()
			}
			bars = append(bars, bar)
		}
		b.Set(bars)
		e.shares.Add(widgets.NewPanel(title, b))
	}
	for i := range o.Events {
		for k := range o.Events[i].Shares {
			s := &o.Events[i].Shares[k]
			add(o.Events[i].ShareTitle(s), false, s.Values)
		}
	}
	for i := range o.Groups {
		add(o.GroupTitle(&o.Groups[i]), true, o.Groups[i].Values)
	}
	e.shares.Hidden = len(e.shares.Objects) == 0
	e.shares.Refresh()
}
