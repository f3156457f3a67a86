package chart

import (
	"image"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/pen"
)

// Spark is a small chart of one series without axes: a title, a value, and a line. A click chooses its chart.
type Spark struct {
	widget.BaseWidget
	of      *Chart
	series  int // of the chart
	name    string
	chosen  func()
	plot    plot
	raster  *canvas.Raster
	title   *label
	value   *label
	ground  *canvas.Rectangle
	frame   *canvas.Rectangle
	marked  bool
	hovered bool
	text    []byte
}

var (
	_ fyne.Tappable      = (*Spark)(nil)
	_ fyne.Focusable     = (*Spark)(nil)
	_ desktop.Hoverable  = (*Spark)(nil)
	_ desktop.Cursorable = (*Spark)(nil)
)

// NewSpark returns a small version of a chart with one of its series.
func NewSpark(of *Chart, series int, title string, chosen func()) *Spark {
	s := &Spark{
		of: of, series: series, name: title, chosen: chosen, title: newLabel(title, colorQuiet, theme.SizeNameCaptionText), value: newLabel("–", theme.ColorNameForeground, theme.SizeNameText),
		plot:   plot{field: field{extent: extent{top: 1}}, limit: math.NaN(), to: 1, values: make([][]float64, 1), hidden: make([]bool, 1), fill: true},
		ground: &canvas.Rectangle{CornerRadius: 4}, frame: &canvas.Rectangle{StrokeWidth: 1.5},
	}
	s.frame.Hidden = true
	s.value.text.TextStyle.Bold = true
	s.raster = canvas.NewRaster(s.plotted)
	s.raster.ScaleMode = canvas.ImageScalePixels
	s.ExtendBaseWidget(s)
	return s
}

func (s *Spark) plotted(w, h int) image.Image { return s.plot.draw(w, h, s.raster.Size().Width) }

// Set shows data of the chart. The value is the newest of the series; value, if it is not empty, replaces it.
func (s *Spark) Set(d Data, value string) {
	from, to := ends(d)
	s.plot.from, s.plot.to = Seconds(from), Seconds(to)
	s.plot.times = append(s.plot.times[:0], d.Times...)
	s.plot.values[0] = s.plot.values[0][:0]
	highest, newest := math.NaN(), math.NaN()
	if len(d.Values) > s.series {
		s.plot.values[0] = append(s.plot.values[0], d.Values[s.series]...)
		for i, v := range d.Values[s.series] {
			if !(d.Times[i] <= s.plot.to) {
				break
			}
			if !math.IsNaN(v) {
				newest = v
			}
			if d.Times[i] >= s.plot.from && (v > highest || math.IsNaN(highest)) {
				highest = v
			}
		}
	}
	s.plot.top = 1.1 * orZero(highest)
	if s.plot.top <= 0 {
		s.plot.top = 1
	}
	s.text = append(s.text[:0], value...)
	if value == "" {
		s.text = s.of.config.Unit.appendValue(s.text, newest)
	}
	s.value.set(s.text)
	s.arrange()
	s.raster.Refresh()
}

// Mark shows whether its chart is the large one.
func (s *Spark) Mark(on bool) {
	if s.marked != on {
		s.marked = on
		s.Refresh()
	}
}

// Title returns the title.
func (s *Spark) Title() string { return s.title.text.Text }

// Tapped chooses the chart.
func (s *Spark) Tapped(*fyne.PointEvent) { s.chosen() }

// FocusGained shows the focus.
func (s *Spark) FocusGained() { see(s.frame, true) }

// FocusLost hides the focus.
func (s *Spark) FocusLost() { see(s.frame, false) }

// TypedRune does nothing.
func (s *Spark) TypedRune(rune) {}

// TypedKey chooses the chart with Return or Space.
func (s *Spark) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter || e.Name == fyne.KeySpace {
		s.chosen()
	}
}

// MouseIn implements [desktop.Hoverable].
func (s *Spark) MouseIn(*desktop.MouseEvent) { s.hover(true) }

// MouseMoved implements [desktop.Hoverable].
func (s *Spark) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements [desktop.Hoverable].
func (s *Spark) MouseOut() { s.hover(false) }

// Cursor implements [desktop.Cursorable].
func (s *Spark) Cursor() desktop.Cursor { return desktop.PointerCursor }

func (s *Spark) hover(on bool) {
	s.hovered = on
	s.dress()
	canvas.Refresh(s.ground)
}

func see(o fyne.CanvasObject, on bool) {
	if on {
		o.Show()
	} else {
		o.Hide()
	}
	canvas.Refresh(o)
}

// MinSize implements [fyne.Widget].
func (s *Spark) MinSize() fyne.Size {
	s.ExtendBaseWidget(s)
	return leastSize(s.Theme(), fyne.NewSize(130, 26))
}

// dress takes colors from the theme.
func (s *Spark) dress() {
	th, variant := s.Theme(), fyne.CurrentApp().Settings().ThemeVariant()
	s.title.dress(th, variant)
	s.value.dress(th, variant)
	ink := colorOf(th, s.of.colors[s.series], variant)
	s.plot.inks = inks{series: append(s.plot.inks.series[:0], ink)}
	accent := colorOf(th, theme.ColorNamePrimary, variant)
	s.ground.FillColor = color.Transparent // the toolkit does not draw this one
	switch {
	case s.marked:
		s.ground.FillColor = pen.Faint(accent, sparkMarked)
	case s.hovered:
		s.ground.FillColor = pen.Faint(accent, sparkHovered)
	}
	dressFrame(s.frame, th, variant)
}

// Alpha of the background of a small chart, out of 255.
const (
	sparkMarked  = 36
	sparkHovered = 18
)

// arrange places the texts at the left and the line at the right.
func (s *Spark) arrange() {
	size := s.Size()
	if size.IsZero() {
		return
	}
	const edge = 6
	text := min(max(size.Width*0.44, 70*emOf(s.Theme())), size.Width)
	high := s.title.size.Height + s.value.size.Height
	if high+2 <= size.Height {
		y := (size.Height - high) / 2
		s.title.fit(s.name, text-edge)
		s.title.place(edge, y)
		s.value.place(edge, y+s.title.size.Height)
	} else { // one line: the value at the end of the text's part
		s.title.fit(s.name, max(text-2*edge-s.value.size.Width, 0))
		s.title.place(edge, (size.Height-s.title.size.Height)/2)
		s.value.place(text-s.value.size.Width, (size.Height-s.value.size.Height)/2)
	}
	s.raster.Move(fyne.NewPos(text+edge, 2))
	s.raster.Resize(fyne.NewSize(max(size.Width-text-2*edge, 1), max(size.Height-4, 1)))
	s.ground.Resize(size)
	placeFrame(s.frame, size)
}

// CreateRenderer implements [fyne.Widget].
func (s *Spark) CreateRenderer() fyne.WidgetRenderer {
	s.dress()
	return &sparkRenderer{s, []fyne.CanvasObject{s.ground, s.raster, s.title.text, s.value.text, s.frame}}
}

type sparkRenderer struct {
	spark *Spark
	all   []fyne.CanvasObject
}

func (r *sparkRenderer) Layout(fyne.Size) {
	r.spark.arrange()
	r.spark.raster.Refresh()
}

func (r *sparkRenderer) Refresh() {
	r.spark.dress()
	r.spark.arrange()
	canvas.Refresh(r.spark.ground)
	r.spark.raster.Refresh()
}

func (r *sparkRenderer) MinSize() fyne.Size           { return r.spark.MinSize() }
func (r *sparkRenderer) Objects() []fyne.CanvasObject { return r.all }
func (r *sparkRenderer) Destroy()                     {}
