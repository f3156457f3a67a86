package compare

import (
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
	table    *widgets.Table  // for the runs named; another for others
	named    []string
	measured *fyne.Container // of the table
	only     *widget.Check   // shows only measures with a significant difference
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
	r := &result{charts: map[drawing]*chart.Chart{}, measured: container.NewStack(), stack: container.NewStack(), method: form.NewNote(""), said: widgets.NewNotice()}
	r.group = chart.NewGroup(r.draw)
	r.keep = picture.Keep(func() string { return "comparison " + r.measures.Selected }, r.said.Say)
	r.measures = widget.NewSelect(nil, func(string) { r.draw() })
	r.only = widget.NewCheck("Differences only", func(bool) { r.fill() })
	top := widgets.NewPanel("", container.NewBorder(form.NewFrame(r.measures), r.said, nil, nil, r.stack))
	head := container.NewBorder(nil, nil, widgets.NewHeading("Measures"), r.only)
	bottom := widgets.NewPanel("", container.NewBorder(head, r.method, nil, nil, r.measured))
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
	r.fill()
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

// fill fills the table: a row for each measure, a column for each run.
func (r *result) fill() {
	if r.shown == nil {
		return
	}
	if names := r.shown.names(); r.table == nil || !slices.Equal(names, r.named) {
		r.named = names
		r.table = widgets.NewTable(columns(names), "No measure differs significantly.", 4)
		r.measured.RemoveAll()
		r.measured.Add(r.table)
	}
	r.table.SetRows(rows(r.shown, r.only.Checked))
}

// mostName is the number of letters of a run's name in the head of a column.
const mostName = 16

// names returns the letters and names of the runs.
func (c *Comparison) names() []string {
	all := make([]string, len(c.Runs))
	for i := range c.Runs {
		name := []rune(c.Runs[i].Name)
		if len(name) > mostName {
			name = append(name[:mostName-1], '…')
		}
		all[i] = strings.TrimSpace(letter(i) + " " + string(name))
	}
	return all
}

// columns are those of a table for runs with names. With two runs there is room for the 95% intervals.
func columns(names []string) []widgets.Column {
	runs := len(names)
	end := fyne.TextAlignTrailing
	value := "0.03091 (0.02385 to 0.03703)"
	if runs > 2 {
		value = "0.03091"
	}
	all := []widgets.Column{{Title: "Measure", Sample: "order.frontstore", Weight: 1}, {Title: names[0], Sample: value, Align: end}}
	for i := 1; i < runs; i++ {
		difference := widgets.Column{Title: letter(i) + " − A", Sample: "+" + value, Align: end, Drop: i}
		all = append(all, widgets.Column{Title: names[i], Sample: value, Align: end}, difference)
	}
	if runs == 2 {
		all = append(all, widgets.Column{Title: "p", Sample: "unknown", Align: end, Drop: 2}) // the badge explains the value
	}
	return append(all, widgets.Column{Title: "", Sample: "differs"})
}

// rows returns a row for each measure, below its group. only leaves out measures without a significant difference.
func rows(c *Comparison, only bool) (all []widgets.Row) {
	short := func(text string) string {
		if len(c.Runs) > 2 {
			text, _, _ = strings.Cut(text, " (")
		}
		return text
	}
	width := len(columns(c.names()))
	group := ""
	for _, m := range c.Rows {
		differs := slices.ContainsFunc(m.Others, func(o Cell) bool { return o.Clear })
		if only && !differs {
			continue
		}
		if m.Group != group {
			group = m.Group
			all = append(all, widgets.Row{Key: "group " + group, Cells: append([]widgets.Cell{{Text: group, Tone: widgets.Quiet}}, make([]widgets.Cell, width-1)...)})
		}
		row := widgets.Row{Key: group + m.Name, Cells: []widgets.Cell{{Text: m.Name}, {Text: short(m.First)}}}
		var clear []string
		for i, o := range m.Others {
			difference := widgets.Cell{Text: short(o.Difference)}
			if o.Clear {
				difference.Tone = widgets.Accent
				clear = append(clear, letter(i+1))
			}
			row.Cells = append(row.Cells, widgets.Cell{Text: short(o.Value)}, difference)
			if len(c.Runs) == 2 {
				row.Cells = append(row.Cells, widgets.Cell{Text: o.Chance})
			}
		}
		last := widgets.Cell{}
		if differs {
			last = widgets.Cell{Text: "differs", Tone: widgets.Accent, Badge: true}
			if len(c.Runs) > 2 {
				last.Text = strings.Join(clear, ", ")
			}
		}
		all = append(all, widgets.Row{Key: row.Key, Cells: append(row.Cells, last)})
	}
	return all
}
