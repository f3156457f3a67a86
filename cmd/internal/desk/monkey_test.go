package desk

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/storage/repository"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui"
	"github.com/throng-sim/throng/ui/setup"
	"github.com/throng-sim/throng/ui/uitest"
)

// monkey uses a window at random: taps, keys, drags and shortcuts.
type monkey struct {
	t    *testing.T
	draw *rand.Rand
	old  int // number of windows before the test
	win  fyne.Window
	did  map[string]int
}

// typed are the non-letter keys.
var typed = []fyne.KeyName{
	fyne.KeyTab, fyne.KeyTab, fyne.KeyReturn, fyne.KeySpace, fyne.KeyEscape, fyne.KeyUp, fyne.KeyDown, fyne.KeyLeft, fyne.KeyRight,
	fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageUp, fyne.KeyPageDown, fyne.KeyBackspace, fyne.KeyDelete, fyne.KeyPlus, fyne.KeyMinus, fyne.KeyF1,
}

// combined are the keys that are shortcuts together with Ctrl.
const combined = "123456789ACEFGHJKLMNPRSTUVXYZ0"

// act does one random action in one of the windows.
func (m *monkey) act() {
	all := fyne.CurrentApp().Driver().AllWindows()[m.old:]
	m.win = all[m.draw.IntN(len(all))]
	c := m.win.Canvas()
	size := c.Size()
	at := fyne.NewPos(m.draw.Float32()*size.Width, m.draw.Float32()*size.Height)
	switch n := m.draw.IntN(100); {
	case n < 50:
		m.did["taps"]++
		test.MoveMouse(c, at)
		test.TapCanvas(c, at)
	case n < 55:
		m.did["turns of the wheel"]++
		test.Scroll(c, at, 0, float32(m.draw.IntN(200)-100))
	case n < 60:
		m.did["drags"]++
		test.Drag(c, at, m.draw.Float32()*400-200, m.draw.Float32()*400-200)
	case n < 62:
		m.did["resizes"]++
		m.win.Resize(fyne.NewSize(640+m.draw.Float32()*1600, 420+m.draw.Float32()*1000))
	case n < 72:
		m.did["digits"]++ // a number is not a host, so no requests leave this machine
		m.focus(func(f fyne.Focusable) { f.TypedRune(rune('0' + m.draw.IntN(10))) })
	case n < 80:
		m.did["shortcuts"]++
		key := fyne.KeyName(combined[m.draw.IntN(len(combined))])
		m.shortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault})
	case n < 83:
		m.did["menus"]++
		m.menu()
	default:
		m.did["keys"]++
		m.key(typed[m.draw.IntN(len(typed))])
	}
}

func (m *monkey) focus(do func(f fyne.Focusable)) {
	if f := m.win.Canvas().Focused(); f != nil {
		do(f)
	}
}

// key presses a key as the driver does: Tab moves the focus unless the focused widget uses it.
func (m *monkey) key(key fyne.KeyName) {
	c := m.win.Canvas()
	f := c.Focused()
	if t, ok := f.(fyne.Tabbable); key == fyne.KeyTab && (!ok || !t.AcceptsTab()) {
		c.FocusNext()
		return
	}
	if f != nil {
		f.TypedKey(&fyne.KeyEvent{Name: key})
	} else if typed := c.OnTypedKey(); typed != nil {
		typed(&fyne.KeyEvent{Name: key})
	}
}

func (m *monkey) shortcut(s fyne.Shortcut) {
	if f, ok := m.win.Canvas().Focused().(fyne.Shortcutable); ok {
		f.TypedShortcut(s)
		return
	}
	if c, ok := m.win.Canvas().(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
}

// menu chooses an entry of the main menu, except Quit.
func (m *monkey) menu() {
	main := m.win.MainMenu()
	if main == nil { // of a second window
		return
	}
	menus := main.Items
	items := menus[m.draw.IntN(len(menus))].Items
	if i := items[m.draw.IntN(len(items))]; !i.IsQuit && i.Action != nil && !i.Disabled {
		i.Action()
	}
}

// cage limits file dialogs to a folder, so that a monkey saves no files elsewhere.
type cage struct {
	folders
	home string
}

// folders is the part of a repository that file dialogs use.
type folders interface {
	repository.AppendableRepository
	repository.ListableRepository
	repository.HierarchicalRepository
}

// CanList reports whether a dialog may show a folder.
func (c cage) CanList(u fyne.URI) (bool, error) {
	if rel, err := filepath.Rel(c.home, u.Path()); err != nil || !filepath.IsLocal(rel) {
		return false, err
	}
	return c.folders.CanList(u)
}

// Parent returns the folder above, as far as dialogs may go.
func (c cage) Parent(u fyne.URI) (fyne.URI, error) {
	if filepath.Clean(u.Path()) == c.home {
		return nil, repository.ErrURIRoot
	}
	return c.folders.Parent(u)
}

// TestMonkey sends 10,000 random taps, keys, drags, shortcuts and resizes to a window during runs. No panic or hang may
// occur, and no goroutine may be left when all windows are closed. Nothing is drawn; package window tests that.
func TestMonkey(t *testing.T) {
	seed := uint64(20261122)
	if text := os.Getenv("THRONG_MONKEY_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", seed)
	home := t.TempDir()
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, home)
	}
	resolver := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		return nil, errors.New("this test asks no one outside")
	}}
	t.Cleanup(func() { net.DefaultResolver = resolver })
	slog.SetDefault(slog.New(slog.DiscardHandler))

	q := uitest.Start(t)
	files, err := repository.ForScheme("file")
	if err != nil {
		t.Fatal(err)
	}
	repository.Register("file", cage{files.(folders), home})
	before := runtime.NumGoroutine()
	old := len(fyne.CurrentApp().Driver().AllWindows())
	d := open(t, t.TempDir())
	app := ui.New(fyne.CurrentApp(), d.Screens())
	app.Run() // the driver returns immediately
	m := &monkey{t: t, draw: rand.New(rand.NewPCG(seed, 2)), old: old, did: map[string]int{}}
	launch(t, d, func(o *setup.Order) { o.Settings.Cycles, o.Settings.TimeScale = 10_000, 3600 }) // a cycle every second
	for range 10_000 {
		m.act()
		q.Drain()
	}
	t.Log(m.did)
	m.close(q, d)
	// The window's pulse and the store's own goroutines continue.
	q.Until("no goroutine is left over", func() bool { return runtime.NumGoroutine() <= before+4 })
}

// close stops the run and waits until the desk has closed it.
func (m *monkey) close(q *uitest.Queue, d *Desk) {
	m.t.Helper()
	if err := d.Stop(true); err != nil && !errors.Is(err, engine.ErrEnded) {
		m.t.Error(err)
	}
	q.Until("the run is taken apart", func() bool {
		select {
		case <-d.Settled():
			return true
		default:
			return false
		}
	})
}
