package runs

import (
	"context"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// deletion is what one order moved to the trash.
type deletion struct {
	text   string // what was deleted
	things []Thing
}

// undoing is the bar that undoes the last deletion, and remembers earlier ones while the program runs.
type undoing struct {
	screen  *Screen
	past    []deletion
	working bool

	bar    *fyne.Container
	notice *widgets.Notice
	button *widget.Button
}

func newUndoing(s *Screen) *undoing {
	u := &undoing{screen: s, notice: widgets.NewNotice()}
	u.button = widget.NewButtonWithIcon("Undo", theme.ContentUndoIcon(), u.undo)
	away := widget.NewButtonWithIcon("", theme.CancelIcon(), u.hide)
	away.Importance = widget.LowImportance
	text := container.NewVBox(layout.NewSpacer(), u.notice, layout.NewSpacer())
	u.bar = container.NewBorder(nil, nil, nil, container.NewHBox(u.button, away), text)
	u.bar.Hide()
	return u
}

// deleted offers to undo a deletion.
func (u *undoing) deleted(d deletion) {
	if len(d.things) == 0 {
		return
	}
	u.past = append(u.past, d)
	u.say(fmt.Sprintf("Deleted: %s. It stays in the trash for %d days.", d.text, trashDays), widgets.Good)
}

func (u *undoing) say(text string, tone widgets.Tone) {
	u.notice.Say(text, tone)
	enable(u.button, len(u.past) > 0 && !u.working)
	u.bar.Show()
	u.screen.top.Refresh()
}

func (u *undoing) hide() {
	if u.bar.Visible() {
		u.bar.Hide()
		u.screen.top.Refresh()
	}
}

// Undo undoes the last deletion, if there is one.
func (s *Screen) Undo() { s.undo.undo() }

// undo undoes the last deletion.
func (u *undoing) undo() {
	if len(u.past) == 0 || u.working {
		return
	}
	d := u.past[len(u.past)-1]
	u.working = true
	u.say("Restoring…", widgets.Accent)
	async.Work(func() (left []Thing, err error) { return restoreAll(u.screen.desk, d.things) }, func(left []Thing, err error) {
		u.working = false
		u.past = u.past[:len(u.past)-1]
		if err != nil {
			if gone(err) { // the thing no longer exists
				left = left[1:]
			}
			if len(left) > 0 {
				u.past = append(u.past, deletion{d.text, left})
			}
			u.say(words.Trouble(err), widgets.Bad)
			return
		}
		u.say(d.text+": restored.", widgets.Good)
		u.screen.restored(d.things)
	})
}

// restoreAll restores things from the trash, and returns those that it did not restore.
func restoreAll(desk Desk, things []Thing) (left []Thing, err error) {
	for i, thing := range things {
		if err := desk.Restore(context.Background(), thing); err != nil {
			return things[i:], err
		}
	}
	return nil, nil
}

// restored shows what was restored.
func (s *Screen) restored(things []Thing) {
	if len(things) > 0 && things[0].Checkpoint == 0 {
		s.chosen, s.older = things[0].Run, 0
	}
	s.load()
}

// forget drops deletions of things that are not in the trash any more.
func (u *undoing) forget(stays func(Thing) bool) {
	var past []deletion
	for _, d := range u.past {
		var things []Thing
		for _, thing := range d.things {
			if stays(thing) {
				things = append(things, thing)
			}
		}
		if len(things) > 0 {
			past = append(past, deletion{d.text, things})
		}
	}
	last := len(u.past) - 1
	if len(past) != len(u.past) || last >= 0 && len(past[last].things) != len(u.past[last].things) {
		u.hide()
	}
	u.past = past
}

// runText names a run in the bar.
func (s *Screen) runText(run engine.RunID) string {
	for i := range s.runs {
		if s.runs[i].ID == run {
			return fmt.Sprintf("%s (%s)", s.runs[i].Title, run)
		}
	}
	return "Run " + string(run)
}
