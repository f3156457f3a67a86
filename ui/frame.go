package ui

import (
	"image"
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Native is what the system knows of a window and the toolkit does not tell. Its methods are called on the UI goroutine.
type Native interface {
	// Place is where the window stands, in the system's pixels.
	Place() (x, y int)
	// Move puts it elsewhere, unless that is on no screen.
	Move(x, y int)
	Focused() bool
}

// Attach finds the window that is being painted; nil where it cannot. keys hears of Escape, Return and the function keys
// before what has the focus, and reports whether they were of use: the toolkit gives them to that alone.
type Attach func(keys func(fyne.KeyName) bool) Native

// screen is a page of a window. Its methods are called on the UI goroutine.
type screen interface {
	Content() fyne.CanvasObject
	Show()
	Hide()
	Tick()
}

// actor is a screen that says what can be done on it.
type actor interface{ Actions() []action.Action }

// leaver is a screen with something that Escape leaves; false is that nothing is open.
type leaver interface{ Leave() bool }

// page is a screen with its place in the navigation.
type page struct {
	title string
	icon  fyne.Resource
	help  string // what the guide says of it: a page, or a heading of one
	screen
	item *navItem
	look looks // that it was drawn with
}

// looks is what colours and sizes come from.
type looks struct {
	fyne.Theme
	variant fyne.ThemeVariant
}

// frame is a window: the navigation, and the screens that it leads to.
type frame struct {
	of       *App
	win      fyne.Window
	native   Native // nil until the window was painted
	attached bool
	single   bool      // it has one page, and no navigation
	seen     time.Time // when its first frame was on the screen; zero before
	pages    []*page
	run      *page // of the run in progress
	current  *page
	content  *fyne.Container
	deeds    []*deed
	menu     *fyne.MainMenu // nil in all but the first
}

func newFrame(of *App, title string) *frame {
	return &frame{of: of, win: of.app.NewWindow(title)}
}

// build lays the window out with its pages.
func (f *frame) build() {
	nav := container.NewVBox()
	for _, p := range f.pages {
		p.look = f.of.look()
		p.item = newNavItem(p.title, p.icon, func() { f.show(p) })
		nav.Add(p.item)
	}
	f.content = container.NewStack()
	guide := newNavItem(guideTitle, theme.HelpIcon(), f.help)
	var side fyne.CanvasObject = container.NewPadded(container.NewBorder(nil, guide, nil, nil, nav))
	if f.single {
		side = nil
	}
	layers := container.NewStack(container.NewBorder(nil, nil, side, nil, container.NewPadded(f.content)))
	if f.of.desk.Attach != nil {
		layers.Add(container.NewWithoutLayout(f.painted()))
	}
	f.win.SetContent(layers)
	f.win.SetPadded(false)
	f.deeds = f.table()
	for _, d := range f.deeds {
		for _, s := range d.shortcuts() {
			f.win.Canvas().AddShortcut(s, func(fyne.Shortcut) { f.do(d) })
		}
	}
	f.win.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) { f.key(e.Name) })
}

// painted is a point of the window that finds the system's window when it is painted.
func (f *frame) painted() fyne.CanvasObject {
	nothing := image.NewUniform(color.Transparent)
	point := canvas.NewRaster(func(int, int) image.Image {
		if !f.attached {
			f.attached = true
			f.native = f.of.desk.Attach(f.key)
			async.Do(func() {
				f.seen = time.Now()
				f.of.place(f)
			})
		}
		return nothing
	})
	point.Resize(fyne.NewSquareSize(1))
	return point
}

// show makes a page the visible one.
func (f *frame) show(p *page) {
	if f.current == p {
		return
	}
	if f.current != nil {
		f.current.Hide()
		f.current.item.choose(false)
	}
	f.current = p
	p.item.choose(true)
	// A screen that is larger than the window, as it is with large text on a small screen, scrolls: else the window would grow,
	// beyond the screen's edge where it must.
	f.content.Objects = []fyne.CanvasObject{container.NewScroll(p.Content())}
	f.content.Refresh()
	p.Show()
	if p.look != f.of.look() { // the toolkit brings a new look only to what is visible then
		f.of.app.Settings().SetTheme(f.of.look().Theme)
		p.look = f.of.look()
	}
	f.drawMenu()
}

func (f *frame) tick() {
	f.current.Tick()
	f.drawMenu()
}

// key hears a key before what has the focus, and reports whether it was of use.
func (f *frame) key(key fyne.KeyName) bool {
	c := f.win.Canvas()
	if widgets.Key(c, key) {
		return true
	}
	if key == fyne.KeyEscape {
		if c.Overlays().Top() != nil {
			return false
		}
		l, ok := f.current.screen.(leaver)
		return ok && l.Leave()
	}
	for _, d := range f.deeds {
		if d.Modifier == 0 && d.Key == key && (d.over || c.Overlays().Top() == nil) {
			f.do(d)
			return true
		}
	}
	return false
}
