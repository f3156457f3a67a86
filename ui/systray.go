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

// systemTray is the program's icon in the system tray or menu bar. Its menu shows the run's progress and the most common actions. Its
// methods do nothing on nil, if there is no system tray.
type systemTray struct {
	app   *App
	of    desktop.App
	shown standing
	drawn time.Time
	text  string // next to the icon
}

// newSystemTray adds the program to the system tray; it returns nil if there is none.
func newSystemTray(a *App) (t *systemTray) {
	of, ok := a.app.(desktop.App)
	if !ok || !systemTrayPossible() {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Warn("there is no system tray", "error", p)
			t = nil
		}
	}()
	t = &systemTray{app: a, of: of, shown: stand(a.desk.Live.Job())}
	t.draw()
	return t
}

// systemTrayPossible reports whether the system can have a system tray. On Linux, a system tray needs the session bus,
// found through its environment variable or as a socket in the runtime directory.
func systemTrayPossible() bool {
	if runtime.GOOS != "linux" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return os.Getenv("XDG_RUNTIME_DIR") != "" && err == nil
}

// systemTrayEvery is the minimum interval between updates of the menu, because each one rebuilds it.
const systemTrayEvery = 5 * time.Second

// follow updates the menu: immediately if a button changes, otherwise from time to time.
func (t *systemTray) follow(at standing) {
	if t == nil || at == t.shown {
		return
	}
	if words := at.percentage(); words != t.text && t.app.desk.IconText != nil {
		t.text = words
		t.app.desk.IconText(words)
	}
	if moved := at.over != t.shown.over || at.held != t.shown.held; !moved && time.Since(t.drawn) < systemTrayEvery {
		return
	}
	t.shown = at
	t.draw()
}

// percentage returns the text next to the icon.
func (s standing) percentage() string {
	if s.over {
		return ""
	}
	return s.words
}

func (t *systemTray) draw() {
	t.drawn = time.Now()
	t.of.SetSystemTrayMenu(t.menu())
}

// menu returns the menu for the current state.
func (t *systemTray) menu() *fyne.Menu {
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

func (t *systemTray) show() {
	t.app.win.Show()
	t.app.win.RequestFocus()
}

// pauseOrResume pauses or resumes the run. Live shows the result.
func (t *systemTray) pauseOrResume() {
	job, held := t.app.desk.Live.Job(), t.shown.held
	if job == nil {
		return
	}
	async.Work(func() (struct{}, error) {
		if held {
			return struct{}{}, job.Resume("user")
		}
		return struct{}{}, job.Pause("user", "by hand, in the system tray")
	}, func(_ struct{}, err error) {
		if err != nil {
			t.show()
			t.app.complain(err)
		}
	})
}
