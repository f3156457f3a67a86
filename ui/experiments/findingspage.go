package experiments

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/plot"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// findingsPage says what the experiment found, a sentence for each measure, and shows the effects on one of them.
type findingsPage struct {
	of        *shown
	notice    *widgets.Notice
	real      *realPanel
	sentences *fyne.Container
	said      []findings.Sentence // shown
	told      *widgets.Panel
	measure   *picker
	about     *form.Note
	effects   *plot.Rows
	plotted   *widgets.Panel
	table     *widgets.Sheet
	rest      *form.Note // about the points that the table leaves out
	tabled    *widgets.Panel
	scroll    *container.Scroll
}

// mostPoints is the maximum number of points in the table; exports have all.
const mostPoints = 100

func newFindingsPage(m *measures) *findingsPage {
	p := &findingsPage{notice: widgets.NewNotice(), real: newRealPanel(), sentences: form.NewStack(), about: form.NewNote(""), effects: plot.NewRows(), rest: form.NewNote("")}
	p.measure = m.newPicker(func() { p.draw() })
	end := fyne.TextAlignTrailing
	p.table = widgets.NewSheet([]widgets.Column{
		{Title: "Point", Sample: "eagerness=0.5", Weight: 1},
		{Title: "Runs", Sample: "1,000", Align: end, Drop: 1},
		{Title: "Mean [95%]", Sample: "0.02419 s [0.01161, 0.03677]", Align: end, Drop: 2},
		{Title: "Difference [95%]", Sample: "+0.05011 [-0.05109, +0.04911]", Align: end},
		{Title: "p", Sample: "< 0.001", Align: end},
	}, "", nil)
	p.told = widgets.NewPanel("", p.sentences)
	p.plotted = widgets.NewPanel("", form.NewStack(p.measure.wide(), p.about, p.effects))
	p.tabled = widgets.NewPanel("Estimates", form.NewStack(p.table, p.rest))
	p.scroll = container.NewVScroll(form.NewPanels(p.notice, p.real.panel, p.told, p.plotted, p.tabled))
	return p
}

func (p *findingsPage) object() fyne.CanvasObject { return p.scroll }

func (p *findingsPage) show(x *shown) {
	if p.of != x {
		p.of = x
		p.draw()
	}
}

func (p *findingsPage) draw() {
	if p.of == nil {
		return
	}
	c := p.of.comparison
	t := c.Table
	text := provisional(t)
	p.notice.Say(text, widgets.Accent)
	_, all := ready(t)
	measure := p.measure.index(t)
	if all {
		p.real.show(p.of.real)
	} else {
		p.real.show(nil)
	}
	for _, part := range []*widgets.Panel{p.told, p.plotted, p.tabled} {
		part.Hidden = !all || measure < 0
	}
	if all && measure >= 0 {
		p.said = tell(p.sentences, p.said, p.of.sentences, "differs", func(i int) { p.pick(p.of.sentences[i].Measure) })
		e := c.Effects(measure)
		p.about.SetText(caption(&e))
		p.effects.SetEffects(e)
		p.fill(measure)
	}
	p.scroll.Content.Refresh()
	p.scroll.Refresh()
}

// caption describes the plot.
func caption(e *findings.EffectPlot) string {
	if e.Baseline == "" {
		return "Mean at each point with its 95% interval."
	}
	in := ""
	if e.Unit == findings.PercentagePoints {
		in = " in " + e.Unit
	}
	return "Difference from " + e.Baseline + in + " with its 95% interval. Filled: significant, corrected for all points and measures."
}

// pick shows a measure by its index.
func (p *findingsPage) pick(measure int) {
	if t := p.of.comparison.Table; measure >= 0 && measure < len(t.Measures) {
		p.measure.of.chosen = t.Measures[measure].Name
		p.draw()
	}
}

// fill fills the table with the estimates of a measure.
func (p *findingsPage) fill(measure int) {
	c := p.of.comparison
	row, m := &c.Rows[measure], &c.Table.Measures[measure]
	rows := make([]widgets.Row, 0, min(len(row.Estimates), mostPoints))
	for point := range row.Estimates {
		if len(rows) == mostPoints {
			break
		}
		e := &row.Estimates[point]
		cells := []widgets.Cell{{Text: c.Table.Points[point].Label, Tip: c.Table.Points[point].Label}, {Text: figures.Count(int64(e.N))}, {Text: m.Range(e.Mean, e.Interval), Tip: e.Interval.Note}}
		if d := c.Difference(row, point); d != nil {
			difference := widgets.Cell{Text: findings.Change(d), Tip: d.Note}
			if d.Clear() {
				difference.Tone = widgets.Accent
			}
			cells = append(cells, difference, widgets.Cell{Text: findings.Chance(d.Adjusted)})
		} else if point == c.Baseline {
			cells = append(cells, widgets.Cell{Text: "baseline", Tone: widgets.Quiet})
		}
		rows = append(rows, widgets.Row{Key: fmt.Sprint(point), Cells: cells})
	}
	p.table.SetRows(rows)
	sayRest(p.rest, len(rows), len(row.Estimates))
}

// sayRest says how many points a table leaves out.
func sayRest(n *form.Note, rows, points int) {
	n.Hidden = rows == points
	n.SetText(fmt.Sprintf("The first %d of %d points. An export has all.", rows, points))
}
