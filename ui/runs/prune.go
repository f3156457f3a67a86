package runs

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// Age says what to prune. Zero fields prune nothing.
type Age struct {
	Checkpoints int           // checkpoints to keep of each run
	OlderThan   time.Duration // prunes runs that ended earlier
	Runs        int           // runs to keep
}

// Old is what pruning would delete. Runs with rows that are not in their database yet are kept.
type Old struct {
	Runs, Checkpoints int
	Kept              int // number of runs
	Bytes             int64
	Things            []Thing // the total
}

// text describes what would be deleted.
func (o Old) text() string {
	if o.Runs+o.Checkpoints == 0 {
		return "Nothing to delete." + o.kept()
	}
	return o.what() + ", about " + engine.FormatBytes(o.Bytes) + "." + o.kept()
}

// what counts what would be deleted.
func (o Old) what() string {
	var parts []string
	if o.Runs > 0 {
		parts = append(parts, count(int64(o.Runs), "run"))
	}
	if o.Checkpoints > 0 {
		parts = append(parts, count(int64(o.Checkpoints), "checkpoint")+" of other runs")
	}
	return strings.Join(parts, " and ")
}

func (o Old) kept() string {
	switch o.Kept {
	case 0:
		return ""
	case 1:
		return "\n1 run is kept because it has unsent rows."
	default:
		return "\n" + strconv.Itoa(o.Kept) + " runs are kept because they have unsent rows."
	}
}

// pruning is the dialog for old runs and checkpoints.
type pruning struct {
	form.Form
	screen                  *Screen
	checkpoints, days, runs *form.Entry
	goes                    *widget.Label
	now                     *widget.Check
	dialog                  *dialog.CustomDialog
	remove                  *widget.Button
	asked                   int // number of the newest request; results of older ones are dropped
}

// CleanUp opens the dialog and shows what would be deleted.
func (s *Screen) CleanUp() {
	p := &pruning{screen: s, checkpoints: form.NewEntry(), days: form.NewEntry(), runs: form.NewEntry(), goes: widget.NewLabel(""), now: widget.NewCheck(nowText, nil)}
	var rows []fyne.CanvasObject
	for _, r := range []struct {
		entry             *form.Entry
		name, title, help string
	}{
		{p.checkpoints, "checkpoints", "Checkpoints to keep per run", "Older ones are deleted. Empty keeps all."},
		{p.days, "days", "Days to keep runs", "Runs that ended earlier are deleted. Empty keeps all."},
		{p.runs, "runs", "Runs to keep", "Older ones are deleted. Empty keeps all."},
	} {
		r.entry.OnChanged = func(string) { p.look() }
		row := p.Add(form.NewRow(r.title, r.entry), r.name)
		row.SetHelp(r.help)
		rows = append(rows, row)
	}
	p.goes.Wrapping = fyne.TextWrapWord
	p.dialog = dialog.NewCustomWithoutButtons("Clean up", container.NewBorder(form.NewColumns(16, rows...), p.now, nil, nil, p.goes), s.win)
	p.remove = &widget.Button{Text: "Delete", Importance: widget.DangerImportance, OnTapped: p.carryOut}
	p.dialog.SetButtons([]fyne.CanvasObject{widget.NewButton("Close", p.dialog.Hide), p.remove})
	size := fyne.NewSize(min(s.win.Canvas().Size().Width*0.8, 760), 0)
	p.dialog.Resize(size)
	p.look()
	widgets.Ask(s.win, p.dialog, widgets.Pressing(p.remove))
	p.dialog.Resize(size) // the height is smaller with the fields side by side
	s.win.Canvas().Focus(p.checkpoints)
}

// age parses the fields.
func (p *pruning) age() (age Age, err error) {
	number := func(name string, e *form.Entry) int {
		text := strings.TrimSpace(e.Text)
		if text == "" {
			return 0
		}
		n, bad := strconv.Atoi(text)
		if bad != nil || n < 1 || n > 100_000 {
			err = errors.Join(err, &engine.FieldError{Field: name, Problem: "must be a number from 1 to 100,000"})
		}
		return n
	}
	age.Checkpoints, age.Runs = number("checkpoints", p.checkpoints), number("runs", p.runs)
	age.OlderThan = time.Duration(number("days", p.days)) * 24 * time.Hour
	return age, err
}

// look requests what would be deleted.
func (p *pruning) look() {
	p.asked++
	asked := p.asked
	p.remove.Disable()
	age, err := p.age()
	_ = p.Check(err) // shows the errors at the fields
	if err != nil || age == (Age{}) {
		p.goes.SetText("")
		return
	}
	p.goes.SetText("Calculating…")
	async.Work(func() (Old, error) { return p.screen.desk.Old(context.Background(), age) }, func(o Old, err error) {
		switch {
		case asked != p.asked:
		case err != nil:
			p.goes.SetText(words.Trouble(err))
		default:
			p.goes.SetText(o.text())
			enable(p.remove, o.Runs+o.Checkpoints > 0)
		}
	})
}

// carryOut deletes what was shown.
func (p *pruning) carryOut() {
	age, err := p.age()
	if err != nil {
		return
	}
	p.asked++
	p.remove.Disable()
	p.goes.SetText("Deleting…")
	s, now := p.screen, p.now.Checked
	async.Work(func() (Old, error) { return s.desk.Prune(context.Background(), age, now) }, func(o Old, err error) {
		s.load()
		what := deletion{o.what(), o.Things}
		if err != nil {
			p.goes.SetText("Not everything was deleted. " + words.Trouble(err))
			if !now {
				s.undo.deleted(what)
			}
			return
		}
		p.dialog.Hide()
		if now {
			s.undo.say("Deleted permanently: "+o.text(), widgets.Good)
			return
		}
		s.undo.deleted(what)
	})
}
