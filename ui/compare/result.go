package compare

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/picture"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// titles are those of the chart, by axis.
var titles = []string{"Over the cycles", "Over elapsed time", "Over simulated time"}

// units are the units of the figures' charts.
var units = map[Figure]chart.Unit{Counts: chart.Count, Seconds: chart.Duration}

// result shows a comparison: a chart of one figure over the cycles or over time, and the table of measures.
type result struct {
	shown    *Comparison
	over     *widgets.Segments // the chart's axis
	lines    [3][]overlay      // by axis; the figures over time are read when they are wanted
	curves   func(runs []engine.RunID, then func([]*view.Curves, error))
	reading  bool
	reset    *widget.Button // of the zoom
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
	axis int
	unit chart.Unit
	runs int
}

// newResult returns a result without a comparison. curves reads the charts of runs.
func newResult(curves func(runs []engine.RunID, then func([]*view.Curves, error))) *result {
	r := &result{curves: curves, charts: map[drawing]*chart.Chart{}, measured: container.NewStack(), stack: container.NewStack(), method: form.NewNote(""), said: widgets.NewNotice()}
	r.group = chart.NewGroup(r.draw)
	r.over = widgets.NewSegments(axes, func(int) { r.turn() })
	r.reset = widget.NewButtonWithIcon("Reset zoom", theme.ZoomFitIcon(), func() {
		r.group.Reset()
		r.draw()
	})
	r.reset.Hide()
	r.keep = picture.Keep(func() string { return "comparison " + r.measures.Selected }, r.said.Say)
	r.measures = widget.NewSelect(nil, func(string) { r.draw() })
	r.only = widget.NewCheck("Differences only", func(bool) { r.fill() })
	top := widgets.NewPanel("", container.NewBorder(container.NewBorder(nil, nil, r.over, form.NewCompact(r.reset), form.NewFrame(r.measures)), r.said, nil, nil, r.stack))
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
	r.lines = [3][]overlay{overCycles: cycleLines(c)}
	r.turn()
	r.fill()
	r.method.Say(c.Method)
}

// cycleLines returns the figures over the cycles.
func cycleLines(c *Comparison) (all []overlay) {
	var cycles []float64
	for cycle := c.From; cycle < c.To; cycle++ {
		cycles = append(cycles, float64(cycle))
	}
	for _, s := range c.Series {
		all = append(all, overlay{s.Name, units[s.Kind], chart.Data{Times: cycles, Values: s.Values}})
	}
	return all
}

// turn shows the figures over the chosen axis. It reads them first if they are not known.
func (r *result) turn() {
	if r.shown == nil {
		return
	}
	axis, shown := r.over.Chosen(), r.shown
	r.group.Reset()
	r.said.Say("", widgets.Neutral)
	if axis != overCycles && r.lines[overElapsed] == nil {
		r.read(shown)
		return
	}
	lines := r.lines[axis]
	if len(lines) == 0 {
		r.said.Say(map[int]string{overElapsed: "These runs have no metrics. Switch them on in Setup to compare runs over time.", overSimulated: "These runs have no simulated calendar."}[axis], widgets.Neutral)
	}
	var names []string
	for _, l := range lines {
		names = append(names, l.name)
	}
	chosen := r.measures.Selected
	r.measures.Options = names
	switch {
	case slices.Contains(names, chosen):
		r.measures.Refresh()
		r.draw()
	case len(names) > 0:
		r.measures.ClearSelected()
		r.measures.SetSelected(names[0]) // this draws the chart
	default:
		r.measures.ClearSelected()
		for _, o := range r.stack.Objects {
			o.Hide()
		}
	}
}

// read reads the figures over time.
func (r *result) read(c *Comparison) {
	if r.reading {
		return
	}
	r.reading = true
	r.said.Say("Reading the metrics of the runs…", widgets.Neutral)
	ids := make([]engine.RunID, len(c.Runs))
	for i := range c.Runs {
		ids[i] = c.Runs[i].ID
	}
	r.curves(ids, func(all []*view.Curves, err error) {
		r.reading = false
		switch {
		case r.shown != c:
			r.turn()
		case err != nil:
			r.said.Say("Cannot read the metrics of the runs. "+words.Trouble(err), widgets.Warning)
		default:
			r.lines[overElapsed], r.lines[overSimulated] = overlays(all, false), overlays(all, true)
			if r.lines[overElapsed] == nil {
				r.lines[overElapsed] = []overlay{}
			}
			r.turn()
		}
	})
}

// draw shows the chosen figure.
func (r *result) draw() {
	if r.shown == nil {
		return
	}
	axis := r.over.Chosen()
	i := slices.IndexFunc(r.lines[axis], func(l overlay) bool { return l.name == r.measures.Selected })
	if i < 0 {
		return
	}
	l := &r.lines[axis][i]
	d := l.data
	d.From, d.To = r.group.Span(d.From, d.To)
	r.reset.Hidden = !r.group.Zoomed()
	r.reset.Refresh()
	c := r.chart(drawing{axis, l.unit, len(d.Values)})
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
		config := chart.Config{Title: titles[of.axis], Unit: of.unit, Numbers: of.axis == overCycles, Elapsed: of.axis == overElapsed, Keep: r.keep}
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

// names returns the letters and names of the runs.
func (c *Comparison) names() []string {
	all := make([]string, len(c.Runs))
	for i := range c.Runs {
		all[i] = strings.TrimSpace(letter(i) + " " + c.Runs[i].Name)
	}
	return all
}

// columns are those of a table for runs with names. With two runs there is room for the 95% intervals; in a narrow window those of the
// runs are cut, not the differences.
func columns(names []string) []widgets.Column {
	runs := len(names)
	end := fyne.TextAlignTrailing
	value, apart := "0.03091", "+0.03091"
	if runs == 2 {
		apart = "+0.03091 (+0.02385 to +0.03703)"
	}
	all := []widgets.Column{{Title: "Measure", Sample: "order.total", Weight: 1}, {Title: names[0], Sample: value, Align: end, Weight: 2, Clip: true}}
	for i := 1; i < runs; i++ {
		difference := widgets.Column{Title: letter(i) + " − A", Sample: apart, Align: end}
		all = append(all, widgets.Column{Title: names[i], Sample: value, Align: end, Weight: 2, Clip: true}, difference)
	}
	if runs == 2 {
		all = append(all, widgets.Column{Title: "p", Sample: "unknown", Align: end, Drop: 1}) // the badge explains the value
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
