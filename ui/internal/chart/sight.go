package chart

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
)

// sight is what a drawing with places, such as the bars of a histogram, looks at: the place below the pointer, or the one
// that the keyboard chose. The widget that has it embedded hears the keyboard by it.
type sight struct {
	at      int // -1: none
	pad     *pad
	frame   *canvas.Rectangle // while it hears the keyboard
	places  func() int
	changed func()          // another place is looked at
	chosen  func(place int) // with Return; nil: nobody asked
	ask     func()          // for the menu
	pointed bool            // it is the pointer that looks
}

func newSight(owner fyne.Focusable) sight {
	s := sight{at: -1, pad: newPad(owner), frame: &canvas.Rectangle{StrokeWidth: frameWidth}}
	s.frame.Hidden = true
	return s
}

// The frame of what hears the keyboard, in device-independent pixels: it lies outside.
const (
	frameWidth  = 1.5
	frameBeside = 5
	frameAbove  = 3
)

// placeFrame lays a frame around an object of a size.
func placeFrame(frame *canvas.Rectangle, size fyne.Size) {
	frame.Move(fyne.NewPos(-frameBeside, -frameAbove))
	frame.Resize(size.AddWidthHeight(2*frameBeside, 2*frameAbove))
}

func dressFrame(frame *canvas.Rectangle, th fyne.Theme, variant fyne.ThemeVariant) {
	frame.FillColor, frame.StrokeColor = color.Transparent, colorOf(th, theme.ColorNamePrimary, variant)
	frame.CornerRadius = th.Size(theme.SizeNameSelectionRadius)
}

// look looks at a place.
func (s *sight) look(place int) {
	if place < 0 || place >= s.places() {
		place = -1
	}
	if s.at != place {
		s.at = place
		s.changed()
	}
}

// point is look by the pointer.
func (s *sight) point(place int) {
	s.pointed = true
	s.look(place)
}

func (s *sight) unpoint() {
	s.pointed = false
	s.look(-1)
}

// FocusGained looks at the first place, so that it can be seen where the keyboard is.
func (s *sight) FocusGained() {
	focused(s.pad.owner)
	s.frame.Show()
	canvas.Refresh(s.frame)
	if s.at < 0 {
		s.look(0)
	}
}

// FocusLost undoes it, unless the pointer is here.
func (s *sight) FocusLost() {
	s.frame.Hide()
	if !s.pointed {
		s.look(-1)
	}
}

// TypedRune shows the menu with m.
func (s *sight) TypedRune(r rune) {
	if (r == 'm' || r == 'M') && s.ask != nil {
		s.ask()
	}
}

// TypedKey looks at the next place, or the one before.
func (s *sight) TypedKey(e *fyne.KeyEvent) {
	last := s.places() - 1
	switch e.Name {
	case fyne.KeyLeft, fyne.KeyUp:
		s.look(max(s.at-1, 0))
	case fyne.KeyRight, fyne.KeyDown:
		s.look(min(s.at+1, last))
	case fyne.KeyHome:
		s.look(0)
	case fyne.KeyEnd:
		s.look(last)
	case fyne.KeyEscape:
		s.look(-1)
	case desktop.KeyMenu:
		s.TypedRune('m')
	case fyne.KeyReturn, fyne.KeyEnter:
		if s.chosen != nil && s.at >= 0 {
			s.chosen(s.at)
		}
	default: // is not for a drawing
	}
}
