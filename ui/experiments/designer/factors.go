package designer

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// factors is the panel of what varies.
type factors struct {
	page  *page
	rows  []*factorRow
	stack *fyne.Container
	add   *widget.Select
	panel *widgets.Panel
}

// factorRow is the fields of a factor.
type factorRow struct {
	varied   *widget.Check
	levels   *form.Entry
	baseline *form.Entry
	row      *form.Row
}

const aboutLevels = "Values such as 0.5, 1, 2, or a range: 0 to 1 step 0.25, 1 to 1000 log 7 points, or just 0 to 1 for designs that sample. At the right, the value to compare with."

func newFactors(p *page) *factors {
	f := &factors{page: p, stack: form.NewPanels()}
	for i := range p.draft.Factors {
		f.show(i)
	}
	f.add = widget.NewSelect(f.further(), nil)
	f.add.PlaceHolder = "Vary something else…"
	f.add.OnChanged = f.another
	f.panel = widgets.NewPanel("What varies", form.NewStack(form.NewNote(aboutLevels), f.stack, container.NewBorder(nil, nil, form.NewFrame(f.add), nil)))
	return f
}

// further lists what can be added.
func (f *factors) further() (names []string) {
	have := map[string]bool{}
	for i := range f.page.draft.Factors {
		have[f.page.draft.Factors[i].Name] = true
	}
	for _, name := range f.page.w.form.Choices.Further {
		if !have[name] {
			names = append(names, name)
		}
	}
	return names
}

// another adds a factor.
func (f *factors) another(name string) {
	if name == "" {
		return
	}
	d := f.page.draft
	d.Factors = append(d.Factors, draft.Factor{Name: name, Varied: true})
	row := f.show(len(d.Factors) - 1)
	f.add.Options = f.further()
	f.add.ClearSelected()
	f.page.refresh()
	f.page.w.typed()
	f.page.w.win.Canvas().Focus(row.levels)
}

// show adds the fields of a factor.
func (f *factors) show(i int) *factorRow {
	p := f.page
	of := func() *draft.Factor { return &p.draft.Factors[i] } // adding a factor moves them
	about := p.w.form.Choices.Factor(of().Name)
	r := &factorRow{levels: p.entry(of().Levels, "levels"), baseline: p.entry(of().Baseline, "baseline")}
	if about.Usual != "" {
		r.baseline.SetPlaceHolder(about.Usual)
	}
	r.varied = widget.NewCheck("Vary", nil)
	r.varied.SetChecked(of().Varied)
	field := container.NewBorder(nil, nil, r.varied, form.NewSized("baseline", r.baseline), r.levels)
	title := of().Name
	if about.Title != "" {
		title += ": " + about.Title
	}
	r.row = p.form.Add(form.NewRow(title, field).Marking(r.levels), "vary."+of().Name, "baseline."+of().Name)
	r.row.SetHelp(about.About)
	changed := func() {
		r.row.Changed()
		p.w.typed()
	}
	r.varied.OnChanged = func(on bool) {
		of().Varied = on
		changed()
	}
	r.levels.OnChanged = func(text string) {
		of().Levels = strings.TrimSpace(text)
		if !of().Varied && text != "" {
			r.varied.SetChecked(true)
			return
		}
		changed()
	}
	r.baseline.OnChanged = func(text string) {
		of().Baseline = strings.TrimSpace(text)
		changed()
	}
	f.rows = append(f.rows, r)
	f.stack.Add(r.row)
	return r
}
