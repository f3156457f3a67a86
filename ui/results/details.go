package results

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/drawn"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// importances are the looks of the verdict.
var importances = map[view.Tone]widget.Importance{
	view.Plain: widget.MediumImportance, view.Good: widget.SuccessImportance, view.Warn: widget.WarningImportance, view.Bad: widget.DangerImportance,
}

// tones are the tones of texts.
var tones = map[view.Tone]widgets.Tone{view.Plain: widgets.Quiet, view.Good: widgets.Good, view.Warn: widgets.Warning, view.Bad: widgets.Bad}

// cycleHead are the columns of the cycles.
var cycleHead = func() []string {
	t, _ := view.CycleTable(make([]engine.BarrierRow, 2))
	return t.Head
}()

// newTextSheet returns a sheet for a table: the first column is the widest, the others are figures.
func newTextSheet(head []string) *widgets.Sheet {
	columns := make([]widgets.Column, len(head))
	for i, title := range head {
		columns[i] = widgets.Column{Title: title, Sample: "1,000,000", Align: fyne.TextAlignTrailing, Drop: max(8-i, 1)}
	}
	columns[0] = widgets.Column{Title: head[0], Sample: "fill_cart.add_cart", Weight: 1}
	for i := range columns {
		if title := head[i]; title == "p95" || title == "Ran" || title == "Failed" || title == "Time" || title == "Sessions" {
			columns[i].Drop = 0
		}
	}
	return widgets.NewSheet(columns, "", nil)
}

func textRows(t *view.Table) []widgets.Row {
	rows := make([]widgets.Row, len(t.Rows))
	for i, texts := range t.Rows {
		rows[i].Key = fmt.Sprint(i)
		for _, text := range texts {
			rows[i].Cells = append(rows[i].Cells, widgets.Cell{Text: text})
		}
	}
	return rows
}

// showDetails shows what was read last, because it needs all sessions; nil is not known yet.
func (p *page) showDetails(d *view.Details) {
	if d == nil {
		p.emitted.show(nil)
		d = &view.Details{}
	} else {
		p.emitted.show(d.Outcomes)
	}
	p.over.set(d.Charts)
	p.overTime.Hidden, p.over.content.Hidden = len(d.Charts) == 0, len(d.Charts) == 0
	p.stepLines.Set(d.Steps)
	p.services.SetRows(textRows(&d.Services))
	p.services.Hidden = len(d.Services.Rows) == 0
	p.cycles.SetRows(textRows(&d.Cycles))
	p.cycled.Hidden = len(d.Cycles.Rows) == 0
	p.made.show(d)
}

// pairs shows the inputs of a run.
type pairs struct {
	content *fyne.Container
	origin  *form.Note
	sheets  [3]*widgets.Sheet
	panels  [3]*widgets.Panel
	files   *form.Note

	population *drawn.Population
	drawn      *widgets.Panel
}

func newPairs() *pairs {
	p := &pairs{origin: form.NewNote(""), files: form.NewNote(""), population: drawn.NewPopulation()}
	p.drawn = widgets.NewPanel("Population", p.population.Content)
	parts := []fyne.CanvasObject{p.origin, p.drawn}
	for i, title := range []string{"Run", "Parameters", "Settings"} {
		p.sheets[i] = widgets.NewSheet([]widgets.Column{{Sample: "checkpoint_interval_seconds"}, {Sample: "https://shop.example", Weight: 1}}, "", nil)
		p.panels[i] = widgets.NewPanel(title, p.sheets[i])
		parts = append(parts, p.panels[i])
	}
	p.content = form.NewPanels(append(parts, widgets.NewPanel("Files", p.files))...)
	return p
}

func (p *pairs) show(d *view.Details) {
	p.origin.SetText(d.Origin)
	p.origin.Hidden = d.Origin == ""
	p.population.Show(d.Population)
	p.drawn.Hidden = d.Population == nil
	for i, all := range [][][2]string{d.Facts, d.Parameters, d.Settings} {
		rows := make([]widgets.Row, len(all))
		for k, pair := range all {
			rows[k] = widgets.Row{Key: pair[0], Cells: []widgets.Cell{{Text: pair[0]}, {Text: pair[1]}}}
		}
		p.sheets[i].SetRows(rows)
		p.panels[i].Hidden = len(rows) == 0
	}
	var lines []string
	for _, f := range d.Files {
		lines = append(lines, f.Name+" ("+f.Size+")")
	}
	p.files.SetText(strings.Join(lines, "\n"))
}
