package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/picture"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// units are the units of the figures' charts.
var units = map[Figure]chart.Unit{Counts: chart.Count, Seconds: chart.Duration}

// result shows a comparison: a chart of one figure over the cycles, and the table of measures.
type result struct {
	shown    *Comparison
	measures *widget.Select
	charts   map[drawing]*chart.Chart
	stack    *fyne.Container // of the charts; one is visible
	table    *widgets.Table
	method   *form.Note
	group    *chart.Group // of the charts
	keep     chart.Keep
	said     *widgets.Notice
	content  fyne.CanvasObject
}

// drawing identifies a chart.
type drawing struct {
	figure Figure
	runs   int
}

func newResult() *result {
	r := &result{charts: map[drawing]*chart.Chart{}, stack: container.NewStack(), method: form.NewNote(""), said: widgets.NewNotice()}
	r.group = chart.NewGroup(r.draw)
	r.keep = picture.Keep(func() string { return "comparison " + r.measures.Selected }, r.said.Say)
	r.measures = widget.NewSelect(nil, func(string) { r.draw() })
	end := fyne.TextAlignTrailing
	r.table = widgets.NewTable([]widgets.Column{
		{Title: "Measure", Sample: "order.frontstore_discount", Weight: 1},
		{Title: "Run", Sample: "M"},
		{Title: "Value (95% interval)", Sample: "0.03091 (0.02385 to 0.03703)", Align: end},
		{Title: "Difference from A", Sample: "+0.02464 (+0.01254 to +0.03703)", Align: end},
		{Title: "p", Sample: "unknown", Align: end, Drop: 1}, // the badge explains the value
		{Title: "", Sample: "differs"},
	}, "", 4)
	top := widgets.NewPanel("", container.NewBorder(form.NewFrame(r.measures), r.said, nil, nil, r.stack))
	bottom := widgets.NewPanel("Measures", container.NewBorder(nil, r.method, nil, nil, r.table))
	split := container.NewVSplit(top, bottom)
	split.Offset = 0.42
	r.content = split
	r.content.Hide()
	return r
}

// show shows a comparison; nil hides it.
func (r *result) show(c *Comparison) {
	r.shown = c
	r.group.Reset()
	if c == nil {
		r.content.Hide()
		return
	}
	r.content.Show()
	var names []string
	for _, s := range c.Series {
		names = append(names, s.Name)
	}
	r.measures.Options = names
	if !slices.Contains(names, r.measures.Selected) {
		r.measures.ClearSelected()
		r.measures.SetSelected(names[0]) // this draws the chart
	} else {
		r.measures.Refresh()
		r.draw()
	}
	r.table.SetRows(rows(c))
	r.method.Say(strings.Join(c.Notes, "\n"))
}

// draw shows the chosen figure over the cycles.
func (r *result) draw() {
	if r.shown == nil {
		return
	}
	i := slices.IndexFunc(r.shown.Series, func(s Series) bool { return s.Name == r.measures.Selected })
	if i < 0 {
		return
	}
	s := &r.shown.Series[i]
	d := chart.Data{Values: s.Values}
	for c := r.shown.From; c < r.shown.To; c++ {
		d.Times = append(d.Times, float64(c))
	}
	d.From, d.To = r.group.Span(time.Time{}, time.Time{})
	c := r.chart(drawing{s.Kind, len(s.Values)})
	for _, o := range r.stack.Objects {
		if o != c {
			o.Hide()
		}
	}
	c.Show()
	c.Set(d)
}

// chart returns the chart for a number of runs.
func (r *result) chart(of drawing) *chart.Chart {
	c := r.charts[of]
	if c == nil {
		config := chart.Config{Title: "Over the cycles", Unit: units[of.figure], Numbers: true, Keep: r.keep}
		for i := range of.runs {
			config.Series = append(config.Series, chart.SeriesConfig{Name: letter(i)})
		}
		c = chart.New(config)
		r.group.Add(c)
		r.charts[of] = c
		r.stack.Add(c)
	}
	return c
}

// rows returns the table: for each measure, a row per run.
func rows(c *Comparison) (all []widgets.Row) {
	group := ""
	for _, m := range c.Rows {
		if m.Group != group {
			group = m.Group
			all = append(all, widgets.Row{Key: "group " + group, Cells: []widgets.Cell{{Text: group, Tone: widgets.Quiet}, {}, {}, {}, {}, {}}})
		}
		all = append(all, widgets.Row{Key: group + m.Name, Cells: []widgets.Cell{{Text: m.Name}, {Text: "A"}, {Text: m.First}, {}, {}, {}}})
		for i, o := range m.Others {
			row := widgets.Row{Key: fmt.Sprint(group, m.Name, i), Cells: []widgets.Cell{
				{}, {Text: letter(i + 1)}, {Text: o.Value}, {Text: o.Difference}, {Text: o.Chance}, {},
			}}
			if o.Clear {
				row.Cells[5] = widgets.Cell{Text: "differs", Tone: widgets.Accent, Badge: true}
			}
			all = append(all, row)
		}
	}
	return all
}
