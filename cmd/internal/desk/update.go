package desk

import (
	"log/slog"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/ui"
)

// updating is a small window with the progress of updating an older store. The fields below text belong to the UI goroutine.
type updating struct {
	*showing
	win    fyne.Window
	bar    *widget.ProgressBar
	text   *widget.Label
	told   string
	leave  bool    // the user closed it: the program ends when the update is complete
	opened bool    // the store
	window *ui.App // nil before
}

// closingWords are added after the user has closed the window during the update.
const closingWords = "\nThrong closes when the update is complete."

func newUpdating(s *showing) *updating {
	u := &updating{showing: s, win: s.app.NewWindow("Throng"), bar: widget.NewProgressBar(), text: widget.NewLabel("")}
	u.text.Wrapping = fyne.TextWrapWord
	u.say("Updating the store of runs for this version of Throng.")
	u.win.SetContent(container.NewPadded(container.NewVBox(
		widget.NewLabelWithStyle("Please wait", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}), u.text, u.bar)))
	u.win.Resize(fyne.NewSize(560, 180))
	u.win.SetCloseIntercept(u.close)
	return u
}

// update updates the store and shows the progress, and continues with the window.
func (s *showing) update() int {
	u := newUpdating(s)
	s.app.Lifecycle().SetOnStarted(func() {
		s.front(u.wanted)
		go u.run()
	})
	s.desk.guarded(s.app, u.win.ShowAndRun)
	if u.window != nil {
		u.window.Ended()
	}
	if !u.opened { // the update failed, or the system ended the program; the next start updates again
		return 1
	}
	return s.close()
}

// run opens the store.
func (u *updating) run() {
	err := u.desk.open(func(now sqlite.Update) {
		fyne.Do(func() {
			u.say(now.String())
			u.bar.SetValue(float64(now.Done) / float64(max(now.Bytes, 1)))
		})
	})
	if err != nil {
		err = u.giveUp(err)
	}
	fyne.Do(func() { u.done(err) })
}

// say shows the progress.
func (u *updating) say(text string) {
	if u.told = text; u.leave {
		text += closingWords
	}
	u.text.SetText(text)
}

// close ends the program after the update.
func (u *updating) close() {
	u.leave = true
	u.say(u.told)
}

// wanted shows a file in the window once it is open. Until then it brings the progress window to the front.
func (u *updating) wanted(file string) {
	fyne.Do(func() {
		if u.window != nil {
			u.window.Raise(file)
			return
		}
		if file != "" {
			u.start.File = file
		}
		u.leave = false // a second start of the program cancels closing
		u.say(u.told)
		u.win.RequestFocus()
	})
}

// done shows the window, or an error.
func (u *updating) done(err error) {
	if err != nil {
		slog.Error("the window cannot be opened", "error", err)
		u.win.SetCloseIntercept(u.win.Close)
		fillRefusal(u.app, u.win, err)
		return
	}
	if u.opened = true; u.leave {
		u.app.Quit()
		return
	}
	u.window = u.showing.window()
	u.front(u.window.Raise)
	u.window.Show()
	u.win.Close()
}
