package designer

import (
	"errors"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// page is the fields of the form. They write into the draft as a person types.
type page struct {
	w        *Designer
	draft    *draft.Draft
	form     form.Form
	title    *form.Entry
	factors  *factors
	design   *design
	measures *measures
	until    *form.Fold
	limits   *form.Fold
	panels   *fyne.Container
	scroll   *container.Scroll
}

// columnEms is the minimum width of a field, in text heights.
const columnEms = 13

func newPage(w *Designer) *page {
	p := &page{w: w, draft: &w.form.Draft, panels: form.NewPanels()}
	title := p.text("Title", &p.draft.Title, "", "title")
	p.title = title.entry
	about := widgets.NewPanel("", form.NewColumns(columnEms, title.row, p.scenario()))
	p.factors, p.design, p.measures = newFactors(p), newDesign(p), newMeasures(p)
	width := p.text("Interval within ±", &p.draft.Until.HalfWidth, "5%", "replicates.until")
	width.row.SetHelp("Half of the 95% interval: a percentage of the mean, or a number")
	most := p.text("Seeds at most", &p.draft.Until.AtMost, "4 times the seeds")
	p.until = form.NewFold("More seeds where needed", form.NewColumns(columnEms, width.row, p.measures.of, most.row))
	p.limits = form.NewFold("Length and limits", p.limited())
	p.scroll = container.NewVScroll(p.panels)
	for _, o := range []fyne.CanvasObject{about, p.factors.panel, p.design.panel, p.until, p.measures.panel, p.limits} {
		p.panels.Add(o)
	}
	for _, fold := range []*form.Fold{p.until, p.limits} {
		fold.OnToggled = p.refresh
	}
	p.until.SetOpen(p.draft.Until.HalfWidth != "" || p.draft.Until.AtMost != "")
	p.limits.SetOpen(len(p.draft.Settings) > 0 || p.draft.Budget != draft.Budget{} || p.draft.Parallel != "")
	p.until.SetSummary("until the interval of a measure is narrow enough")
	p.limits.SetSummary("cycles, budget, runs at the same time")
	return p
}

// refresh lays the panels out again.
func (p *page) refresh() {
	p.panels.Refresh()
	p.scroll.Refresh()
}

// field is a text field.
type field struct {
	row   *form.Row
	entry *form.Entry
}

// text returns a field for a text of the draft. names are those of its mistakes.
func (p *page) text(title string, to *string, placeholder string, names ...string) field {
	entry := p.entry(*to, placeholder)
	row := p.form.Add(form.NewRow(title, entry), names...)
	entry.OnChanged = func(text string) {
		*to = strings.TrimSpace(text)
		row.Changed()
		p.w.typed()
	}
	return field{row, entry}
}

// entry returns an entry with a text.
func (p *page) entry(text, placeholder string) *form.Entry {
	entry := form.NewEntry()
	entry.SetText(text)
	entry.SetPlaceHolder(placeholder)
	return entry
}

// scenario returns the choice of the scenario. That of a file is changed in the file.
func (p *page) scenario() fyne.CanvasObject {
	f := p.w.form
	if f.Path != "" {
		entry := p.entry(p.draft.Scenario, "")
		entry.Disable()
		return p.form.Add(form.NewRow("Scenario", entry), "scenario")
	}
	names := make([]string, len(p.w.scenarios))
	chosen := -1
	for i, one := range p.w.scenarios {
		if names[i] = one.Title; one.Title != one.Name {
			names[i] += " (" + one.Name + ")"
		}
		if one.Name == f.Scenario {
			chosen = i
		}
	}
	pick := widget.NewSelect(names, nil)
	pick.SetSelectedIndex(chosen)
	pick.OnChanged = func(string) { p.w.choose(p.w.scenarios[pick.SelectedIndex()].Name) }
	return p.form.Add(form.NewRow("Scenario", form.NewFrame(pick)), "scenario")
}

// limited returns the fields of the settings, the budget and the runs at the same time.
func (p *page) limited() fyne.CanvasObject {
	names := []string{"cycles"}
	for _, s := range p.draft.Settings {
		if s.Name != "cycles" {
			names = append(names, s.Name)
		}
	}
	all := form.NewColumns(columnEms)
	for _, name := range names {
		title, placeholder := name, ""
		if name == "cycles" {
			title, placeholder = "Cycles of a run", p.w.form.Choices.Cycles
		}
		entry := p.entry(p.draft.Setting(name), placeholder)
		row := p.form.Add(form.NewRow(title, entry), "settings."+name)
		entry.OnChanged = func(text string) {
			p.draft.Set(name, strings.TrimSpace(text))
			row.Changed()
			p.w.typed()
		}
		all.Add(row)
	}
	all.Add(p.text("Budget in USD", &p.draft.Budget.USD, "unlimited", "budget.usd").row)
	all.Add(p.text("Time, such as 8h", &p.draft.Budget.Time, "unlimited", "budget.time").row)
	all.Add(p.text("Runs at the same time", &p.draft.Parallel, "1", "parallel").row)
	return all
}

// tell shows mistakes at their fields, and opens what hides them.
func (p *page) tell(c *Checked) {
	var all []error
	for i := range c.Mistakes {
		if m := &c.Mistakes[i]; !m.Warning {
			all = append(all, &engine.FieldError{Field: m.Field, Problem: m.Text, Hint: m.Hint})
		}
	}
	kind := p.draft.Design.Kind
	if kind == "" {
		kind = draft.Kinds()[0]
	}
	if why := c.Unfit[kind]; why != "" && !slices.ContainsFunc(c.Mistakes, func(m draft.Mistake) bool { return m.Field == "design" && !m.Warning }) {
		all = append(all, &engine.FieldError{Field: "design", Problem: why})
	}
	_ = p.form.Tell(errors.Join(all...)) // the summary lists all of them
	for _, row := range p.form.Mistakes() {
		for _, fold := range []*form.Fold{p.until, p.limits} {
			if fold.Holds(row) {
				fold.SetOpen(true)
			}
		}
	}
	p.refresh()
}
