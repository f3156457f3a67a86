package experiments

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
	"github.com/throng-sim/throng/engine/figures"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/plot"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// allColumns is the choice of all columns of the real data together.
const allColumns = "All columns"

// realPanel shows which point is nearest to real data.
type realPanel struct {
	of        *nearest.Result
	said      []findings.Sentence // shown
	sentences *fyne.Container
	column    *widget.Select
	filling   bool // the program sets the selection
	picker    fyne.CanvasObject
	about     *form.Note
	distances *plot.Rows
	table     *widgets.Sheet
	rest      *form.Note // about the points that the table leaves out
	notes     *form.Note
	panel     *widgets.Panel
}

func newRealPanel() *realPanel {
	p := &realPanel{
		sentences: form.NewStack(), about: form.NewNote("Mean distance of each point with its 95% interval over the seeds: 0 is the same, 1 is nothing in common. Filled: nearest by more than chance."),
		distances: plot.NewRows(), rest: form.NewNote(""), notes: form.NewNote(""),
	}
	p.column = widget.NewSelect(nil, func(string) {
		if !p.filling {
			p.fill()
		}
	})
	p.picker = container.NewBorder(nil, nil, form.NewWide(measureEms, form.NewFrame(p.column)), nil)
	end := fyne.TextAlignTrailing
	p.table = widgets.NewSheet([]widgets.Column{
		{Title: "Point", Sample: "eagerness=0.5", Weight: 1},
		{Title: "Runs", Sample: "1,000", Align: end, Drop: 1},
		{Title: "Distance [95%]", Sample: "0.0242 [0.0116, 0.0368]", Align: end},
		{Title: "Farther [95%]", Sample: "0.0501 [0.0511, 0.0491]", Align: end, Drop: 3},
		{Title: "Runs that differ", Sample: "12 of 12", Align: end, Drop: 2},
		{Title: "p", Sample: "< 0.001", Align: end},
	}, "", nil)
	p.panel = widgets.NewPanel("Real data", form.NewStack(p.sentences, p.picker, p.about, p.distances, p.table, p.rest, p.notes))
	return p
}

// show shows a result. The panel is hidden for nil.
func (p *realPanel) show(r *nearest.Result) {
	p.of, p.panel.Hidden = r, r == nil
	if r == nil {
		return
	}
	p.said = tell(p.sentences, p.said, r.Sentences(), "nearest", p.column.SetSelectedIndex)
	options := []string{allColumns}
	for i := range r.Columns {
		options = append(options, r.Columns[i].Name)
	}
	setOptions(p.column, &p.filling, options, min(max(p.column.SelectedIndex(), 0), len(r.Columns)))
	visible(p.picker, len(r.Columns) > 1)
	notes := strings.Join(r.Notes(), "\n")
	p.notes.Hidden = notes == ""
	p.notes.SetText(notes)
	p.fill()
}

// chosen returns the ranking of the chosen column, and how many runs of a point differ.
func (p *realPanel) chosen() (of *nearest.Ranking, differing func(point int) string) {
	r := p.of
	i := p.column.SelectedIndex() - 1
	if len(r.Columns) == 1 {
		i = 0
	}
	if i < 0 {
		return &r.Overall, func(int) string { return "" }
	}
	return &r.Columns[i].Ranking, r.Columns[i].Differing
}

// fill shows the chosen column.
func (p *realPanel) fill() {
	of, _ := p.chosen()
	p.distances.SetEffects(of.Plot(p.of.Table))
	rows := p.rows()
	p.table.SetRows(rows)
	sayRest(p.rest, len(rows), len(of.Estimates))
}

// rows returns the rows of the table.
func (p *realPanel) rows() (rows []widgets.Row) {
	of, differing := p.chosen()
	for point := range min(len(of.Estimates), mostPoints) {
		e, label := &of.Estimates[point], p.of.Table.Points[point].Label
		chance := widgets.Cell{Text: of.Chance(point)}
		if point == of.Nearest {
			chance.Tone = widgets.Accent
		}
		rows = append(rows, widgets.Row{Key: fmt.Sprint(point), Cells: []widgets.Cell{
			{Text: label, Tip: label},
			{Text: figures.Count(int64(e.N))},
			{Text: of.Distance(point), Tip: e.Interval.Note},
			{Text: of.Change(point), Tip: of.Farther[point].Note},
			{Text: differing(point)},
			chance,
		}})
	}
	return rows
}

// tell shows sentences, unless they are shown already, and returns them. Clear ones have a badge; a tap calls pick with the index.
func tell(in *fyne.Container, was, now []findings.Sentence, badge string, pick func(index int)) []findings.Sentence {
	same := len(was) == len(now)
	for i := 0; same && i < len(was); i++ {
		same = was[i] == now[i]
	}
	if same {
		return was
	}
	in.RemoveAll()
	for i, one := range now {
		n := form.NewCaption(one.Text, func() { pick(i) })
		n.TextSize = theme.SizeNameText
		b := widgets.NewBadge("", widgets.Neutral)
		if one.Clear {
			n.Say(one.Text)
			b.Set(badge, widgets.Accent)
		}
		in.Add(container.NewBorder(nil, nil, nil, container.NewVBox(b), n))
	}
	return now
}
