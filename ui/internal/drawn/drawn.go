// Package drawn shows how agents were drawn from a file.
package drawn

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Population shows a draw, and the drawn shares with their targets. Use it on the UI goroutine.
type Population struct {
	Content *fyne.Container

	words  *form.Note
	shares *widgets.Sheet
}

// NewPopulation returns a population that is hidden until it shows a draw.
func NewPopulation() *Population {
	columns := make([]widgets.Column, len(view.PopulationHead))
	for i, title := range view.PopulationHead {
		columns[i] = widgets.Column{Title: title, Sample: "100.0%", Align: fyne.TextAlignTrailing}
	}
	columns[0].Sample, columns[0].Weight, columns[0].Align = "age_group 30-44", 1, fyne.TextAlignLeading
	last := len(columns) - 1
	columns[last] = widgets.Column{Title: view.PopulationHead[last], Sample: view.OffTarget, Drop: 1}
	p := &Population{words: form.NewNote(""), shares: widgets.NewSheet(columns, "", nil)}
	p.Content = form.NewStack(p.words, p.shares)
	p.Content.Hide()
	return p
}

// Show shows a draw; nil hides the population.
func (p *Population) Show(of *view.Population) {
	p.Content.Hidden = of == nil
	if of == nil {
		return
	}
	p.words.SetText(strings.Join(append([]string{of.Summary}, of.Notes...), "\n"))
	rows := make([]widgets.Row, len(of.Shares.Rows))
	for i, texts := range of.Shares.Rows {
		rows[i].Key = fmt.Sprint(i)
		for _, text := range texts {
			rows[i].Cells = append(rows[i].Cells, widgets.Cell{Text: text})
		}
	}
	p.shares.SetRows(rows)
	p.shares.Hidden = len(rows) == 0
}
