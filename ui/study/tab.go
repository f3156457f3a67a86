package study

import (
	"context"
	"fmt"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/picture"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// tab is what the tabs share: a head with an answer and buttons, and parts below. Use it on the UI goroutine.
type tab struct {
	Content fyne.CanvasObject

	desk    Desk
	win     fyne.Window
	verdict *form.Note
	about   *form.Note // below the verdict
	said    *widgets.Notice
	export  *widget.Button
	parts   *fyne.Container
	scroll  *container.Scroll
	of      state
	asked   int // number of the newest read; results of older ones are dropped
}

// state identifies what was read of a run.
type state struct {
	run   engine.RunID
	ended bool
	done  int64 // of a survey
}

// partEms is the minimum width of a column of parts, in text heights.
const partEms = 34

// build lays out the tab. more are buttons in front of the one for exports, and below is a part of the head; nil for none.
func (t *tab) build(desk Desk, win fyne.Window, export func(), below fyne.CanvasObject, more ...*widget.Button) {
	t.desk, t.win = desk, win
	t.verdict, t.about, t.said = form.NewNote(""), form.NewNote(""), widgets.NewNotice()
	t.verdict.TextSize = theme.SizeNameSubHeadingText
	t.export = widget.NewButtonWithIcon("Export CSV…", theme.DownloadIcon(), export)
	t.export.Disable()
	buttons := container.NewHBox()
	for _, b := range append(more, t.export) {
		buttons.Add(b)
	}
	head := form.NewStack(container.NewBorder(nil, nil, nil, container.NewVBox(buttons), form.NewStack(t.verdict, t.about)))
	if below != nil {
		head.Add(below)
	}
	head.Add(t.said)
	t.parts = form.NewPanels(widgets.NewPanel("", head))
	t.scroll = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, theme.ScrollBarSize()), t.parts))
	t.Content = t.scroll
}

// wait says what is being read, in place of an answer.
func (t *tab) wait(text string) {
	t.tell(text, "", plain)
	t.said.Say("", widgets.Neutral)
	enable(t.export, false)
	t.put()
}

// tone is how good an answer is.
type tone uint8

const (
	plain tone = iota
	good
	doubtful
)

// tell sets the answer at the top, and a text below it.
func (t *tab) tell(text, about string, is tone) {
	switch is {
	case good:
		t.verdict.SetGood(text)
	case doubtful:
		t.verdict.SetWarning(text)
	case plain:
		t.verdict.Say(text)
	}
	t.about.SetText(about)
	t.about.Hidden = about == ""
}

// fail says that something cannot be read.
func (t *tab) fail(text string, err error) {
	t.tell(text, words.Trouble(err), doubtful)
}

// put replaces the parts below the head.
func (t *tab) put(parts ...fyne.CanvasObject) {
	t.parts.Objects = append(t.parts.Objects[:1], parts...)
	t.parts.Refresh()
}

// read reads something in the background. Only the newest answer counts.
func read[T any](t *tab, work func(context.Context) (T, error), then func(T, error)) {
	t.asked++
	asked := t.asked
	async.Work(func() (T, error) { return work(context.Background()) }, func(found T, err error) {
		if asked == t.asked {
			then(found, err)
		}
	})
}

// once reads the answers of a run, and again after its end, and draws what it finds. It reports whether it reads now.
func once[T any](t *tab, r *engine.RunRecord, work func(context.Context, engine.RunID) (T, error), draw func(T)) bool {
	now := state{run: r.ID, ended: !r.InProgress}
	if t.of == now {
		return false
	}
	t.of = now
	t.wait("Reading the answers…")
	read(t, func(ctx context.Context) (T, error) { return work(ctx, now.run) }, func(found T, err error) {
		if err != nil {
			t.fail("Cannot read the answers.", err)
			return
		}
		draw(found)
	})
	return true
}

// save asks for a file and writes a table.
func (t *tab) save(what string, table findings.Sheet) {
	widgets.PickSaveAs(t.win, "Save as CSV", fmt.Sprintf("throng-%s-%s.csv", t.of.run, what), ".csv", func(path string) { t.write(path, table) })
}

// write writes a table to a file.
func (t *tab) write(path string, table findings.Sheet) {
	t.said.Say("Exporting…", widgets.Accent)
	async.Work(func() (struct{}, error) { return struct{}{}, t.desk.SaveTable(context.Background(), path, table) }, func(_ struct{}, err error) {
		if err != nil {
			t.said.Say("The export failed. "+words.Trouble(err), widgets.Bad)
			return
		}
		t.said.Say("Exported to "+path+".", widgets.Good)
	})
}

// keep returns how pictures of plots are kept.
func (t *tab) keep() chart.Keep {
	return picture.Keep(func() string { return string(t.of.run) }, t.said.Say)
}

// longestSample is the longest text that makes a column wider.
const longestSample = 34

// newSheet returns a table of texts. If there is little room, columns at the right are hidden first, but those of keep stay.
func newSheet(head []string, rows [][]string, keep ...string) *widgets.Sheet {
	columns := make([]widgets.Column, len(head))
	for i, title := range head {
		sample := ""
		for _, r := range rows {
			if n := len(r[i]); n > len(sample) && n <= longestSample {
				sample = r[i]
			}
		}
		columns[i] = widgets.Column{Title: title, Sample: sample, Align: fyne.TextAlignTrailing, Drop: i}
		if slices.Contains(keep, title) {
			columns[i].Drop = 0
		}
	}
	columns[0].Align, columns[0].Weight = fyne.TextAlignLeading, 1
	s := widgets.NewSheet(columns, "", nil)
	s.SetRows(textRows(rows))
	return s
}

func textRows(rows [][]string) []widgets.Row {
	all := make([]widgets.Row, len(rows))
	for i, texts := range rows {
		all[i].Key = fmt.Sprint(i)
		for _, text := range texts {
			all[i].Cells = append(all[i].Cells, widgets.Cell{Text: text, Tip: text})
		}
	}
	return all
}

// textNote returns a paragraph in the size of the body.
func textNote(text string, warns bool) *form.Note {
	n := form.NewNote("")
	n.TextSize = theme.SizeNameText
	if n.Say(text); warns {
		n.SetWarning(text)
	}
	return n
}

func enable(b *widget.Button, enabled bool) {
	switch {
	case enabled && b.Disabled():
		b.Enable()
	case !enabled && !b.Disabled():
		b.Disable()
	}
}
