package experiments

import (
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/plot"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// factorsPage shows how much each factor matters for a measure.
type factorsPage struct {
	of        *shown
	asked     int // number of the newest analysis; results of older ones are dropped
	measure   *picker
	about     *form.Note
	rows      *plot.Rows
	screening *plot.Screening
	note      *form.Note
	content   fyne.CanvasObject
}

func newFactorsPage(m *measures) *factorsPage {
	p := &factorsPage{about: form.NewNote(""), rows: plot.NewRows(), screening: plot.NewScreening(), note: form.NewNote("")}
	p.measure = m.newPicker(func() { p.draw() })
	plots := container.NewStack(container.NewVScroll(p.rows), p.screening)
	p.content = widgets.NewPanel("", form.NewHeaded(form.NewStack(p.measure.wide(), p.about, p.note), plots))
	p.empty("")
	return p
}

func (p *factorsPage) object() fyne.CanvasObject { return p.content }

func (p *factorsPage) show(x *shown) {
	if p.of != x {
		p.of = x
		p.draw()
	}
}

// empty says why there is no analysis.
func (p *factorsPage) empty(why string) {
	p.about.SetText(why)
	p.rows.Hide()
	p.screening.Hide()
	p.note.Hide()
	p.content.Refresh()
}

// draw analyzes the chosen measure on a goroutine of its own, because intervals of indices take long.
func (p *factorsPage) draw() {
	if p.of == nil {
		return
	}
	t := p.of.comparison.Table
	measure := p.measure.index(t)
	p.asked++
	asked := p.asked
	if len(t.Factors) < 2 || measure < 0 {
		p.empty(reason(t))
		return
	}
	async.Work(func() (*findings.Sensitivity, error) { return findings.Analyze(t, measure) }, func(s *findings.Sensitivity, err error) {
		switch {
		case asked != p.asked:
		case err != nil:
			p.empty("There is no analysis. " + words.Trouble(err))
		case s == nil:
			p.empty(reason(t))
		default:
			p.plot(s)
			if more := provisional(t); more != "" {
				p.about.SetText(more + " " + p.about.Text())
			}
		}
	})
}

// methods describe the figures of a method.
var methods = map[findings.SensitivityKind]string{
	findings.Screening: "Morris screening: factors at the right matter more, and the higher ones act unevenly or with others.",
	findings.Indices:   "Sobol indices: the share of the variance that a factor explains alone, and with its interactions.",
	findings.Tornado:   "One factor at a time: the lowest and the highest difference from the baseline.",
	findings.Shares:    "The share of the variance between points that each factor explains, and each two together.",
}

func (p *factorsPage) plot(s *findings.Sensitivity) {
	p.about.SetText(methods[s.Method])
	scatter := s.Method == findings.Screening
	if scatter {
		p.screening.Set(s)
	} else {
		p.rows.SetInfluences(s)
	}
	p.screening.Hidden, p.rows.Hidden = !scatter, scatter
	p.note.Hidden = s.Note == ""
	p.note.SetText(words.Sentence(s.Note))
	p.content.Refresh()
}

// reason says why an experiment has no analysis of its factors.
func reason(t *findings.Table) string {
	_, all := ready(t)
	switch {
	case len(t.Factors) < 2:
		return "An analysis of factors compares at least two, and this experiment varies " + map[bool]string{true: "one", false: "none"}[len(t.Factors) == 1] + ". Response shows what its values do."
	case !all || missing(t) > 0:
		return "The analysis needs more runs. " + provisional(t)
	}
	return fmt.Sprintf("The design %q has no analysis of factors. Use grid, one-at-a-time, morris or sobol.", t.Design)
}
