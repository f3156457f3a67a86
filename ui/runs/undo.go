package runs

import (
	"context"
	"fmt"

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

// undoing undoes the last deletion, and remembers earlier ones while the program runs. Its button is visible while its message is shown.
type undoing struct {
	screen  *Screen
	past    []deletion
	working bool
	button  *widget.Button
}

func newUndoing(s *Screen) *undoing {
	u := &undoing{screen: s}
	u.button = widget.NewButtonWithIcon("Undo", theme.ContentUndoIcon(), u.undo)
	u.button.Hide()
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
	u.screen.list.say(text, tone)
	u.offer()
}

// offer shows the button while there is something to undo.
func (u *undoing) offer() {
	enable(u.button, !u.working)
	if offered := len(u.past) > 0; u.button.Visible() != offered {
		u.button.Hidden = !offered
		u.screen.list.panel.Refresh()
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
		u.screen.list.say("", widgets.Neutral)
	}
	u.past = past
	u.offer()
}

// runText names a run in the bar.
func (s *Screen) runText(run engine.RunID) string {
	for i := range s.runs {
		if s.runs[i].ID == run {
			return fmt.Sprintf("%s (%s)", s.runs[i].DisplayName(), run)
		}
	}
	return "Run " + string(run)
}
