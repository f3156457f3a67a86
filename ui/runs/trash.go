package runs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// trashDays is how long the store keeps the trash.
const trashDays = 30

var trashColumns = []widgets.Column{
	{Title: "Deleted", Sample: "2026-12-28 00:00:00"},
	{Title: "Item", Sample: "checkpoint 100"},
	{Title: "Title", Sample: "A day of shoppers", Weight: 1},
	{Title: "Started", Sample: "2026-12-28 00:00:00", Drop: 2},
	{Title: "Expires in", Sample: "30 days", Align: fyne.TextAlignTrailing},
	{Title: "Size", Sample: "1000 kB", Align: fyne.TextAlignTrailing},
	{Title: "Run", Sample: "20261228-000000-mmmm", Drop: 1},
}

func trashRows(all []Trashed) []widgets.Row {
	rows := make([]widgets.Row, len(all))
	for i := range all {
		b := &all[i]
		days := widgets.Cell{Text: count(int64(b.DaysLeft), "day")}
		if b.DaysLeft <= 3 {
			days.Tone = widgets.Warning
		}
		what := "run"
		if b.Checkpoint > 0 {
			what = "checkpoint " + strconv.Itoa(b.Checkpoint)
		}
		rows[i] = widgets.Row{Key: b.key(), Cells: []widgets.Cell{
			{Text: words.Stamp(b.At)},
			{Text: what},
			{Text: b.Title},
			{Text: words.Stamp(b.Started)},
			days,
			{Text: engine.FormatBytes(b.Bytes)},
			{Text: string(b.Run), Tone: widgets.Quiet},
		}}
	}
	return rows
}

func (t Thing) key() string { return fmt.Sprintf("%s %d", t.Run, t.Checkpoint) }

// text describes a thing in a sentence.
func (b *Trashed) text() string {
	if b.Checkpoint > 0 {
		return fmt.Sprintf("Checkpoint %d of %s (%s)", b.Checkpoint, b.Title, b.Run)
	}
	return fmt.Sprintf("%s (%s)", b.Title, b.Run)
}

// trashDialog shows the trash. Closing it does not cancel its operations, but drops their results.
type trashDialog struct {
	screen *Screen
	dialog dialog.Dialog
	all    []Trashed
	asked  int    // number of the newest request; results of older ones are dropped
	doing  bool   // an operation is in progress
	sure   string // what the next press of a button deletes permanently; "" if it asks first

	table   *widgets.Table
	notice  *widgets.Notice
	restore *widget.Button
	remove  *widget.Button
	empty   *widget.Button
}

// Texts of the buttons that delete permanently, before they ask.
const (
	removeText = "Delete permanently…"
	emptyText  = "Empty trash…"
)

// showTrash opens the dialog.
func (s *Screen) showTrash() {
	b := &trashDialog{screen: s, notice: widgets.NewNotice()}
	b.table = widgets.NewTable(trashColumns, "Loading the trash…", 6)
	b.table.OnSelected = func(string) { b.unsure() }
	b.restore = &widget.Button{Text: "Restore", Icon: theme.ContentUndoIcon(), Importance: widget.HighImportance, OnTapped: b.takeOut}
	b.remove = widget.NewButton(removeText, b.deleteOne)
	b.empty = widget.NewButton(emptyText, b.deleteAll)
	end := widget.NewButton("Close", func() { b.dialog.Hide() })
	about := form.NewNote(fmt.Sprintf("Deleted runs and checkpoints stay here for %d days and use disk space until then. Rows in Postgres are deleted permanently.", trashDays))
	foot := container.NewVBox(b.notice, container.NewBorder(nil, nil, container.NewHBox(b.empty), container.NewHBox(end, b.remove, b.restore), layout.NewSpacer()))
	b.dialog = dialog.NewCustomWithoutButtons("Trash", container.NewBorder(form.NewStack(about), foot, nil, nil, b.table), s.win)
	b.dialog.SetOnClosed(func() { b.asked++ })
	em := theme.TextSize()
	b.dialog.Resize(within(s.win.Canvas().Size(), fyne.NewSize(80*em, 40*em)))
	widgets.Ask(s.win, b.dialog, nil)
	b.draw()
	b.look()
}

// look requests the contents of the trash.
func (b *trashDialog) look() {
	b.asked++
	asked := b.asked
	async.Work(func() ([]Trashed, error) { return b.screen.desk.Trashed(context.Background()) }, func(all []Trashed, err error) {
		if asked != b.asked {
			return
		}
		if err != nil {
			b.table.SetEmpty("")
			b.notice.Say("Cannot read the trash. "+words.Trouble(err), widgets.Bad)
			return
		}
		if !slices.EqualFunc(all, b.all, func(x, y Trashed) bool { return x.Thing == y.Thing }) {
			b.unsure()
		}
		b.all = all
		b.table.SetEmpty("The trash is empty. Deleted runs and checkpoints can be restored from here.")
		b.table.SetRows(trashRows(all))
		if b.table.Selected() == "" && len(all) > 0 {
			b.table.Select(all[0].key())
		}
		b.draw()
	})
}

// chosen returns the selected thing, or nil.
func (b *trashDialog) chosen() *Trashed {
	for i := range b.all {
		if b.all[i].key() == b.table.Selected() {
			return &b.all[i]
		}
	}
	return nil
}

// unsure makes the buttons ask again.
func (b *trashDialog) unsure() {
	b.sure = ""
	b.remove.Importance, b.empty.Importance = widget.MediumImportance, widget.MediumImportance
	b.remove.SetText(removeText)
	b.empty.SetText(emptyText)
	b.draw()
}

// draw updates the buttons.
func (b *trashDialog) draw() {
	enable(b.restore, b.chosen() != nil && !b.doing)
	enable(b.remove, b.chosen() != nil && !b.doing)
	enable(b.empty, len(b.all) > 0 && !b.doing)
}

// certain makes a button ask first; the second press confirms.
func (b *trashDialog) certain(button *widget.Button, what, question, yes string) bool {
	if b.sure == what {
		return true
	}
	b.unsure()
	b.sure = what
	button.Importance = widget.DangerImportance
	button.SetText(yes)
	b.notice.Say(question, widgets.Warning)
	return false
}

// do changes the trash in the background, shows the result, and reads the trash again.
func (b *trashDialog) do(doing string, change func(context.Context) (string, error), then func()) {
	b.doing = true
	b.notice.Say(doing, widgets.Accent)
	b.unsure()
	async.Work(func() (string, error) { return change(context.Background()) }, func(done string, err error) {
		b.doing = false
		if err != nil {
			b.notice.Say(words.Trouble(err), widgets.Bad)
		} else {
			b.notice.Say(done, widgets.Good)
			then()
		}
		b.draw()
		b.look()
	})
}

func (b *trashDialog) takeOut() {
	c := b.chosen()
	if c == nil {
		return
	}
	s, thing := b.screen, c.Thing
	text := c.text()
	b.do("Restoring…", func(ctx context.Context) (string, error) { return text + " is restored.", s.desk.Restore(ctx, thing) }, func() {
		s.undo.forget(func(t Thing) bool { return t != thing })
		s.restored([]Thing{thing})
	})
}

func (b *trashDialog) deleteOne() {
	c := b.chosen()
	if c == nil || !b.certain(b.remove, c.key(), c.text()+" will be deleted permanently. This cannot be undone.", "Delete permanently") {
		return
	}
	s, thing, text := b.screen, c.Thing, c.text()
	b.do("Deleting…", func(ctx context.Context) (string, error) {
		return text + " is permanently deleted.", s.desk.DeleteTrashed(ctx, thing)
	}, func() {
		s.undo.forget(func(t Thing) bool { return t != thing })
	})
}

func (b *trashDialog) deleteAll() {
	if len(b.all) == 0 {
		return
	}
	var bytes int64
	upTo := time.Time{}
	going := map[Thing]bool{}
	for i := range b.all {
		bytes += b.all[i].Bytes
		going[b.all[i].Thing] = true
		if b.all[i].At.After(upTo) {
			upTo = b.all[i].At
		}
	}
	question := fmt.Sprintf("All %d items will be deleted permanently, about %s. This cannot be undone.", len(b.all), engine.FormatBytes(bytes))
	if len(b.all) == 1 {
		question = fmt.Sprintf("The item will be deleted permanently, about %s. This cannot be undone.", engine.FormatBytes(bytes))
	}
	if !b.certain(b.empty, "all "+strconv.Itoa(len(b.all)), question, "Delete all permanently") {
		return
	}
	s := b.screen
	b.do("Deleting…", func(ctx context.Context) (string, error) {
		n, err := s.desk.EmptyTrash(ctx, upTo)
		return "Deleted permanently: " + strconv.Itoa(n) + ".", err
	}, func() {
		s.undo.forget(func(t Thing) bool { return !going[t] })
	})
}

// gone reports whether an error says that a thing does not exist.
func gone(err error) bool { return errors.Is(err, engine.ErrNotFound) }
