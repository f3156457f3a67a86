package experiments

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/plot"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// oneLine is the choice of no second factor.
const oneLine = "none"

// responsePage shows a measure over the values of a factor, with a line for each value of a second one.
type responsePage struct {
	of       *shown
	asked    int // number of the newest computation; results of older ones are dropped
	measure  *picker
	factor   *widget.Select
	by       *widget.Select
	filling  bool // the program sets the selections
	about    *form.Note
	curves   *plot.Curves
	content  fyne.CanvasObject
	question *fyne.Container
}

// pickEms is the minimum width of a selection, in text heights.
const pickEms = 11

func newResponsePage(m *measures) *responsePage {
	p := &responsePage{about: form.NewNote(""), curves: plot.NewCurves()}
	p.measure = m.newPicker(func() { p.draw() })
	picked := func(string) {
		if !p.filling {
			p.draw()
		}
	}
	p.factor, p.by = widget.NewSelect(nil, picked), widget.NewSelect(nil, picked)
	field := func(title string, o fyne.CanvasObject) fyne.CanvasObject {
		return container.NewBorder(widgets.NewCaption(title), nil, nil, nil, form.NewFrame(o))
	}
	p.question = form.NewColumns(pickEms, field("Measure", p.measure.field), field("Over", p.factor), field("A line for each", p.by))
	p.content = container.NewVScroll(widgets.NewPanel("", form.NewHeaded(form.NewStack(p.question, p.about), p.curves)))
	return p
}

func (p *responsePage) object() fyne.CanvasObject { return p.content }

func (p *responsePage) show(x *shown) {
	if p.of != x {
		p.of = x
		p.draw()
	}
}

func (p *responsePage) draw() {
	if p.of == nil {
		return
	}
	t := p.of.comparison.Table
	measure := p.measure.index(t)
	_, all := ready(t)
	p.question.Hidden, p.curves.Hidden = true, true
	switch {
	case !all:
		p.about.SetText(provisional(t))
	case len(t.Factors) == 0 || measure < 0:
		p.about.SetText("Nothing varies in this experiment, so there is no response to show.")
	default:
		p.question.Hidden, p.curves.Hidden = false, false
		factor, by := p.factors(t)
		p.compute(t, measure, factor, by)
		text := "Mean with its 95% interval over the seeds."
		if len(t.Factors) > 2 || by < 0 && len(t.Factors) > 1 {
			text = "Mean with its 95% interval over the seeds, averaged over the other factors."
		}
		if more := provisional(t); more != "" {
			text = more + " " + text
		}
		p.about.SetText(text)
	}
	p.content.Refresh()
}

// compute computes the curves on a goroutine of its own, because intervals of many points take long.
func (p *responsePage) compute(t *findings.Table, measure, factor, by int) {
	p.asked++
	asked := p.asked
	async.Work(func() (findings.CurvePlot, error) { return t.Curves(measure, factor, by), nil }, func(c findings.CurvePlot, _ error) {
		if asked == p.asked {
			p.curves.Set(c)
		}
	})
}

// factors returns the chosen factors by index, and shows them; by is -1 for one line. The second one is another than the first.
func (p *responsePage) factors(t *findings.Table) (factor, by int) {
	names := make([]string, len(t.Factors))
	for i := range t.Factors {
		names[i] = t.Factors[i].Name
	}
	factor = max(slices.Index(names, p.factor.Selected), 0)
	setOptions(p.factor, &p.filling, names, factor)
	lines := []string{oneLine}
	for i, name := range names {
		if i != factor {
			lines = append(lines, name)
		}
	}
	at := slices.Index(lines, p.by.Selected)
	if at < 0 { // nothing is chosen yet, or what has become the first factor
		at = 0
		if p.by.Selected == "" && len(lines) > 1 && len(names) == 2 {
			at = 1
		}
	}
	setOptions(p.by, &p.filling, lines, at)
	return factor, slices.Index(names, lines[at])
}
