package ui

import (
	"image"
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/action"
	"github.com/throng-sim/throng/ui/internal/async"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Native is access to the system's window where the toolkit has none. Call its methods on the UI goroutine.
type Native interface {
	// Place returns the window's position in the system's pixels.
	Place() (x, y int)
	// Move moves the window, unless the position is outside every screen.
	Move(x, y int)
	Focused() bool
}

// Attach returns the window that is being painted, or nil. keys is called for Escape, Return and the function keys before the focused
// widget, and reports whether it handled the key; the toolkit sends keys only to the focused widget.
type Attach func(keys func(fyne.KeyName) bool) Native

// screen is a page of a window. Call its methods on the UI goroutine.
type screen interface {
	Content() fyne.CanvasObject
	Show()
	Hide()
	Tick()
}

// actor is a screen with actions.
type actor interface{ Actions() []action.Action }

// leaver is a screen with something that Escape closes. Leave returns false if nothing is open.
type leaver interface{ Leave() bool }

// page is a screen and its place in the navigation.
type page struct {
	title string
	icon  fyne.Resource
	help  string // the guide's page, or a heading on it
	screen
	item *navItem
	look looks // at the last draw
}

// looks determine colors and sizes.
type looks struct {
	fyne.Theme
	variant fyne.ThemeVariant
}

// frame is a window: the navigation and its pages.
type frame struct {
	of       *App
	win      fyne.Window
	native   Native // nil until the window is painted
	attached bool
	single   bool      // the window has one page and no navigation
	seen     time.Time // time of the first frame on the screen; zero before
	pages    []*page
	run      *page // of the run in progress
	current  *page
	content  *fyne.Container
	pieces   *pieces
	above    *fyne.Container // above the content: the tour
	over     *fyne.Container // what lies over the window without taking events: the tour's ring
	commands []*command
	menu     *fyne.MainMenu // nil except in the first window
}

func newFrame(of *App, title string) *frame {
	return &frame{of: of, win: of.app.NewWindow(title), pieces: newPieces()}
}

// build lays out the window with its pages.
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
	f.above, f.over = container.NewStack(), container.NewStack()
	f.above.Hide()
	layers := container.NewStack(container.NewBorder(nil, nil, side, nil, container.NewPadded(form.NewHeaded(f.above, f.content))), f.over, widgets.NewTips(f.win), form.Keeper(), f.pieces)
	if f.of.desk.Attach != nil {
		layers.Add(container.NewWithoutLayout(f.painted()))
	}
	f.win.SetContent(layers)
	f.win.SetPadded(false)
	f.commands = f.table()
	for _, d := range f.commands {
		for _, s := range d.shortcuts() {
			f.win.Canvas().AddShortcut(s, func(fyne.Shortcut) { f.do(d) })
		}
	}
	f.win.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) { f.key(e.Name) })
}

// painted returns a pixel that finds the system's window when it is painted.
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

// show shows a page.
func (f *frame) show(p *page) {
	if f.current == p {
		return
	}
	if f.current != nil {
		f.current.Hide()
		f.current.item.choose(false)
	}
	widgets.HideTips(f.win.Canvas())
	f.current = p
	p.item.choose(true)
	// A screen that is larger than the window, for example with large text on a small display, scrolls. Otherwise the window would grow,
	// even beyond the display.
	f.content.Objects = []fyne.CanvasObject{container.NewScroll(p.Content())}
	f.content.Refresh()
	p.Show()
	if p.look != f.of.look() { // the toolkit applies a new look only to what is visible at that time
		f.of.restyle(f.of.look().Theme)
	}
	f.drawMenu()
}

func (f *frame) tick() {
	f.current.Tick()
	f.drawMenu()
}

// key handles a key before the focused widget, and reports whether it did.
func (f *frame) key(key fyne.KeyName) bool {
	c := f.win.Canvas()
	if widgets.Key(c, key) {
		return true
	}
	if key == fyne.KeyEscape {
		if _, menu := c.Focused().(interface{ Child() *widget.Menu }); menu || c.Overlays().Top() != nil { // it closes itself
			return false
		}
		l, ok := f.current.screen.(leaver)
		return ok && l.Leave() || f.of.skipTour(f)
	}
	for _, d := range f.commands {
		if d.Modifier == 0 && d.Key == key && (d.over || c.Overlays().Top() == nil) {
			f.do(d)
			return true
		}
	}
	return false
}
