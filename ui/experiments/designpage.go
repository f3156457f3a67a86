package experiments

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// designPage shows what the file asks for.
type designPage struct {
	of      *shown
	facts   map[string]*form.Note // by title
	factors *widgets.Sheet
	pairing *fyne.Container
	paired  *widgets.Panel
	command *form.Note
	scroll  *container.Scroll
}

// factTitles are the titles of the facts, in their order.
var factTitles = []string{"Scenario", "Design", "Replicates", "Budget", "Forecast", "File"}

func newDesignPage() *designPage {
	p := &designPage{facts: map[string]*form.Note{}, pairing: form.NewStack(), command: form.NewNote("")}
	stack := form.NewColumns(factEms)
	for _, title := range factTitles {
		n := form.NewNote("")
		n.TextSize = theme.SizeNameText
		p.facts[title] = n
		stack.Add(form.NewStack(widgets.NewCaption(title), n))
	}
	p.factors = widgets.NewSheet([]widgets.Column{{Title: "Factor", Sample: "params.eagerness", Weight: 1}, {Title: "Values", Sample: "0.5, 1, 2", Weight: 2}}, "Nothing varies.", nil)
	p.paired = widgets.NewPanel("What weakens pairing by seeds", p.pairing)
	copied := widget.NewButtonWithIcon("Copy", theme.ContentCopyIcon(), func() { fyne.CurrentApp().Clipboard().SetContent(p.command.Text()) })
	p.command.TextSize = theme.SizeNameText
	terminal := widgets.NewPanel("In a terminal", container.NewBorder(nil, nil, nil, container.NewVBox(form.NewCompact(copied)), p.command))
	p.scroll = container.NewVScroll(form.NewPanels(widgets.NewPanel("", stack), widgets.NewPanel("What varies", p.factors), p.paired, terminal))
	return p
}

// factEms is the minimum width of a fact, in text heights.
const factEms = 20

func (p *designPage) object() fyne.CanvasObject { return p.scroll }

func (p *designPage) show(x *shown) {
	if p.of == x {
		return
	}
	p.of = x
	d := x.details
	for title, text := range map[string]string{
		"Scenario": d.Scenario, "Design": d.Design, "Replicates": d.Replicates, "Budget": or(d.Budget, "unlimited"), "Forecast": or(d.Forecast, "no run is missing"), "File": d.Path,
	} {
		p.facts[title].Say(text)
	}
	rows := make([]widgets.Row, 0, len(d.Factors))
	for _, f := range d.Factors {
		rows = append(rows, widgets.Row{Key: f.Name, Cells: []widgets.Cell{{Text: f.Name}, {Text: f.Levels, Tip: f.Levels}}})
	}
	p.factors.SetRows(rows)
	p.pairing.RemoveAll()
	for _, line := range d.Pairing {
		n := form.NewNote("")
		n.SetWarning(line)
		p.pairing.Add(n)
	}
	p.paired.Hidden = len(d.Pairing) == 0
	p.command.Say(d.Command)
	p.scroll.Content.Refresh()
	p.scroll.Refresh()
}

// or returns a text, or another if it is empty.
func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
