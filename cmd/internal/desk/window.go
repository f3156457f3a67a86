package desk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/ui"
)

// Start is how the program was started.
type Start struct {
	Data   string        // the data folder; "" is the one that was chosen
	File   string        // a scenario to begin with; "" is none
	Files  <-chan string // those that the system gives later; nil where it starts the program again
	Attach ui.Attach     // tells of windows what the toolkit does not
}

// Show opens the window and returns when it is closed and everything is written, with the program's exit code. Where a
// window works with the data folder already, that one shows the file instead.
func Show(app fyne.App, start Start) int {
	if start.Data == "" {
		var err error
		if start.Data, err = wire.DataFolder(); err != nil {
			return refuse(app, err)
		}
	}
	if path, err := filepath.Abs(start.File); start.File != "" && err == nil && !missing(path) {
		start.File = path // it is remembered, and the next start may be in another folder
	}
	s := &showing{app: app, start: start, ending: &ending{app: app}}
	var log io.Closer
	s.log, log = openLog(start.Data, &s.level, os.Stderr)
	defer func() { _ = log.Close() }() // there is nowhere to say what goes wrong with it
	go s.ending.listen()
	if sqlite.Outdated(start.Data) {
		return s.update()
	}
	d, err := Open(start.Data)
	if errors.Is(err, engine.ErrInUse) && control.Raise(context.Background(), start.Data, start.File) == nil {
		return 0
	}
	if err != nil {
		return refuse(app, err)
	}
	window := s.window(d)
	d.guarded(window.Run)
	return s.close(d)
}

// showing is a program with a window, from its beginning to its end.
type showing struct {
	app     fyne.App
	start   Start
	ending  *ending
	log     *trouble
	level   slog.LevelVar
	unserve func() error // ends what a second start of the program asks
}

// window makes the window of a desk.
func (s *showing) window(d *Desk) *ui.App {
	d.log, d.level = s.log, &s.level
	s.ending.of(d)
	screens := d.Screens()
	screens.Attach = s.start.Attach
	window := ui.New(s.app, screens)
	if s.start.File != "" {
		window.Open(s.start.File)
	}
	unserve, err := control.ServeWindow(s.start.Data, window.Raise)
	if err != nil {
		slog.Warn("a second start of the program cannot show this window", "error", err)
		unserve = func() error { return nil }
	}
	s.unserve = unserve
	if s.start.Files != nil {
		go func() {
			for file := range s.start.Files {
				window.Raise(file)
			}
		}()
	}
	return window
}

// close brings everything to an end after the window was closed.
func (s *showing) close(d *Desk) int {
	select {
	case <-d.Settled(): // what it came to is still being told, perhaps
		d.telling.Wait()
	default:
	}
	s.ending.hurry()
	if err := errors.Join(s.unserve(), d.Close()); err != nil {
		slog.Error("closing", "error", err)
		return 1
	}
	return 0
}

// update shows how far it is while an older store is brought up to date, and then the window.
func (s *showing) update() int {
	win := s.app.NewWindow("Throng")
	text, bar := widget.NewLabel("The store of runs is being brought up to date for this version of Throng."), widget.NewProgressBar()
	text.Wrapping = fyne.TextWrapWord
	win.SetContent(container.NewPadded(container.NewVBox(
		widget.NewLabelWithStyle("One moment", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}), text, bar)))
	win.Resize(fyne.NewSize(560, 160))
	var d *Desk
	var window *ui.App
	var refused error
	show := func(u sqlite.Update) {
		fyne.Do(func() {
			text.SetText(u.String())
			bar.SetValue(float64(u.Done) / float64(max(u.Bytes, 1)))
		})
	}
	win.SetCloseIntercept(func() {}) // the store is being written
	s.app.Lifecycle().SetOnStarted(func() {
		go func() {
			opened, err := openWith(s.start.Data, show)
			fyne.Do(func() {
				if err != nil {
					refused = err
					fillRefusal(s.app, win, err)
					win.SetCloseIntercept(win.Close)
					return
				}
				d = opened
				window = s.window(d)
				window.Show()
				win.Close()
			})
		}()
	})
	func() {
		defer func() {
			if p := recover(); p != nil {
				if d == nil {
					panic(p)
				}
				d.guarded(func() { panic(p) })
			}
		}()
		win.ShowAndRun()
	}()
	if window != nil {
		window.Ended()
	}
	switch {
	case d != nil:
		return s.close(d)
	case refused != nil:
		slog.Error("the window cannot be opened", "error", refused)
	}
	return 1
}

// refuse says in a small window why there is nothing to show.
func refuse(app fyne.App, err error) int {
	slog.Error("the window cannot be opened", "error", err)
	win := app.NewWindow("Throng")
	fillRefusal(app, win, err)
	win.ShowAndRun()
	return 1
}

// fillRefusal says in a window why there is nothing to show.
func fillRefusal(app fyne.App, win fyne.Window, err error) {
	text := widget.NewLabel(err.Error())
	text.Wrapping = fyne.TextWrapWord
	buttons := container.NewHBox(widget.NewButton("Quit", app.Quit))
	if !errors.Is(err, engine.ErrInUse) && os.Getenv(wire.DataEnv) == "" {
		buttons.Add(widget.NewButton("Use another data folder…", func() { chooseFolder(app, win) }))
	}
	win.SetContent(container.NewPadded(container.NewBorder(
		widget.NewLabelWithStyle("Throng cannot start", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}), buttons, nil, nil, text)))
	win.Resize(fyne.NewSize(640, 420))
}

func chooseFolder(app fyne.App, win fyne.Window) {
	dialog.ShowFolderOpen(func(dir fyne.ListableURI, err error) {
		if err == nil && dir == nil {
			return
		}
		if err == nil {
			err = wire.ChooseDataFolder(dir.Path())
		}
		if err != nil {
			dialog.ShowError(err, win)
			return
		}
		done := dialog.NewInformation("Data folder", fmt.Sprintf("Throng keeps its data in %s from now on.\nStart it again.", dir.Path()), win)
		done.SetOnClosed(app.Quit)
		done.Show()
	}, win)
}
