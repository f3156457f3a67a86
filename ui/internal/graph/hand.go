package graph

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
)

var (
	_ fyne.Tappable     = (*sheet)(nil)
	_ fyne.Focusable    = (*sheet)(nil)
	_ desktop.Hoverable = (*sheet)(nil)
)

// Tapped selects the step under the pointer; elsewhere it clears the selection.
func (s *sheet) Tapped(e *fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(s); c != nil {
		c.Focus(s)
	}
	s.choose(s.layout.find(e.Position.X, e.Position.Y))
}

// choose selects a box and brings it into view.
func (s *sheet) choose(i int) {
	if s.selected == i {
		return
	}
	s.selected = i
	if i != none && s.reveal != nil {
		b := &s.layout.boxes[i]
		s.reveal(b.x, b.y, b.x+min(b.w, s.layout.width), b.y+s.layout.height)
	}
	s.raster.Refresh()
	s.tell()
}

func (s *sheet) tell() {
	if s.chosen != nil {
		s.chosen()
	}
}

// hover shows what the pointer is at.
func (s *sheet) hover(i int) {
	if s.hovered != i {
		s.hovered = i
		s.raster.Refresh()
		s.tell()
	}
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (s *sheet) MouseIn(e *desktop.MouseEvent) { s.MouseMoved(e) }

// MouseMoved follows the pointer.
func (s *sheet) MouseMoved(e *desktop.MouseEvent) {
	s.hover(s.layout.find(e.Position.X, e.Position.Y))
}

// MouseOut undoes it.
func (s *sheet) MouseOut() { s.hover(none) }

// FocusGained implements [fyne.Focusable], as are FocusLost, TypedRune and TypedKey. It selects the first step, so that
// it can be seen where the keyboard is.
func (s *sheet) FocusGained() {
	s.focused = true
	s.raster.Refresh()
	if s.selected == none {
		s.choose(min(0, len(s.layout.boxes)-1))
	}
}

// FocusLost undoes it.
func (s *sheet) FocusLost() {
	s.focused = false
	s.raster.Refresh()
}

// TypedRune changes nothing.
func (s *sheet) TypedRune(rune) {}

// TypedKey moves the selection: left and right along the file, up and down to what is drawn there.
func (s *sheet) TypedKey(e *fyne.KeyEvent) {
	to, last := s.selected, len(s.layout.boxes)-1
	switch e.Name {
	case fyne.KeyRight:
		to = min(to+1, last)
	case fyne.KeyLeft:
		to = max(to-1, min(0, last))
	case fyne.KeyUp:
		to = s.beyond(-1)
	case fyne.KeyDown:
		to = s.beyond(1)
	case fyne.KeyHome:
		to = min(0, last)
	case fyne.KeyEnd:
		to = last
	case fyne.KeyEscape:
		to = none
	default:
		return
	}
	s.hovered = none // until the pointer moves: it is the keyboard that asks now
	s.choose(to)
}

// beyond is the box that is nearest above or below the selected one; that itself where there is none.
func (s *sheet) beyond(down float32) int {
	if s.selected == none {
		return min(0, len(s.layout.boxes)-1)
	}
	from := &s.layout.boxes[s.selected]
	best, least := s.selected, float32(math.Inf(1))
	for i := range s.layout.boxes {
		b := &s.layout.boxes[i]
		dy := (b.y - from.y) * down
		if dy <= 0 {
			continue
		}
		dx := b.x - from.x
		if d := dy + 2*max(dx, -dx); d < least {
			best, least = i, d
		}
	}
	return best
}

// Select selects the step with a path and brings it into view, also if the graph is not laid out yet; an unknown path clears the selection.
func (g *Graph) Select(path string) {
	g.wanted = ""
	if len(g.sheet.layout.boxes) == 0 {
		g.wanted = path
		return
	}
	to := none
	for i := range g.sheet.layout.boxes {
		if g.sheet.layout.boxes[i].step.Path == path {
			to = i
		}
	}
	g.sheet.hovered = none // until the pointer moves
	g.sheet.choose(to)
}

// Selected returns the path of the selected step; "" if there is none.
func (g *Graph) Selected() string {
	if i := g.sheet.selected; i != none {
		return g.sheet.layout.boxes[i].step.Path
	}
	return ""
}
