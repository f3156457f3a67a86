// Package plot holds the plots of an experiment: effects, response curves, influences and the matrix of runs. They have no data of their own
// and follow the theme. They belong to the UI goroutine.
package plot

import (
	"image"
	"image/color"
	"math"
	"regexp"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// none stands for a missing place.
const none = -1

// face is what a plot shows on its sheet. A place is what can be selected, such as a dot.
type face interface {
	fyne.Widget
	fyne.Focusable
	// arrange places the texts and computes where everything is.
	arrange(size fyne.Size)
	// paint draws everything else.
	paint(b *brush)
	places() int
	// find returns the place at a position, or none.
	find(at fyne.Position) int
	// spot returns the position of a place and what is said about it.
	spot(place int) (at fyne.Position, text string)
	// step returns the place that a key selects after another one.
	step(place int, key fyne.KeyName) int
	// twin returns another plot of the same data.
	twin() fyne.CanvasObject
	chart.Kept
}

// sheet is the part that all plots share: a drawing with texts, and a place that the pointer or the keyboard selects.
type sheet struct {
	widget.BaseWidget
	// OnChosen, if set, is called with a place that the user clicks, or chooses with Return.
	OnChosen func(place int)

	title   string // of pictures
	keep    chart.Keep
	face    face
	raster  *canvas.Raster
	brush   brush
	texts   []*canvas.Text
	used    int // texts
	tip     *widgets.Tip
	frame   *canvas.Rectangle // visible while focused
	at      int               // the selected place, or none
	pointed bool              // the pointer selected it
	least   fyne.Size         // for text of the usual size
}

// extend connects a sheet with its plot. title is that of pictures, and least the smallest readable size for text of the usual size.
func (s *sheet) extend(f face, title string, least fyne.Size) {
	s.face, s.title, s.least, s.at = f, title, least, none
	s.tip, s.frame = widgets.NewTip(), &canvas.Rectangle{StrokeWidth: widgets.RingWidth}
	s.frame.Hidden = true
	s.raster = canvas.NewRaster(func(w, h int) image.Image { return s.draw(w, h) })
	s.raster.ScaleMode = canvas.ImageScalePixels
	s.ExtendBaseWidget(f)
}

// Keep sets how pictures of the plot are copied and saved.
func (s *sheet) Keep(k chart.Keep) { s.keep = k }

// Keeps implements [chart.Kept], as does Picture.
func (s *sheet) Keeps() (title string, k chart.Keep) { return s.title, s.keep }

// Picture draws the plot at twice the size.
func (s *sheet) Picture() image.Image { return chart.Paint(s.face.twin(), s.Size()) }

// TappedSecondary shows the menu.
func (s *sheet) TappedSecondary(e *fyne.PointEvent) { chart.Offer(s.face, e.AbsolutePosition) }

// draw returns the drawing in w × h device pixels.
func (s *sheet) draw(w, h int) *image.RGBA {
	s.brush.begin(w, h, s.Size().Width)
	s.face.paint(&s.brush)
	return s.brush.img
}

// update shows what has changed.
func (s *sheet) update() {
	if s.at >= s.face.places() {
		s.at = none
	}
	s.arrange()
	s.raster.Refresh()
	canvas.Refresh(s.face)
}

func (s *sheet) arrange() {
	size := s.Size()
	if size.IsZero() {
		return
	}
	s.used = 0
	s.face.arrange(size)
	for _, t := range s.texts[s.used:] {
		t.Hide()
	}
	s.tell()
}

// usualCaption is the size of small text for which the distances are.
const usualCaption = 11

// em returns the size of small text, relative to the usual size.
func em() float32 { return theme.CaptionTextSize() / usualCaption }

// lineHeight returns the height of small text.
func lineHeight() float32 { return widthOf("M").Height }

// widthOf returns the size of a small text.
func widthOf(text string) fyne.Size {
	return fyne.MeasureText(text, theme.CaptionTextSize(), fyne.TextStyle{})
}

// fit shortens a small text: it drops the names of factors before a value, and then its middle.
func fit(text string, width float32) string {
	if widthOf(text).Width > width+0.5 {
		text = named.ReplaceAllString(text, "")
	}
	return widgets.FitMiddle(text, width, theme.CaptionTextSize(), fyne.TextStyle{})
}

// named is the name of a factor before its value in the label of a point.
var named = regexp.MustCompile(`\b[\w.-]+=`)

// write places a small text, and returns its width. share is the part of the text left of x: 0, 0.5 or 1.
func (s *sheet) write(text string, x, y, share float32, ink fyne.ThemeColorName) float32 {
	if s.used == len(s.texts) {
		s.texts = append(s.texts, &canvas.Text{})
	}
	t := s.texts[s.used]
	s.used++
	t.Text, t.TextSize, t.Color = text, theme.CaptionTextSize(), chart.Ink(ink)
	size := widthOf(text)
	t.Resize(size)
	t.Move(fyne.NewPos(round(x-share*size.Width), round(y)))
	t.Show()
	t.Refresh()
	return size.Width
}

// tell shows what is said about the selected place.
func (s *sheet) tell() {
	if s.at == none {
		s.tip.Hide()
		return
	}
	at, text := s.face.spot(s.at)
	s.tip.Say(text, at, s.Size())
}

// look selects a place.
func (s *sheet) look(place int) {
	if place < 0 || place >= s.face.places() {
		place = none
	}
	if s.at == place {
		return
	}
	s.at = place
	s.tell()
	s.raster.Refresh()
	canvas.Refresh(s.face)
}

// Selected returns the selected place; -1 if none.
func (s *sheet) Selected() int { return s.at }

// Said returns the text about the selected place; "" if none.
func (s *sheet) Said() string { return s.tip.Text() }

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (s *sheet) MouseIn(e *desktop.MouseEvent) { s.MouseMoved(e) }

// MouseMoved selects the place under the pointer.
func (s *sheet) MouseMoved(e *desktop.MouseEvent) {
	chart.Pointed(s.face)
	s.pointed = true
	s.look(s.face.find(e.Position))
}

// MouseOut clears the selection.
func (s *sheet) MouseOut() {
	s.pointed = false
	s.look(none)
}

// Tapped chooses the place under the pointer.
func (s *sheet) Tapped(e *fyne.PointEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(s.face); c != nil {
		c.Focus(s.face)
	}
	if place := s.face.find(e.Position); place != none {
		s.look(place)
		s.choose()
	}
}

func (s *sheet) choose() {
	if s.at != none && s.OnChosen != nil {
		s.OnChosen(s.at)
	}
}

// FocusGained selects the first place, which shows the focus.
func (s *sheet) FocusGained() {
	chart.Focused(s.face)
	s.frame.Show()
	canvas.Refresh(s.frame)
	if s.at == none {
		s.look(0)
	}
}

// FocusLost clears the selection, unless the pointer made it.
func (s *sheet) FocusLost() {
	s.frame.Hide()
	if !s.pointed {
		s.look(none)
	}
}

// TypedRune shows the menu with m.
func (s *sheet) TypedRune(r rune) {
	if r == 'm' || r == 'M' {
		chart.OfferBelow(s.face)
	}
}

// TypedKey selects another place, or chooses the selected one with Return.
func (s *sheet) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyEscape:
		s.look(none)
	case desktop.KeyMenu:
		chart.OfferBelow(s.face)
	case fyne.KeyReturn, fyne.KeyEnter:
		s.choose()
	default:
		if last := s.face.places() - 1; last >= 0 {
			s.look(min(max(s.face.step(s.at, e.Name), 0), last))
		}
	}
}

// step selects the next or the previous place.
func (s *sheet) step(place int, key fyne.KeyName) int {
	switch key {
	case fyne.KeyLeft, fyne.KeyUp:
		return place - 1
	case fyne.KeyRight, fyne.KeyDown:
		return place + 1
	case fyne.KeyHome:
		return 0
	case fyne.KeyEnd:
		return s.face.places() - 1
	default: // other keys are not for plots
		return place
	}
}

// MinSize returns the smallest readable size.
func (s *sheet) MinSize() fyne.Size {
	big := max(em(), 1)
	return fyne.NewSize(s.least.Width*min(big, widestText), s.least.Height*big)
}

// widestText is the maximum factor of the width for larger text.
const widestText = 1.3

// CreateRenderer implements [fyne.Widget].
func (s *sheet) CreateRenderer() fyne.WidgetRenderer { return &sheetRenderer{s} }

type sheetRenderer struct{ sheet *sheet }

func (r *sheetRenderer) Destroy()           {}
func (r *sheetRenderer) MinSize() fyne.Size { return r.sheet.face.MinSize() }

// Layout lays out the plot after a change of the size.
func (r *sheetRenderer) Layout(size fyne.Size) {
	r.sheet.raster.Resize(size)
	r.sheet.frame.Move(fyne.NewPos(-ringAway, -ringAway))
	r.sheet.frame.Resize(size.AddWidthHeight(2*ringAway, 2*ringAway))
	r.sheet.arrange()
	r.sheet.raster.Refresh()
}

// ringAway is the distance of the focus ring.
const ringAway = 3

// Refresh updates the plot for the theme.
func (r *sheetRenderer) Refresh() {
	s := r.sheet
	s.tip.Refresh()
	s.frame.FillColor, s.frame.StrokeColor = color.Transparent, chart.Ink(theme.ColorNamePrimary)
	s.frame.CornerRadius = theme.SelectionRadiusSize()
	s.arrange()
	s.raster.Refresh()
}

// Objects returns the drawing, the texts, and the tip above them.
func (r *sheetRenderer) Objects() []fyne.CanvasObject {
	s := r.sheet
	all := []fyne.CanvasObject{s.raster}
	for _, t := range s.texts {
		all = append(all, t)
	}
	return append(append(all, s.frame), s.tip.Objects()...)
}

func round(v float32) float32 { return float32(math.Round(float64(v))) }
