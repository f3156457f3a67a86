package desk

import (
	"context"
	"errors"
	"fmt"
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
	log := keepLog(os.Stderr)
	ending := &ending{app: app}
	go ending.listen()
	data, file := start.Data, start.File
	if data == "" {
		var err error
		if data, err = wire.DataFolder(); err != nil {
			return refuse(app, err)
		}
	}
	if path, err := filepath.Abs(file); file != "" && err == nil && !missing(path) {
		file = path // it is remembered, and the next start may be in another folder
	}
	d, err := Open(data)
	if errors.Is(err, engine.ErrInUse) && control.Raise(context.Background(), data, file) == nil {
		return 0
	}
	if err != nil {
		return refuse(app, err)
	}
	d.log = log
	ending.of(d)
	screens := d.Screens()
	screens.Attach = start.Attach
	window := ui.New(app, screens)
	if file != "" {
		window.Open(file)
	}
	unserve, err := control.ServeWindow(data, window.Raise)
	if err != nil {
		slog.Warn("a second start of the program cannot show this window", "error", err)
		unserve = func() error { return nil }
	}
	if start.Files != nil {
		go func() {
			for file := range start.Files {
				window.Raise(file)
			}
		}()
	}
	d.guarded(window.Run)
	ending.hurry()
	if err := errors.Join(unserve(), d.Close()); err != nil {
		slog.Error("closing", "error", err)
		return 1
	}
	return 0
}

// refuse says in a small window why there is nothing to show.
func refuse(app fyne.App, err error) int {
	slog.Error("the window cannot be opened", "error", err)
	win := app.NewWindow("Throng")
	text := widget.NewLabel(err.Error())
	text.Wrapping = fyne.TextWrapWord
	buttons := container.NewHBox(widget.NewButton("Quit", app.Quit))
	if !errors.Is(err, engine.ErrInUse) && os.Getenv(wire.DataEnv) == "" {
		buttons.Add(widget.NewButton("Use another data folder…", func() { chooseFolder(app, win) }))
	}
	win.SetContent(container.NewPadded(container.NewBorder(
		widget.NewLabelWithStyle("Throng cannot start", fyne.TextAlignLeading, fyne.TextStyle{Bold: true}), buttons, nil, nil, text)))
	win.Resize(fyne.NewSize(640, 420))
	win.ShowAndRun()
	return 1
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
