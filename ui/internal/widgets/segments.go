package widgets

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Segments is a row of options. The user chooses one with a tap or the arrow keys.
type Segments struct {
	widget.DisableableWidget
	// OnChosen is called when the user chooses an option. Choose does not call it.
	OnChosen func(i int)

	options []string
	chosen  int
	hovered int // -1: none
	focused bool
	texts   []*canvas.Text
}

var (
	_ fyne.Tappable     = (*Segments)(nil)
	_ fyne.Focusable    = (*Segments)(nil)
	_ desktop.Hoverable = (*Segments)(nil)
)

// NewSegments returns a row with the first option chosen.
func NewSegments(options []string, chosen func(i int)) *Segments {
	s := &Segments{options: options, OnChosen: chosen, hovered: -1}
	s.ExtendBaseWidget(s)
	return s
}

// Choose chooses an option.
func (s *Segments) Choose(i int) {
	if s.chosen != i {
		s.chosen = i
		s.Refresh()
	}
}

// Chosen returns the index of the chosen option.
func (s *Segments) Chosen() int { return s.chosen }

// Selected returns the chosen option.
func (s *Segments) Selected() string { return s.options[s.chosen] }

// SetSelected chooses an option for the user. It does nothing if there is no such option.
func (s *Segments) SetSelected(option string) { s.Pick(slices.Index(s.options, option)) }

// Options returns the options.
func (s *Segments) Options() []string { return s.options }

// SetOptions replaces the options and keeps the chosen index.
func (s *Segments) SetOptions(options []string) {
	same := len(options) == len(s.options)
	for i := range options {
		same = same && options[i] == s.options[i]
	}
	if !same {
		s.options, s.chosen = options, min(s.chosen, len(options)-1)
		s.Refresh()
	}
}

// Pick chooses an option for the user.
func (s *Segments) Pick(i int) {
	if s.Disabled() || i < 0 || i >= len(s.options) || i == s.chosen {
		return
	}
	s.Choose(i)
	if s.OnChosen != nil {
		s.OnChosen(i)
	}
}

func (s *Segments) width(i int) float32 {
	return fyne.MeasureText(s.options[i], theme.CaptionTextSize(), fyne.TextStyle{Bold: true}).Width + 2*theme.InnerPadding()
}

// at returns the index of the option at an x coordinate, or -1.
func (s *Segments) at(x float32) int {
	for i := range s.options {
		if x -= s.width(i); x < 0 {
			return i
		}
	}
	return -1
}

// Tapped implements [fyne.Tappable].
func (s *Segments) Tapped(e *fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(s); c != nil && !s.focused && !s.Disabled() {
		c.Focus(s)
	}
	s.Pick(s.at(e.Position.X))
}

// TypedKey implements [fyne.Focusable].
func (s *Segments) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyLeft, fyne.KeyUp:
		s.Pick(s.chosen - 1)
	case fyne.KeyRight, fyne.KeyDown:
		s.Pick(s.chosen + 1)
	case fyne.KeyHome:
		s.Pick(0)
	case fyne.KeyEnd:
		s.Pick(len(s.options) - 1)
	default:
	}
}

// TypedRune implements [fyne.Focusable].
func (s *Segments) TypedRune(rune) {}

// FocusGained implements [fyne.Focusable].
func (s *Segments) FocusGained() {
	s.focused = true
	s.Refresh()
}

// FocusLost implements [fyne.Focusable].
func (s *Segments) FocusLost() {
	s.focused = false
	s.Refresh()
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (s *Segments) MouseIn(e *desktop.MouseEvent) { s.MouseMoved(e) }

// MouseMoved highlights the option under the pointer.
func (s *Segments) MouseMoved(e *desktop.MouseEvent) {
	if i := s.at(e.Position.X); i != s.hovered {
		s.hovered = i
		s.Refresh()
	}
}

// MouseOut undoes MouseIn.
func (s *Segments) MouseOut() {
	s.hovered = -1
	s.Refresh()
}

// Parts returns the texts.
func (s *Segments) Parts() []fyne.CanvasObject {
	parts := make([]fyne.CanvasObject, len(s.texts))
	for i, text := range s.texts {
		parts[i] = text
	}
	return parts
}

// CreateRenderer implements [fyne.Widget].
func (s *Segments) CreateRenderer() fyne.WidgetRenderer {
	r := &segmentsRenderer{segments: s, track: canvas.NewRectangle(color.Transparent), pill: canvas.NewRectangle(color.Transparent)}
	r.Refresh()
	return r
}

type segmentsRenderer struct {
	segments    *Segments
	track, pill *canvas.Rectangle
	objects     []fyne.CanvasObject
}

func (r *segmentsRenderer) Destroy()                     {}
func (r *segmentsRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *segmentsRenderer) MinSize() fyne.Size {
	size := fyne.NewSize(0, fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{Bold: true}).Height+2*theme.Padding())
	for i := range r.segments.options {
		size.Width += r.segments.width(i)
	}
	return size
}

// Layout keeps the row as small as its texts.
func (r *segmentsRenderer) Layout(size fyne.Size) {
	least := r.MinSize()
	top := (size.Height - least.Height) / 2
	r.track.Move(fyne.NewPos(0, top))
	r.track.Resize(least)
	x := float32(0)
	for i, text := range r.segments.texts {
		width := r.segments.width(i)
		text.Move(fyne.NewPos(x, top))
		text.Resize(fyne.NewSize(width, least.Height))
		if i == r.segments.chosen {
			r.pill.Move(fyne.NewPos(x+1, top+1))
			r.pill.Resize(fyne.NewSize(width-2, least.Height-2))
		}
		x += width
	}
}

// Refresh updates the row for its state and the theme.
func (r *segmentsRenderer) Refresh() {
	s := r.segments
	for len(s.texts) < len(s.options) {
		s.texts = append(s.texts, canvas.NewText("", color.Transparent))
	}
	s.texts = s.texts[:len(s.options)]
	r.objects = append(r.objects[:0], r.track, r.pill)
	r.track.FillColor, r.track.CornerRadius = theme.Color(theme.ColorNameButton), theme.InputRadiusSize()
	r.pill.FillColor, r.pill.CornerRadius = Color(ColorSurface), theme.InputRadiusSize()-1
	r.pill.StrokeColor, r.pill.StrokeWidth = theme.Color(theme.ColorNameInputBorder), 1
	if s.focused {
		r.pill.StrokeColor, r.pill.StrokeWidth = theme.Color(theme.ColorNamePrimary), 2
	}
	for i, text := range s.texts {
		text.Text, text.Alignment, text.TextSize = s.options[i], fyne.TextAlignCenter, theme.CaptionTextSize()
		text.TextStyle.Bold = i == s.chosen
		switch {
		case s.Disabled():
			text.Color = theme.Color(theme.ColorNameDisabled)
		case i == s.chosen || i == s.hovered:
			text.Color = theme.Color(theme.ColorNameForeground)
		default:
			text.Color = Color(ColorMuted)
		}
		r.objects = append(r.objects, text)
	}
	r.Layout(s.Size())
	canvas.Refresh(s)
}
