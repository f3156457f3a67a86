package designer

import (
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// measures is the panel of what is measured.
type measures struct {
	page    *page
	offered []string
	checks  []*widget.Check
	further *form.Entry
	until   *widget.Select
	of      *form.Row // the measure that decides about more seeds
	row     *form.Row
	panel   *widgets.Panel
}

func newMeasures(p *page) *measures {
	m := &measures{page: p, offered: slices.Clone(p.w.form.Choices.Measures)}
	chosen := m.chosen()
	widest := float32(0)
	for _, name := range m.offered {
		check := widget.NewCheck(name, nil)
		widest = max(widest, check.MinSize().Width)
		check.SetChecked(slices.Contains(chosen, name))
		check.OnChanged = func(bool) { m.changed() }
		m.checks = append(m.checks, check)
	}
	boxes := form.NewColumns(widest / theme.TextSize())
	for _, check := range m.checks {
		boxes.Add(check)
	}
	others := slices.DeleteFunc(slices.Clone(chosen), func(name string) bool { return slices.Contains(m.offered, name) })
	m.further = p.entry(strings.Join(others, ", "), "such as outcomes.timeout, request_p95.shop")
	m.row = p.form.Add(form.NewRow("Others", m.further), "measures")
	m.row.SetHelp("Names with commas between them: an event and the statistic of its field, a metric of a service, a function of the file")
	m.further.OnChanged = func(string) { m.changed() }
	m.panel = widgets.NewPanel("What is measured", form.NewStack(fyne.CanvasObject(boxes), m.row))
	m.until = widget.NewSelect(nil, nil)
	m.until.PlaceHolder = "Choose a measure"
	m.of = form.NewRow("Of the measure", form.NewFrame(m.until))
	m.options(chosen)
	if of := p.draft.Until.Of; of != "" {
		m.until.SetSelected(of)
	}
	m.until.OnChanged = func(name string) {
		p.draft.Until.Of = name
		p.w.typed()
	}
	return m
}

// chosen returns the measures of the draft, or the usual ones.
func (m *measures) chosen() []string {
	if m.page.draft.Measures != nil {
		return m.page.draft.Measures
	}
	return m.page.w.form.Choices.Usual
}

// options offers the measures for the rule that adds seeds.
func (m *measures) options(chosen []string) {
	m.until.Options = slices.Clone(chosen)
	if of := m.page.draft.Until.Of; of != "" && !slices.Contains(chosen, of) { // it is kept until another is chosen
		m.until.Options = append(m.until.Options, of)
	}
	m.until.Refresh()
}

// changed writes the measures into the draft: those that were chosen before keep their order.
func (m *measures) changed() {
	var now []string
	for i, check := range m.checks {
		if check.Checked {
			now = append(now, m.offered[i])
		}
	}
	for name := range strings.SplitSeq(m.further.Text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			now = append(now, name)
		}
	}
	kept := slices.DeleteFunc(slices.Clone(m.chosen()), func(name string) bool { return !slices.Contains(now, name) })
	for _, name := range now {
		if !slices.Contains(kept, name) {
			kept = append(kept, name)
		}
	}
	m.page.draft.Measures = append([]string{}, kept...)
	m.options(kept)
	m.row.Changed()
	m.page.w.typed()
}
