package desk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
	"github.com/throng-sim/throng/ui"
)

// Start is how the program was started.
type Start struct {
	Data     string            // the data folder; "" is the chosen one
	File     string            // a scenario to open; "" if none
	Files    <-chan string     // files that the system opens later; nil if it starts the program again instead
	Attach   ui.Attach         // access to the system's windows
	IconText func(text string) // shows a text next to the icon in the menu bar
	Dialogs  ui.FileDialogs    // the system's file dialogs; nil uses the toolkit's
	Tool     ui.Tool           // the terminal program, if it is not on PATH
}

// Show opens the window and returns the program's exit code when the window is closed and everything is written. If another window uses the
// data folder, that window opens the file instead.
func Show(toolkit fyne.App, start Start) int {
	if start.Data == "" {
		var err error
		if start.Data, err = config.DataFolder(); err != nil {
			return refuse(toolkit, err)
		}
	}
	if path, err := filepath.Abs(start.File); start.File != "" && err == nil && !missing(path) {
		start.File = path // a relative path would depend on the working directory of the next start
	}
	s := &showing{app: toolkit, start: start, ending: &ending{app: toolkit}}
	var log io.Closer
	s.log, log = openLog(start.Data, &s.level, os.Stderr)
	defer func() { _ = log.Close() }() // there is no place to report the error
	go s.ending.listen()
	d, err := claim(start.Data)
	if errors.Is(err, engine.ErrInUse) && control.Raise(context.Background(), start.Data, start.File) == nil {
		return 0
	}
	if err != nil {
		return refuse(toolkit, err)
	}
	s.desk = d
	s.listen()
	if sqlite.Outdated(start.Data) {
		return s.update()
	}
	if err := d.open(nil); err != nil {
		return refuse(toolkit, s.giveUp(err))
	}
	window := s.window()
	toolkit.Lifecycle().SetOnStarted(func() { s.front(window.Raise) })
	d.guarded(toolkit, window.Run)
	return s.close()
}

// showing is a program with a window, from start to end.
type showing struct {
	app     fyne.App
	start   Start
	desk    *Desk
	ending  *ending
	log     *trouble
	level   slog.LevelVar
	unserve func() error // stops listening for second starts of the program

	mu    sync.Mutex
	raise func(file string) // brings a window to the front, from any goroutine; nil while there is none
	asked []string          // requests of second starts before there was a window
}

// listen handles second starts of the program, and files that the system opens.
func (s *showing) listen() {
	unserve, err := control.ServeWindow(s.start.Data, s.again)
	if err != nil {
		slog.Warn("cannot listen for second starts of the program", "error", err)
		unserve = func() error { return nil }
	}
	s.unserve = unserve
	if s.start.Files != nil {
		go func() {
			for file := range s.start.Files {
				s.again(file)
			}
		}()
	}
}

// again brings the window to the front, with a file or "", as soon as there is one.
func (s *showing) again(file string) {
	s.mu.Lock()
	raise := s.raise
	if raise == nil {
		s.asked = append(s.asked, file)
	}
	s.mu.Unlock()
	if raise != nil {
		raise(file)
	}
}

// front sets what comes to the front from now on.
func (s *showing) front(raise func(file string)) {
	s.mu.Lock()
	asked := s.asked
	s.raise, s.asked = raise, nil
	s.mu.Unlock()
	for _, file := range asked {
		raise(file)
	}
}

// giveUp unlocks the data folder after the store could not be opened.
func (s *showing) giveUp(err error) error {
	return errors.Join(err, s.unserve(), s.desk.window.Close())
}

// window creates the window of the desk.
func (s *showing) window() *ui.App {
	d := s.desk
	d.log, d.level = s.log, &s.level
	s.ending.of(d)
	screens := d.Screens()
	screens.Attach, screens.Dialogs, screens.IconText, screens.Tool = s.start.Attach, s.start.Dialogs, s.start.IconText, s.start.Tool
	window := ui.New(s.app, screens)
	if s.start.File != "" {
		window.Open(s.start.File)
	}
	return window
}

// close closes everything after the window was closed.
func (s *showing) close() int {
	select {
	case <-s.desk.Settled(): // notifications may still be in progress
		s.desk.telling.Wait()
	default:
	}
	s.ending.hurry()
	if err := errors.Join(s.unserve(), s.desk.Close()); err != nil {
		slog.Error("closing", "error", err)
		return 1
	}
	return 0
}

// refuse shows an error in a small window.
func refuse(toolkit fyne.App, err error) int {
	slog.Error("the window cannot be opened", "error", err)
	win := toolkit.NewWindow("Throng")
	fillRefusal(toolkit, win, err)
	stopped := ui.WithoutStopEvent(toolkit)
	win.ShowAndRun()
	stopped()
	return 1
}

// fillRefusal fills the window with an error.
func fillRefusal(toolkit fyne.App, win fyne.Window, err error) {
	text := widget.NewLabel(err.Error())
	text.Wrapping = fyne.TextWrapWord
	buttons := container.NewHBox(widget.NewButton("Quit", toolkit.Quit))
	if !errors.Is(err, engine.ErrInUse) && os.Getenv(about.DataEnv) == "" {
		buttons.Add(widget.NewButton("Use another data folder…", func() { chooseFolder(toolkit, win) }))
	}
	win.SetContent(container.NewPadded(container.NewBorder(
		widget.NewLabelWithStyle("Throng cannot start", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}), buttons, nil, nil, text)))
	win.Resize(fyne.NewSize(640, 420))
}

func chooseFolder(toolkit fyne.App, win fyne.Window) {
	dialog.ShowFolderOpen(func(dir fyne.ListableURI, err error) {
		if err == nil && dir == nil {
			return
		}
		if err == nil {
			err = config.ChooseDataFolder(dir.Path())
		}
		if err != nil {
			dialog.ShowError(err, win)
			return
		}
		done := dialog.NewInformation("Data folder", fmt.Sprintf("Throng will store its data in %s.\nStart it again.", dir.Path()), win)
		done.SetOnClosed(toolkit.Quit)
		done.Show()
	}, win)
}
