package desk

import (
	"log/slog"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/ui"
)

// updating is a small window that shows how far it is while an older store is brought up to date. What is below text is
// the UI goroutine's.
type updating struct {
	*showing
	win    fyne.Window
	bar    *widget.ProgressBar
	text   *widget.Label
	told   string
	leave  bool    // a person closed it: the program ends when the store is whole
	opened bool    // the store
	window *ui.App // nil before
}

// closingWords are added once a person has closed the window: the store is being written.
const closingWords = "\nThrong closes when that is done. The next start finds the store up to date."

func newUpdating(s *showing) *updating {
	u := &updating{showing: s, win: s.app.NewWindow("Throng"), bar: widget.NewProgressBar(), text: widget.NewLabel("")}
	u.text.Wrapping = fyne.TextWrapWord
	u.say("The store of runs is being brought up to date for this version of Throng.")
	u.win.SetContent(container.NewPadded(container.NewVBox(
		widget.NewLabelWithStyle("One moment", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}), u.text, u.bar)))
	u.win.Resize(fyne.NewSize(560, 180))
	u.win.SetCloseIntercept(u.close)
	return u
}

// update brings the store up to date in sight of the person, and goes on with the window.
func (s *showing) update() int {
	u := newUpdating(s)
	s.app.Lifecycle().SetOnStarted(func() {
		s.front(u.wanted)
		go u.run()
	})
	s.desk.guarded(u.win.ShowAndRun)
	if u.window != nil {
		u.window.Ended()
	}
	if !u.opened { // it was refused, or the system ended the program: what was begun is begun anew next time
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

// say shows how far it is.
func (u *updating) say(text string) {
	if u.told = text; u.leave {
		text += closingWords
	}
	u.text.SetText(text)
}

// close has the program end as soon as it can.
func (u *updating) close() {
	u.leave = true
	u.say(u.told)
}

// wanted has the window show a file when it is there, and brings this one to the front until then.
func (u *updating) wanted(file string) {
	fyne.Do(func() {
		if u.window != nil {
			u.window.Raise(file)
			return
		}
		if file != "" {
			u.start.File = file
		}
		u.leave = false // whoever starts the program wants it
		u.say(u.told)
		u.win.RequestFocus()
	})
}

// done shows the window, or why there is none.
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
