package widgets

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// scrubStep is the step of an arrow key.
const scrubStep = time.Second

// TickKind is the kind of a mark on a scrubber. Each has its own shape.
type TickKind uint8

// The kinds, the most important last, which is drawn on top.
const (
	TickCycle  TickKind = iota // a line
	TickChange                 // a dot
	TickPoint                  // a diamond, for a checkpoint
)

// Tick is a mark on a scrubber.
type Tick struct {
	At   time.Time
	Kind TickKind
	Text string
}

// Scrubber chooses a moment in some spans of time: by dragging, with a tap or with the keyboard (arrows by a second, Page Up and Page Down
// as OnPage decides, Home and End).
type Scrubber struct {
	widget.DisableableWidget
	// OnChanged is called with every moment that the user chooses. Set does not call it.
	OnChanged func(at time.Time)
	// OnPage is called with 1 for Page Up, and -1 for Page Down.
	OnPage func(by int)
	// OnHover is called with the description of the place under the pointer; "" if none.
	OnHover func(text string)

	scale    scrubScale
	drawn    scrubScale // the scale that was drawn, which may differ invisibly
	given    []Tick
	ticks    []Tick // in drawing order
	at       time.Time
	focused  bool
	hovered  bool
	dragging bool
	face     scrubFace
	raster   *canvas.Raster
}

var (
	_ fyne.Draggable    = (*Scrubber)(nil)
	_ fyne.Tappable     = (*Scrubber)(nil)
	_ fyne.Focusable    = (*Scrubber)(nil)
	_ desktop.Hoverable = (*Scrubber)(nil)
)

// NewScrubber returns a scrubber without spans.
func NewScrubber() *Scrubber {
	s := &Scrubber{}
	s.raster = canvas.NewRaster(s.face.drawer(s))
	s.raster.ScaleMode = canvas.ImageScalePixels
	s.ExtendBaseWidget(s)
	return s
}

// SetSpans sets the spans, in order and without overlaps, and the marks, which the caller must not change afterwards. Invisible changes are
// not drawn.
func (s *Scrubber) SetSpans(spans []Span, ticks []Tick) {
	if !slices.Equal(s.scale.spans, spans) {
		s.scale = newScrubScale(slices.Clone(spans))
	}
	same := slices.Equal(s.given, ticks)
	if !same {
		s.given, s.ticks = ticks, slices.Clone(ticks)
		slices.SortStableFunc(s.ticks, func(a, b Tick) int { return int(a.Kind) - int(b.Kind) })
	}
	if !same || s.differs() {
		s.drawn = s.scale
		s.raster.Refresh()
	}
}

// differs reports whether the scale differs visibly from the drawn one. The scale of a run in progress grows all the time, usually by much
// less than a pixel.
func (s *Scrubber) differs() bool {
	if len(s.drawn.spans) != len(s.scale.spans) {
		return true
	}
	for _, p := range s.drawn.spans {
		for _, at := range []time.Time{p.From, p.To} {
			if d := (s.drawn.place(at) - s.scale.place(at)) * float64(s.Size().Width); d > 0.5 || d < -0.5 {
				return true
			}
		}
	}
	return false
}

// Set moves the thumb, unless the user drags it.
func (s *Scrubber) Set(at time.Time) {
	if s.dragging || s.at.Equal(at) {
		return
	}
	was := s.thumb()
	s.at = at
	if now := s.thumb(); now-was > 0.5 || was-now > 0.5 { // smaller changes are invisible
		s.raster.Refresh()
	}
}

// At returns the moment of the thumb.
func (s *Scrubber) At() time.Time { return s.at }

// Dragging reports whether the user drags the thumb.
func (s *Scrubber) Dragging() bool { return s.dragging }

// Ticks returns the marks.
func (s *Scrubber) Ticks() []Tick { return s.ticks }

// Along returns the moment at a distance from another, without gaps, within the spans.
func (s *Scrubber) Along(at time.Time, by time.Duration) time.Time { return s.scale.move(at, by) }

// thumb returns the x coordinate of the thumb.
func (s *Scrubber) thumb() float32 { return s.x(s.at) }

func (s *Scrubber) x(at time.Time) float32 {
	inset := scrubThumb() / 2
	return inset + float32(s.scale.place(at))*max(s.Size().Width-2*inset, 0)
}

// moment returns the moment at an x coordinate.
func (s *Scrubber) moment(x float32) time.Time {
	inset := scrubThumb() / 2
	return s.scale.at(float64((x - inset) / max(s.Size().Width-2*inset, 1)))
}

// choose sets a moment that the user chose.
func (s *Scrubber) choose(at time.Time) {
	if s.Disabled() || len(s.scale.spans) == 0 || s.at.Equal(at) {
		return
	}
	s.at = at
	s.raster.Refresh()
	if s.OnChanged != nil {
		s.OnChanged(at)
	}
}

// Dragged implements [fyne.Draggable].
func (s *Scrubber) Dragged(e *fyne.DragEvent) {
	if s.Disabled() {
		return
	}
	if !s.dragging {
		s.dragging = true
		s.focus()
	}
	s.choose(s.moment(e.Position.X))
}

// DragEnd implements [fyne.Draggable].
func (s *Scrubber) DragEnd() { s.dragging = false }

// Tapped implements [fyne.Tappable].
func (s *Scrubber) Tapped(e *fyne.PointEvent) {
	if !s.Disabled() {
		s.focus()
		s.choose(s.moment(e.Position.X))
	}
}

// focus focuses the scrubber after its use.
func (s *Scrubber) focus() {
	if c := fyne.CurrentApp().Driver().CanvasForObject(s); c != nil && !s.focused {
		c.Focus(s)
	}
}

// TypedKey implements [fyne.Focusable].
func (s *Scrubber) TypedKey(e *fyne.KeyEvent) {
	n := len(s.scale.spans)
	if n == 0 || s.Disabled() {
		return
	}
	switch e.Name {
	case fyne.KeyLeft, fyne.KeyDown:
		s.choose(s.scale.move(s.at, -scrubStep))
	case fyne.KeyRight, fyne.KeyUp:
		s.choose(s.scale.move(s.at, scrubStep))
	case fyne.KeyHome:
		s.choose(s.scale.spans[0].From)
	case fyne.KeyEnd:
		s.choose(s.scale.spans[n-1].To)
	case fyne.KeyPageUp, fyne.KeyPageDown:
		if s.OnPage != nil {
			s.OnPage(map[fyne.KeyName]int{fyne.KeyPageUp: 1, fyne.KeyPageDown: -1}[e.Name])
		}
	default:
	}
}

// TypedRune implements [fyne.Focusable].
func (s *Scrubber) TypedRune(rune) {}

// FocusGained implements [fyne.Focusable].
func (s *Scrubber) FocusGained() {
	s.focused = true
	s.raster.Refresh()
}

// FocusLost implements [fyne.Focusable].
func (s *Scrubber) FocusLost() {
	s.focused = false
	s.raster.Refresh()
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (s *Scrubber) MouseIn(e *desktop.MouseEvent) {
	s.hovered = true
	s.raster.Refresh()
	s.MouseMoved(e)
}

// MouseMoved describes the moment and the mark under the pointer.
func (s *Scrubber) MouseMoved(e *desktop.MouseEvent) {
	if s.OnHover == nil || len(s.scale.spans) == 0 {
		return
	}
	text := s.moment(e.Position.X).Local().Format(time.TimeOnly)
	if t := s.near(e.Position.X); t != nil {
		text = t.At.Local().Format(time.TimeOnly) + "  ·  " + t.Text
	}
	s.OnHover(text)
}

// near returns the mark near an x coordinate, or nil.
func (s *Scrubber) near(x float32) (found *Tick) {
	best := theme.InnerPadding()
	for i := range s.ticks {
		t := &s.ticks[i]
		d := s.x(t.At) - x
		if d = max(d, -d); d < best || d == best && found != nil && t.Kind > found.Kind {
			found, best = t, d
		}
	}
	return found
}

// MouseOut undoes MouseIn.
func (s *Scrubber) MouseOut() {
	s.hovered = false
	s.raster.Refresh()
	if s.OnHover != nil {
		s.OnHover("")
	}
}

// CreateRenderer implements [fyne.Widget].
func (s *Scrubber) CreateRenderer() fyne.WidgetRenderer { return &scrubRenderer{s} }

type scrubRenderer struct{ scrubber *Scrubber }

func (r *scrubRenderer) Destroy()                     {}
func (r *scrubRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.scrubber.raster} }
func (r *scrubRenderer) Layout(size fyne.Size)        { r.scrubber.raster.Resize(size) }
func (r *scrubRenderer) Refresh()                     { r.scrubber.raster.Refresh() }

func (r *scrubRenderer) MinSize() fyne.Size {
	return fyne.NewSize(8*theme.TextSize(), scrubThumb()+2*scrubTick())
}
