package designer

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/experiment/draft"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// labels are the names of designs for a person, and abouts describe them.
var (
	labels = map[string]string{
		"grid": "Grid", "zip": "Zip", "one-at-a-time": "One at a time", "random": "Random", "lhs": "Latin hypercube", "halton": "Halton", "morris": "Morris", "sobol": "Sobol",
		draft.Listed: "Points in the file",
	}
	abouts = map[string]string{
		"grid":          "Every combination of the values",
		"zip":           "The first values together, then the second ones, and so on",
		"one-at-a-time": "The baseline, and each other value on its own",
		"random":        "Points drawn at random from the ranges",
		"lhs":           "Points that are spread evenly over each range",
		"halton":        "Points that fill the ranges evenly, and stay when more are added",
		"morris":        "Finds which of many factors matter, with few runs",
		"sobol":         "Shares of the variance by factor; a power of 2 is best",
		draft.Listed:    "The file lists the points; another choice replaces them",
	}
	numbers = map[string]string{"morris": "Trajectories", "sobol": "Base points"} // of others: points
	// usual are the numbers that are proposed.
	usual = map[string]string{"random": "40", "lhs": "40", "halton": "40", "morris": "10", "sobol": "64"}
)

// design is the panel of the design and the seeds.
type design struct {
	page   *page
	kinds  []string
	pick   *widget.Select
	number *form.Entry
	count  *form.Row
	row    *form.Row
	panel  *widgets.Panel
}

func newDesign(p *page) *design {
	d := &design{page: p, kinds: draft.Kinds()}
	if p.draft.Design.Kind == draft.Listed {
		d.kinds = append(d.kinds, draft.Listed)
	}
	var names []string
	for _, kind := range d.kinds {
		names = append(names, labels[kind])
	}
	d.pick = widget.NewSelect(names, nil)
	d.row = p.form.Add(form.NewRow("Design", form.NewFrame(d.pick)), "design")
	n := p.text("Points", &p.draft.Design.N, "")
	d.number, d.count = n.entry, n.row
	seeds := p.text("Seeds", &p.draft.Seeds, "10", "replicates.seeds", "replicates")
	seeds.row.SetHelp("Every point runs once with each: a number, or a list")
	d.panel = widgets.NewPanel("Design", form.NewColumns(columnEms, fyne.CanvasObject(d.row), d.count, seeds.row))
	kind := p.draft.Design.Kind
	if kind == "" {
		kind = draft.Kinds()[0]
	}
	if i := slices.Index(d.kinds, kind); i >= 0 {
		d.pick.SetSelectedIndex(i)
	}
	d.pick.OnChanged = func(string) { d.choose(d.kinds[d.pick.SelectedIndex()]) }
	d.follow(kind)
	return d
}

// choose sets another design.
func (d *design) choose(kind string) {
	of := &d.page.draft.Design
	if of.N == usual[of.Kind] || !slices.Contains(draft.Counted(), kind) { // a number that was typed stays
		of.N = ""
	}
	of.Kind = kind
	d.follow(kind)
	d.row.Changed()
	d.page.refresh()
	d.page.w.typed()
}

// follow shows the field for the number of a design that needs one.
func (d *design) follow(kind string) {
	d.row.SetHelp(abouts[kind])
	counted := slices.Contains(draft.Counted(), kind)
	d.count.Hidden = !counted
	if !counted {
		return
	}
	title := numbers[kind]
	if title == "" {
		title = "Points"
	}
	d.count.SetTitle(title)
	if d.page.draft.Design.N == "" {
		d.page.draft.Design.N = usual[kind]
	}
	if d.number.Text != d.page.draft.Design.N {
		d.number.SetText(d.page.draft.Design.N)
	}
}
