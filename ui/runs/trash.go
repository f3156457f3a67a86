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

// trashDays is how long the store keeps what is in the trash.
const trashDays = 30

var trashColumns = []widgets.Column{
	{Title: "Deleted", Sample: "2026-12-28 00:00:00"},
	{Title: "What", Sample: "checkpoint 100"},
	{Title: "Title", Sample: "Shoppers of a day", Weight: 1},
	{Title: "Started", Sample: "2026-12-28 00:00:00", Drop: 2},
	{Title: "Goes in", Sample: "30 days", Align: fyne.TextAlignTrailing},
	{Title: "Size", Sample: "1000 kB", Align: fyne.TextAlignTrailing},
	{Title: "Run", Sample: "20261228-000000-mmmm", Drop: 1},
}

func binRows(all []Trashed) []widgets.Row {
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

// text is what a sentence calls a thing.
func (b *Trashed) text() string {
	if b.Checkpoint > 0 {
		return fmt.Sprintf("Checkpoint %d of %s (%s)", b.Checkpoint, b.Title, b.Run)
	}
	return fmt.Sprintf("%s (%s)", b.Title, b.Run)
}

// bin is the dialog that shows what was deleted. What it asks for goes on when it is closed, and is not heard then.
type bin struct {
	screen *Screen
	dialog dialog.Dialog
	all    []Trashed
	asked  int    // numbers what was asked for: an answer counts if nothing was asked since
	doing  bool   // something is being changed
	sure   string // what the next press of a button deletes for good; "" is that it asks first

	table   *widgets.Table
	notice  *widgets.Notice
	restore *widget.Button
	remove  *widget.Button
	empty   *widget.Button
}

// What the buttons that delete for good say at first, and when they are sure.
const (
	removeText = "Delete for good…"
	emptyText  = "Empty trash…"
)

// showTrash opens the dialog.
func (s *Screen) showTrash() {
	b := &bin{screen: s, notice: widgets.NewNotice()}
	b.table = widgets.NewTable(trashColumns, "Looking into the trash…", 6)
	b.table.OnSelected = func(string) { b.unsure() }
	b.restore = &widget.Button{Text: "Restore", Icon: theme.ContentUndoIcon(), Importance: widget.HighImportance, OnTapped: b.takeOut}
	b.remove = widget.NewButton(removeText, b.deleteOne)
	b.empty = widget.NewButton(emptyText, b.deleteAll)
	end := widget.NewButton("Close", func() { b.dialog.Hide() })
	about := form.NewNote(fmt.Sprintf("What is deleted stays here for %d days and takes room until then. Rows in Postgres are deleted at once, and not kept here.", trashDays))
	foot := container.NewVBox(b.notice, container.NewBorder(nil, nil, container.NewHBox(b.empty), container.NewHBox(end, b.remove, b.restore), layout.NewSpacer()))
	b.dialog = dialog.NewCustomWithoutButtons("Bin", container.NewBorder(form.NewStack(about), foot, nil, nil, b.table), s.win)
	b.dialog.SetOnClosed(func() { b.asked++ })
	em := theme.TextSize()
	b.dialog.Resize(within(s.win.Canvas().Size(), fyne.NewSize(80*em, 40*em)))
	widgets.Ask(s.win, b.dialog, nil)
	b.draw()
	b.look()
}

// look asks what is in the trash.
func (b *bin) look() {
	b.asked++
	asked := b.asked
	async.Work(func() ([]Trashed, error) { return b.screen.desk.Trashed(context.Background()) }, func(all []Trashed, err error) {
		if asked != b.asked {
			return
		}
		if err != nil {
			b.table.SetEmpty("")
			b.notice.Say("The trash could not be read; nothing was changed. "+words.Trouble(err), widgets.Bad)
			return
		}
		if !slices.EqualFunc(all, b.all, func(x, y Trashed) bool { return x.Thing == y.Thing }) {
			b.unsure()
		}
		b.all = all
		b.table.SetEmpty("The trash is empty. What is deleted stays here for a while, and can be restored.")
		b.table.SetRows(binRows(all))
		if b.table.Selected() == "" && len(all) > 0 {
			b.table.Select(all[0].key())
		}
		b.draw()
	})
}

// chosen is the selected thing; nil without one.
func (b *bin) chosen() *Trashed {
	for i := range b.all {
		if b.all[i].key() == b.table.Selected() {
			return &b.all[i]
		}
	}
	return nil
}

// unsure has what was about to be deleted for good asked about again.
func (b *bin) unsure() {
	b.sure = ""
	b.remove.Importance, b.empty.Importance = widget.MediumImportance, widget.MediumImportance
	b.remove.SetText(removeText)
	b.empty.SetText(emptyText)
	b.draw()
}

// draw shows what can be done.
func (b *bin) draw() {
	enable(b.restore, b.chosen() != nil && !b.doing)
	enable(b.remove, b.chosen() != nil && !b.doing)
	enable(b.empty, len(b.all) > 0 && !b.doing)
}

// certain has a button ask first: pressed again, it is meant.
func (b *bin) certain(button *widget.Button, what, question, yes string) bool {
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

// do changes the trash, says what came of it, and looks again.
func (b *bin) do(doing string, change func(context.Context) (string, error), then func()) {
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

func (b *bin) takeOut() {
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

func (b *bin) deleteOne() {
	c := b.chosen()
	if c == nil || !b.certain(b.remove, c.key(), c.text()+" goes for good. This cannot be undone.", "Delete it for good") {
		return
	}
	s, thing, text := b.screen, c.Thing, c.text()
	b.do("Deleting…", func(ctx context.Context) (string, error) { return text + " is gone.", s.desk.DeleteTrashed(ctx, thing) }, func() {
		s.undo.forget(func(t Thing) bool { return t != thing })
	})
}

func (b *bin) deleteAll() {
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
	question := fmt.Sprintf("All %d in the trash go for good, about %s. This cannot be undone.", len(b.all), engine.FormatBytes(bytes))
	if len(b.all) == 1 {
		question = fmt.Sprintf("The one in the trash goes for good, about %s. This cannot be undone.", engine.FormatBytes(bytes))
	}
	if !b.certain(b.empty, "all "+strconv.Itoa(len(b.all)), question, "Delete all for good") {
		return
	}
	s := b.screen
	b.do("Deleting…", func(ctx context.Context) (string, error) {
		n, err := s.desk.EmptyTrash(ctx, upTo)
		return "Gone for good: " + strconv.Itoa(n) + ".", err
	}, func() {
		s.undo.forget(func(t Thing) bool { return !going[t] })
	})
}

// gone reports whether an error says that a thing is not there.
func gone(err error) bool { return errors.Is(err, engine.ErrNotFound) }
