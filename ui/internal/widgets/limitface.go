package widgets

import (
	"fmt"
	"image/color"
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

// limitFace draws a slider: the thumb on its track, the bar of what is in use, ticks and labels.
type limitFace struct {
	slider              *LimitSlider
	track, active, used *canvas.Rectangle
	halo, thumb         *canvas.Circle
	ticks               []*canvas.Rectangle
	labels              []*canvas.Text
	numbers             []int // of the labels
	size                fyne.Size
}

// CreateRenderer implements [fyne.Widget].
func (s *LimitSlider) CreateRenderer() fyne.WidgetRenderer {
	s.face = &limitFace{
		slider: s,
		track:  &canvas.Rectangle{}, active: &canvas.Rectangle{}, used: &canvas.Rectangle{},
		halo: &canvas.Circle{}, thumb: &canvas.Circle{},
	}
	s.face.label()
	return s.face
}

func limitThumb() float32 { return theme.IconInlineSize() - theme.Padding() }
func limitHalo() float32  { return limitThumb() + 2*theme.Padding() }
func limitInset() float32 { return limitHalo() / 2 }
func limitTrack() float32 { return theme.Padding() }
func limitLabels() float32 {
	return fyne.MeasureText("0", theme.CaptionTextSize(), fyne.TextStyle{}).Height
}

// Destroy implements [fyne.WidgetRenderer], as are the others.
func (f *limitFace) Destroy() {}

// Objects returns the parts from bottom to top.
func (f *limitFace) Objects() []fyne.CanvasObject {
	all := []fyne.CanvasObject{f.track, f.active, f.used}
	for i := range f.labels {
		all = append(all, f.ticks[i], f.labels[i])
	}
	return append(all, f.halo, f.thumb)
}

// MinSize leaves some length for the thumb.
func (f *limitFace) MinSize() fyne.Size {
	return fyne.NewSize(10*limitHalo(), limitHalo()+2*limitTrack()+limitLabels())
}

// Layout centers the slider vertically.
func (f *limitFace) Layout(size fyne.Size) {
	f.size = size
	f.place()
	f.placeLabels()
}

// top returns the top of the slider.
func (f *limitFace) top() float32 { return max((f.size.Height-f.MinSize().Height)/2, 0) }

// x returns the x coordinate of a number.
func (f *limitFace) x(n int) float32 {
	inset := limitInset()
	return round(inset + float32(f.slider.scale.share(n))*max(f.size.Width-2*inset, 0))
}

func round(x float32) float32 { return float32(math.Round(float64(x))) }

// place moves the parts that show values. Parts that do not move are not drawn again.
func (f *limitFace) place() {
	if f.size.IsZero() {
		return
	}
	left, right, thick := limitInset(), f.size.Width-limitInset(), limitTrack()
	middle := f.top() + limitHalo()/2
	f.track.Move(fyne.NewPos(left, middle-thick/2))
	f.track.Resize(fyne.NewSize(max(right-left, 0), thick))
	f.active.Move(f.track.Position())
	x := f.x(f.slider.value)
	f.active.Resize(fyne.NewSize(max(x-left, 0), thick))
	center(f.halo, limitHalo(), x, middle)
	center(f.thumb, limitThumb(), x, middle)
	used := float32(0)
	if f.slider.used > 0 {
		used = max(f.x(f.slider.used)-left, thick) // even one in use is visible
	}
	f.used.Move(fyne.NewPos(left, f.top()+limitHalo()))
	f.used.Resize(fyne.NewSize(used, thick))
}

func center(c *canvas.Circle, diameter, x, y float32) {
	c.Move(fyne.NewPos(x-diameter/2, y-diameter/2))
	c.Resize(fyne.NewSquareSize(diameter))
}

// label creates the labels.
func (f *limitFace) label() {
	f.numbers = f.slider.scale.ticks()
	f.ticks, f.labels = nil, nil
	for _, n := range f.numbers {
		text := canvas.NewText(shortNumber(n), color.Transparent)
		text.Alignment = fyne.TextAlignCenter
		f.labels = append(f.labels, text)
		f.ticks = append(f.ticks, &canvas.Rectangle{})
	}
	f.paint()
}

// placeLabels shows the labels that fit, the most important first.
func (f *limitFace) placeLabels() {
	if f.size.IsZero() {
		return
	}
	top := f.top() + limitHalo() + limitTrack()
	type span struct{ from, to float32 }
	var taken []span
	for i, n := range f.numbers {
		text, tick := f.labels[i], f.ticks[i]
		size := fyne.MeasureText(text.Text, text.TextSize, text.TextStyle)
		x := f.x(n)
		from := min(max(x-size.Width/2, 0), f.size.Width-size.Width)
		own := span{from, from + size.Width}
		hidden := false
		for _, t := range taken {
			hidden = hidden || own.from < t.to+theme.InnerPadding() && t.from < own.to+theme.InnerPadding()
		}
		text.Hidden, tick.Hidden = hidden, hidden
		if hidden {
			continue
		}
		taken = append(taken, own)
		tick.Move(fyne.NewPos(x, top))
		tick.Resize(fyne.NewSize(theme.SeparatorThicknessSize(), limitTrack()))
		text.Move(fyne.NewPos(from, top+limitTrack()))
		text.Resize(size)
	}
}

func (f *limitFace) paint() {
	f.track.FillColor = theme.Color(theme.ColorNameButton)
	accent := theme.Color(theme.ColorNamePrimary)
	if f.slider.Disabled() {
		accent = theme.Color(theme.ColorNameDisabled)
	}
	f.active.FillColor, f.thumb.FillColor = accent, accent
	f.used.FillColor = Color(ColorMuted)
	for _, bar := range []*canvas.Rectangle{f.track, f.active, f.used} {
		bar.CornerRadius = limitTrack() / 2
	}
	f.halo.FillColor = color.Transparent
	switch {
	case f.slider.Disabled():
	case f.slider.focused:
		f.halo.FillColor = theme.Color(theme.ColorNameFocus)
	case f.slider.hovered:
		f.halo.FillColor = theme.Color(theme.ColorNameHover)
	}
	for i, text := range f.labels {
		text.Color, text.TextSize = Color(ColorMuted), theme.CaptionTextSize()
		f.ticks[i].FillColor = theme.Color(theme.ColorNameSeparator)
	}
}

// Refresh updates the slider for its state and the theme.
func (f *limitFace) Refresh() {
	f.paint()
	f.place()
	f.placeLabels()
	canvas.Refresh(f.slider)
}

// shortNumber writes thousands as k.
func shortNumber(n int) string {
	if n >= 1000 && n%100 == 0 {
		return fmt.Sprintf("%gk", float64(n)/1000)
	}
	return fmt.Sprint(n)
}
