package chart

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
)

// sight is the selection of a place in a drawing, for example a bar of a histogram, with the pointer or the keyboard. A widget embeds it to
// handle the keyboard.
type sight struct {
	at      int // -1: none
	pad     *pad
	frame   *canvas.Rectangle // visible while focused
	places  func() int
	changed func()          // the selection has changed
	chosen  func(place int) // chosen with Return; may be nil
	ask     func()          // opens the menu
	pointed bool            // the pointer made the selection
}

func newSight(owner fyne.Focusable) sight {
	s := sight{at: -1, pad: newPad(owner), frame: &canvas.Rectangle{StrokeWidth: frameWidth}}
	s.frame.Hidden = true
	return s
}

// The focus ring in device-independent pixels: it is outside the object.
const (
	frameWidth  = 1.5
	frameBeside = 5
	frameAbove  = 3
)

// placeFrame places a focus ring around an object of a size.
func placeFrame(frame *canvas.Rectangle, size fyne.Size) {
	frame.Move(fyne.NewPos(-frameBeside, -frameAbove))
	frame.Resize(size.AddWidthHeight(2*frameBeside, 2*frameAbove))
}

func dressFrame(frame *canvas.Rectangle, th fyne.Theme, variant fyne.ThemeVariant) {
	frame.FillColor, frame.StrokeColor = color.Transparent, colorOf(th, theme.ColorNamePrimary, variant)
	frame.CornerRadius = th.Size(theme.SizeNameSelectionRadius)
}

// look selects a place.
func (s *sight) look(place int) {
	if place < 0 || place >= s.places() {
		place = -1
	}
	if s.at != place {
		s.at = place
		s.changed()
	}
}

// point selects a place with the pointer.
func (s *sight) point(place int) {
	s.pointed = true
	s.look(place)
}

func (s *sight) unpoint() {
	s.pointed = false
	s.look(-1)
}

// FocusGained selects the first place, which shows the focus.
func (s *sight) FocusGained() {
	Focused(s.pad.owner)
	s.frame.Show()
	canvas.Refresh(s.frame)
	if s.at < 0 {
		s.look(0)
	}
}

// FocusLost clears the selection, unless the pointer made it.
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

// TypedKey selects the next or previous place.
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
	default: // other keys are not for drawings
	}
}
