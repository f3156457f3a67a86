package study

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/plot"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// RealData is the tab that compares a run with real data.
type RealData struct {
	tab
	choose *widget.Button
	pairs  *form.Entry
	row    *form.Row
	file   string // that was chosen; "" is the one that the scenario names
	result *validation.Result
	pick   func(then func(path string))
}

// NewRealData returns the tab.
func NewRealData(desk Desk, win fyne.Window) *RealData {
	d := &RealData{pairs: form.NewEntry()}
	d.pick = func(then func(string)) {
		widgets.PickFile(win, "File with real data", "Compare", []string{".csv"}, then)
	}
	d.choose = widget.NewButtonWithIcon("Compare with real data…", theme.FolderOpenIcon(), d.Choose)
	d.pairs.SetPlaceHolder("spend=events.order.total.sum, age=agent.age")
	d.pairs.OnSubmitted = func(string) { d.compare() }
	d.row = form.NewRow("Columns and figures", d.pairs)
	d.row.SetHelp("COLUMN=FIGURE, separated by commas; Return compares. Empty: the measures of the scenario, or columns with names of figures")
	d.build(desk, win, func() { d.save("real-data", d.result.Sheet()) }, d.row, d.choose)
	return d
}

// Choose asks for a file and compares the run with it.
func (d *RealData) Choose() {
	d.pick(func(path string) {
		d.file = path
		d.compare()
	})
}

// Show shows a run. It compares again after the end of the run.
func (d *RealData) Show(r *engine.RunRecord) {
	now := state{run: r.ID, ended: !r.InProgress}
	if d.of == now {
		return
	}
	if d.of.run != now.run {
		d.file = ""
		d.pairs.SetText("")
	}
	d.of = now
	d.compare()
}

// compare compares the run with the file.
func (d *RealData) compare() {
	run, file, pairs := d.of.run, d.file, split(d.pairs.Text, ",")
	d.result = nil
	d.wait("Comparing…")
	read(&d.tab, func(ctx context.Context) (*validation.Result, error) { return d.desk.RealData(ctx, run, file, pairs) }, func(r *validation.Result, err error) {
		switch {
		case err != nil:
			d.fail("The run was not compared.", err)
		case r == nil:
			d.tell("No real data to compare with.", "Choose a CSV file with a row for each real person. With validate_against, a scenario names its file itself.", plain)
		default:
			d.draw(r)
		}
	})
}

// split splits a list at a separator.
func split(text, separator string) (all []string) {
	for part := range strings.SplitSeq(text, separator) {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all
}

func (d *RealData) draw(r *validation.Result) {
	d.result = r
	enable(d.export, true)
	is := good
	if r.Differ() || !slices.ContainsFunc(r.Rows, func(row validation.Row) bool { return row.Compared() }) {
		is = doubtful
	}
	d.tell(r.Verdict(), fmt.Sprintf("%s (SHA-256 %.12s)", filepath.Base(r.File), r.Digest), is)
	rows := make([][]string, len(r.Rows))
	measures := form.NewPacked(partEms)
	for i := range r.Rows {
		rows[i] = r.Rows[i].Cells()
		measures.Add(d.measure(&r.Rows[i]))
	}
	d.put(measures, widgets.NewPanel("Tests", form.NewStack(newSheet(validation.Head(), rows), form.NewNote(r.Method()))))
}

// sides are the names of the two distributions.
var sides = [2]string{"real data", "run"}

// measure shows both distributions of a measure, and what differs.
func (d *RealData) measure(r *validation.Row) fyne.CanvasObject {
	body := form.NewStack(textNote(r.Sentence(), r.Differs()))
	if r.Compared() {
		p := plot.NewDistributions(sides)
		p.Keep(d.keep())
		numbers := r.Kind == validation.Number && r.Bins[0].Name == ""
		bins := make([]plot.Bin, len(r.Bins))
		for i := range r.Bins {
			b := &r.Bins[i]
			real, run := r.Shares(b)
			bins[i] = plot.Bin{Label: b.Label(), Low: b.Low, High: b.High, Shares: [2]float64{100 * real, 100 * run}}
		}
		p.Set(r.Column, bins, numbers)
		body.Add(p)
	}
	for _, note := range r.Notes {
		body.Add(form.NewNote(note))
	}
	return widgets.NewPanel(r.Column, body)
}
