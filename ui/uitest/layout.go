package uitest

import (
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// slack is the tolerance for parts that stick out, because figures are rounded to whole pixels.
const slack = 1.5

// margin is the free share of a line's height above and below its letters.
const margin = 0.2

// Misfits lists what does not fit in an object: texts larger than their place or outside their widget or the object, and overlapping texts
// and controls. It ignores parts that are scrolled out of view, and the content of entries.
func Misfits(o fyne.CanvasObject) []string {
	m := &misfits{}
	all := rect{pos: fyne.NewPos(0, 0), size: o.Size()}
	m.at(o, place{at: fyne.NewPos(0, 0), view: all, bounds: all, what: "the window"})
	m.overlaps()
	return m.found
}

// rect is a part of the window.
type rect struct {
	pos  fyne.Position
	size fyne.Size
}

func (r rect) right() float32  { return r.pos.X + r.size.Width }
func (r rect) bottom() float32 { return r.pos.Y + r.size.Height }

// cut returns the intersection of two rectangles; ok is false if they share at most an edge.
func (r rect) cut(o rect) (shared rect, ok bool) {
	x, y := max(r.pos.X, o.pos.X), max(r.pos.Y, o.pos.Y)
	shared = rect{fyne.NewPos(x, y), fyne.NewSize(min(r.right(), o.right())-x, min(r.bottom(), o.bottom())-y)}
	return shared, shared.size.Width > slack && shared.size.Height > slack
}

func (r rect) holds(o rect) bool {
	return o.pos.X >= r.pos.X-slack && o.pos.Y >= r.pos.Y-slack && o.right() <= r.right()+slack && o.bottom() <= r.bottom()+slack
}

// place is the position of an object.
type place struct {
	at      fyne.Position // of the object around it
	view    rect          // the visible part of the window
	bounds  rect          // of the widget that contains it
	what    string        // that widget
	control int           // number of the control that contains it; 0 if none
	typed   bool          // inside an entry
}

// leaf is a visible object.
type leaf struct {
	rect
	what    string
	control int // number of the control that it is, or is a part of
}

type misfits struct {
	found    []string
	leaves   []leaf
	controls int
}

func (m *misfits) at(o fyne.CanvasObject, p place) {
	if o == nil || !o.Visible() {
		return
	}
	here := rect{p.at.Add(o.Position()), o.Size()}
	p.at = here.pos
	switch o := o.(type) {
	case *canvas.Text:
		m.text(o, here, p)
		return
	case *fyne.Container:
		for _, below := range o.Objects {
			m.at(below, p)
		}
		return
	case *container.Scroll:
		view, ok := p.view.cut(here)
		if !ok {
			return
		}
		if least := o.Content.MinSize().Width; o.Direction == container.ScrollBoth && !p.typed && least > here.size.Width+slack {
			m.say("the object at %.0f,%.0f must be scrolled sideways: %.0f in %.0f", here.pos.X, here.pos.Y, least, here.size.Width)
		}
		p.view, p.what = view, "what scrolls"
		p.bounds = rect{here.pos.Add(o.Content.Position()), o.Content.Size()}
		if o.Direction == container.ScrollVerticalOnly {
			p.bounds.size.Width = min(p.bounds.size.Width, here.size.Width)
		}
		m.at(o.Content, p)
		return
	case fyne.Widget:
		m.widget(o, here, p)
	}
}

func (m *misfits) widget(o fyne.Widget, here rect, p place) {
	_, label := o.(*widget.Label)
	if _, ok := o.(fyne.Focusable); ok && p.control == 0 && !label && !around(o) {
		m.controls++
		p.control = m.controls
		if seen, ok := p.view.cut(here); ok {
			m.leaves = append(m.leaves, leaf{seen, name(o), p.control})
		}
	}
	if _, ok := o.(interface{ SelectedText() string }); ok && !label {
		p.typed = true
	}
	if here.size.Width > 0 && here.size.Height > 0 {
		p.bounds, p.what = here, name(o)
	}
	for _, below := range test.WidgetRenderer(o).Objects() {
		m.at(below, p)
	}
}

// around reports whether a focusable widget only contains other objects: a list, or a text that can be selected.
func around(o fyne.Widget) bool {
	kind := fmt.Sprintf("%T", o)
	return strings.HasSuffix(kind, "List") || strings.HasSuffix(kind, ".focusSelectable")
}

// text checks a text in its place, whatever its alignment.
func (m *misfits) text(o *canvas.Text, here rect, p place) {
	if strings.TrimSpace(o.Text) == "" || p.typed {
		return
	}
	need := fyne.MeasureText(o.Text, o.TextSize, o.TextStyle)
	tight := rect{here.pos, need}
	switch o.Alignment {
	case fyne.TextAlignCenter:
		tight.pos.X += (here.size.Width - need.Width) / 2
	case fyne.TextAlignTrailing:
		tight.pos.X += here.size.Width - need.Width
	default:
	}
	tight.pos.Y += max(here.size.Height-need.Height, 0) / 2
	if need.Width > here.size.Width+slack && here.size.Width > 0 {
		m.say("%q takes %.0f in %.0f of %s", o.Text, need.Width, here.size.Width, p.what)
		return
	}
	if tight.right() > p.view.right()+slack || tight.pos.X < p.view.pos.X-slack {
		m.say("%q at %.0f,%.0f, %.0f wide, is cut off at %.0f", o.Text, tight.pos.X, tight.pos.Y, need.Width, p.view.right())
		return
	}
	seen, ok := p.view.cut(tight)
	if !ok {
		return
	}
	if !p.bounds.holds(tight) {
		m.say("%q at %.0f,%.0f of %.0f × %.0f sticks out of %s at %.0f,%.0f of %.0f × %.0f", o.Text, tight.pos.X, tight.pos.Y, need.Width, need.Height,
			p.what, p.bounds.pos.X, p.bounds.pos.Y, p.bounds.size.Width, p.bounds.size.Height)
		return
	}
	ink := seen // letters leave space above and below
	ink.pos.Y += need.Height * margin
	ink.size.Height -= 2 * need.Height * margin
	m.leaves = append(m.leaves, leaf{ink, fmt.Sprintf("%q", o.Text), p.control})
}

func (m *misfits) overlaps() {
	for i, a := range m.leaves {
		for _, b := range m.leaves[i+1:] {
			if a.control != 0 && a.control == b.control {
				continue
			}
			if shared, ok := a.cut(b.rect); ok && shared.size.Height > 3 && shared.size.Width > 2 {
				m.say("%s at %.0f,%.0f and %s at %.0f,%.0f overlap", a.what, a.pos.X, a.pos.Y, b.what, b.pos.X, b.pos.Y)
			}
		}
	}
}

func (m *misfits) say(format string, args ...any) {
	m.found = append(m.found, fmt.Sprintf(format, args...))
}

// name names a widget in a message.
func name(o fyne.Widget) string {
	text := fmt.Sprintf("%T", o)
	if said := Texts(o); len(said) > 0 {
		text += fmt.Sprintf(" %.40q", said[0])
	}
	return text
}

// Scales are the text scales at which every screen is drawn.
var Scales = []float32{0.8, 1, 1.5, 2}

// Shots is the environment variable with the folder for the pictures that [Fit] draws; without it there are none.
const Shots = "THRONG_SHOTS"

// Fit draws a screen in a window of a laptop's size at every text scale, and fails if parts do not fit. look returns the theme for a scale.
// The width excludes the navigation.
func (q *Queue) Fit(name string, screen fyne.CanvasObject, look func(scale float32) fyne.Theme) {
	q.t.Helper()
	q.fit(name, screen, look, Scales[len(Scales)-1])
}

// FitSideways is Fit for a screen that may be wider than the window with larger text, and scrolls sideways then.
func (q *Queue) FitSideways(name string, screen fyne.CanvasObject, look func(scale float32) fyne.Theme) {
	q.t.Helper()
	q.fit(name, screen, look, 1)
}

// fit draws a screen, which must not be wider than the window up to a text scale.
func (q *Queue) fit(name string, screen fyne.CanvasObject, look func(scale float32) fyne.Theme, largest float32) {
	q.t.Helper()
	win := fyne.CurrentApp().Driver().CanvasForObject(screen).(software.WindowlessCanvas)
	win.SetPadded(false)
	for _, scale := range Scales {
		fyne.CurrentApp().Settings().SetTheme(look(scale))
		size := fyne.NewSize(1280-beside*scale, 800-above*scale)
		for range 2 { // the second pass uses the final widths of columns
			least := win.Content().MinSize().Width
			if least > size.Width && scale <= largest {
				q.t.Errorf("%s at %.1f: it is %.0f wide, and there is room for %.0f", name, scale, least, size.Width)
			}
			win.Resize(fyne.NewSize(max(least, size.Width), size.Height))
			q.Drain()
		}
		for i, misfit := range Misfits(win.Content()) {
			if i == most {
				q.t.Errorf("%s at %.1f: and more", name, scale)
				break
			}
			q.t.Errorf("%s at %.1f: %s", name, scale, misfit)
		}
		if dir := os.Getenv(Shots); dir != "" {
			q.shoot(filepath.Join(dir, fmt.Sprintf("%s-%.1f.png", name, scale)), win)
		}
	}
	fyne.CurrentApp().Settings().SetTheme(look(1))
	q.Drain()
}

// FitDialog fails if parts of a dialog do not fit, and draws its window.
func (q *Queue) FitDialog(name string, win fyne.Canvas, dialog fyne.CanvasObject) {
	q.t.Helper()
	for _, misfit := range Misfits(dialog) {
		q.t.Errorf("%s: %s", name, misfit)
	}
	if dir := os.Getenv(Shots); dir != "" {
		q.shoot(filepath.Join(dir, filepath.Base(q.t.Name())+"-"+name+".png"), win)
	}
}

// Size of the navigation and menu in the window, and the maximum number of reported misfits per picture.
const (
	beside = 130
	above  = 30
	most   = 12
)

func (q *Queue) shoot(path string, win fyne.Canvas) {
	q.t.Helper()
	f, err := os.Create(path)
	if err == nil {
		err = errors.Join(png.Encode(f, win.Capture()), f.Close())
	}
	if err != nil {
		q.t.Error(err)
	}
}
