package ui

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"github.com/throng-sim/throng/ui/internal/async"
)

// tray is the program in the system's tray or menu bar: how far the run is, and what is wanted most while its window is
// elsewhere. Its methods do nothing on nil, where there is no tray.
type tray struct {
	app   *App
	of    desktop.App
	shown standing
	drawn time.Time
}

// newTray puts the program into the tray; nil where there is none.
func newTray(a *App) (t *tray) {
	of, ok := a.app.(desktop.App)
	if !ok || !trayed() {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Warn("there is no tray", "error", p)
			t = nil
		}
	}()
	t = &tray{app: a, of: of, shown: stand(a.desk.Live.Job())}
	t.draw()
	return t
}

// trayed reports whether the system can have a tray: on Linux that is behind the session's bus, which is not looked for
// where it is not named.
func trayed() bool {
	if runtime.GOOS != "linux" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return os.Getenv("XDG_RUNTIME_DIR") != "" && err == nil
}

// trayEvery is how often the tray's menu changes at most: each time it is made anew.
const trayEvery = 5 * time.Second

// follow shows how far the run is: at once where a button becomes another, else from time to time.
func (t *tray) follow(at standing) {
	if t == nil || at == t.shown {
		return
	}
	if moved := at.over != t.shown.over || at.held != t.shown.held; !moved && time.Since(t.drawn) < trayEvery {
		return
	}
	t.shown = at
	t.draw()
}

func (t *tray) draw() {
	t.drawn = time.Now()
	t.of.SetSystemTrayMenu(t.menu())
}

// menu is what the tray shows now.
func (t *tray) menu() *fyne.Menu {
	line := fyne.NewMenuItem(t.shown.line(), nil)
	line.Disabled = true
	items := []*fyne.MenuItem{line}
	if !t.shown.over {
		pause := "Pause"
		if t.shown.held {
			pause = "Resume"
		}
		items = append(items, fyne.NewMenuItem(pause, t.pauseOrResume))
	}
	quit := fyne.NewMenuItem("Quit", func() {
		t.show()
		t.app.close()
	})
	quit.IsQuit = true
	items = append(items, fyne.NewMenuItemSeparator(), fyne.NewMenuItem("Show", t.show), fyne.NewMenuItemSeparator(), quit)
	return fyne.NewMenu("Throng", items...)
}

func (t *tray) show() {
	t.app.win.Show()
	t.app.win.RequestFocus()
}

// pauseOrResume has the run wait, or go on. What comes of it stands in Live.
func (t *tray) pauseOrResume() {
	job, held := t.app.desk.Live.Job(), t.shown.held
	if job == nil {
		return
	}
	async.Work(func() (struct{}, error) {
		if held {
			return struct{}{}, job.Resume("user")
		}
		return struct{}{}, job.Pause("user", "by hand, in the tray")
	}, func(_ struct{}, err error) {
		if err != nil {
			t.show()
			t.app.complain(err)
		}
	})
}
