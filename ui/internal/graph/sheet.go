package graph

import (
	"image"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// none means no step.
const none = -1

// view is the visible part of a sheet.
type view struct{ x, y, w, h float32 }

// sees reports whether any of a rectangle is in view.
func (v view) sees(x0, y0, x1, y1 float32) bool {
	return x1 >= v.x && x0 <= v.x+v.w && y1 >= v.y && y0 <= v.y+v.h
}

// sheet is the drawing: one raster the size of the view, and the texts in view.
type sheet struct {
	widget.BaseWidget
	layout            *layout
	states            []State // by box
	critical          []bool  // by wire
	words             []words // by box, filled when first in view
	view              view
	hovered, selected int // boxes
	focused           bool
	chosen            func()                       // called when another step is hovered or selected
	reveal            func(x0, y0, x1, y1 float32) // scrolls

	raster *canvas.Raster
	texts  []*canvas.Text // the first used ones are shown
	used   int
	inks   inks
	img    *image.RGBA
	mask   pen.Mask
	points []pen.Point
	scale  float32 // device pixels per device-independent pixel
}

// words are the texts of a box, cut to its width.
type words struct{ name, line, of string }

func newSheet() *sheet {
	s := &sheet{layout: &layout{}, hovered: none, selected: none}
	s.raster = canvas.NewRaster(s.draw)
	s.raster.ScaleMode = canvas.ImageScalePixels
	s.ExtendBaseWidget(s)
	return s
}

// set shows another layout. It keeps the selection if the step still exists.
func (s *sheet) set(l *layout) {
	var path string
	if s.selected != none {
		path = s.layout.boxes[s.selected].step.Path
	}
	s.layout, s.words, s.states = l, make([]words, len(l.boxes)), make([]State, len(l.boxes))
	s.critical = make([]bool, len(l.wires))
	s.hovered, s.selected = none, none
	for i := range l.boxes {
		if path != "" && l.boxes[i].step.Path == path {
			s.selected = i
		}
	}
}

// mark asks for the states of all steps and reports whether one changed.
func (s *sheet) mark(state func(*engine.GraphStep) State) (changed bool) {
	for i := range s.layout.boxes {
		if now := state(s.layout.boxes[i].step); now != s.states[i] {
			s.states[i], changed = now, true
		}
	}
	if changed {
		s.critical = s.layout.critical(s.states)
	}
	return changed
}

// look shows a part of the sheet.
func (s *sheet) look(v view) {
	s.view = v
	s.raster.Move(fyne.NewPos(v.x, v.y))
	s.raster.Resize(fyne.NewSize(v.w, v.h))
	s.paint()
}

// paint draws everything in view again.
func (s *sheet) paint() {
	s.write()
	s.raster.Refresh()
}

// shown returns the step that the note describes, or nil.
func (s *sheet) shown() (*engine.GraphStep, State) {
	i := s.hovered
	if i == none {
		i = s.selected
	}
	if i == none {
		return nil, State{}
	}
	return s.layout.boxes[i].step, s.states[i]
}

// write places the texts in view. Unchanged texts are not redrawn.
func (s *sheet) write() {
	s.used = 0
	muted := widgets.Color(widgets.ColorMuted)
	small := theme.CaptionTextSize()
	for i := range s.layout.boxes {
		b := &s.layout.boxes[i]
		if !s.view.sees(b.x, b.y, b.x+b.w, b.y+s.layout.height) {
			continue
		}
		w, state := s.worded(i), &s.states[i]
		x, y := b.x+inset, b.y+s.layout.above
		s.text(w.name, x, y, theme.TextSize(), widgets.Color(theme.ColorNameForeground), b.nested)
		line := muted
		switch {
		case state.Shade > shades/2: // unreadable on a dark fill
			line = widgets.Color(theme.ColorNameForeground)
		case state.Tone == widgets.Warning || state.Tone == widgets.Bad:
			line = widgets.Color(state.Tone.Color())
		}
		s.text(w.line, x, y+s.layout.title, small, line, false)
	}
	for _, l := range s.layout.headings {
		if s.view.sees(l.x, l.y, l.x+s.layout.width, l.y+s.layout.title) {
			s.text(l.text, l.x, l.y, small, muted, true)
		}
	}
	for _, t := range s.texts[s.used:] {
		t.Hide()
	}
}

// worded returns the texts of a box, cut to its width. It cuts them when the box is first in view and when they change.
func (s *sheet) worded(i int) *words {
	b, w := &s.layout.boxes[i], &s.words[i]
	room := b.w - 2*inset
	if b.nested {
		room -= s.layout.title // for the icon of its kind
	}
	if w.name == "" {
		w.name = widgets.Fit(b.step.Label, room, theme.TextSize(), fyne.TextStyle{Bold: b.nested})
	}
	line := s.states[i].Line
	if line == "" {
		line = caption(b.step)
	}
	if w.of != line {
		w.of, w.line = line, widgets.Fit(line, room, theme.CaptionTextSize(), fyne.TextStyle{})
	}
	return w
}

// text shows a text, reusing the next canvas object.
func (s *sheet) text(text string, x, y, size float32, c color.Color, bold bool) {
	if s.used == len(s.texts) {
		s.texts = append(s.texts, &canvas.Text{})
	}
	t := s.texts[s.used]
	s.used++
	if t.Text != text || t.Color != c || t.TextSize != size || t.TextStyle.Bold != bold {
		t.Text, t.Color, t.TextSize, t.TextStyle.Bold = text, c, size, bold
		t.Resize(t.MinSize())
		t.Refresh()
	}
	t.Move(fyne.NewPos(round(x), round(y)))
	t.Show()
}

// MinSize is the size of the drawing plus the scroll bar.
func (s *sheet) MinSize() fyne.Size {
	return fyne.NewSize(s.layout.w, s.layout.h+2*theme.ScrollBarSmallSize())
}

// Parts are the texts in view.
func (s *sheet) Parts() []fyne.CanvasObject {
	all := make([]fyne.CanvasObject, s.used)
	for i := range all {
		all[i] = s.texts[i]
	}
	return all
}

// CreateRenderer implements [fyne.Widget].
func (s *sheet) CreateRenderer() fyne.WidgetRenderer { return &sheetRenderer{sheet: s} }

type sheetRenderer struct {
	sheet *sheet
	all   []fyne.CanvasObject
}

// Objects returns the raster first, so that texts are drawn above it.
func (r *sheetRenderer) Objects() []fyne.CanvasObject {
	if len(r.all) != 1+len(r.sheet.texts) {
		r.all = append(r.all[:0], r.sheet.raster)
		for _, t := range r.sheet.texts {
			r.all = append(r.all, t)
		}
	}
	return r.all
}

func (r *sheetRenderer) Layout(fyne.Size)   {}
func (r *sheetRenderer) MinSize() fyne.Size { return r.sheet.MinSize() }
func (r *sheetRenderer) Refresh()           { r.sheet.paint() }
func (r *sheetRenderer) Destroy()           {}
