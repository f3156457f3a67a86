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

// mergeQueue is the program in the system's merge queue or menu bar: how far the run is, and what is wanted most while its window is
// elsewhere. Its methods do nothing on nil, where there is no merge queue.
type mergeQueue struct {
	app   *App
	of    desktop.App
	shown standing
	drawn time.Time
}

// newMergeQueue puts the program into the merge queue; nil where there is none.
func newMergeQueue(a *App) (t *mergeQueue) {
	of, ok := a.app.(desktop.App)
	if !ok || !queued() {
		return nil
	}
	defer func() {
		if p := recover(); p != nil {
			slog.Warn("there is no merge queue", "error", p)
			t = nil
		}
	}()
	t = &mergeQueue{app: a, of: of, shown: stand(a.desk.Live.Job())}
	t.draw()
	return t
}

// queued reports whether the system can have a merge queue: on Linux that is behind the session's bus, which is not looked for
// where it is not named.
func queued() bool {
	if runtime.GOOS != "linux" || os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(filepath.Join(os.Getenv("XDG_RUNTIME_DIR"), "bus"))
	return os.Getenv("XDG_RUNTIME_DIR") != "" && err == nil
}

// mergeEvery is how often the merge queue's menu changes at most: each time it is made anew.
const mergeEvery = 5 * time.Second

// follow shows how far the run is: at once where a button becomes another, else from time to time.
func (t *mergeQueue) follow(at standing) {
	if t == nil || at == t.shown {
		return
	}
	if moved := at.over != t.shown.over || at.held != t.shown.held; !moved && time.Since(t.drawn) < mergeEvery {
		return
	}
	t.shown = at
	t.draw()
}

func (t *mergeQueue) draw() {
	t.drawn = time.Now()
	t.of.SetSystemTrayMenu(t.menu())
}

// menu is what the merge queue shows now.
func (t *mergeQueue) menu() *fyne.Menu {
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

func (t *mergeQueue) show() {
	t.app.win.Show()
	t.app.win.RequestFocus()
}

// pauseOrResume has the run wait, or go on. What comes of it stands in Live.
func (t *mergeQueue) pauseOrResume() {
	job, held := t.app.desk.Live.Job(), t.shown.held
	if job == nil {
		return
	}
	async.Work(func() (struct{}, error) {
		if held {
			return struct{}{}, job.Resume("user")
		}
		return struct{}{}, job.Pause("user", "by hand, in the merge queue")
	}, func(_ struct{}, err error) {
		if err != nil {
			t.show()
			t.app.complain(err)
		}
	})
}
