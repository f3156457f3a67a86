package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Line is a text that is cut to the width that it gets: it asks for almost none. Setting what it shows already costs
// nothing.
type Line struct {
	widget.BaseWidget
	full string
	tone Tone
	size fyne.ThemeSizeName
	text *canvas.Text
}

// NewLine makes an empty line of a size of the theme.
func NewLine(size fyne.ThemeSizeName, tone Tone) *Line {
	l := &Line{tone: tone, size: size, text: canvas.NewText("", Color(tone.Color()))}
	l.text.TextSize = theme.Size(size)
	l.ExtendBaseWidget(l)
	return l
}

// Bold makes the line bold, for good.
func (l *Line) Bold() *Line {
	l.text.TextStyle.Bold = true
	return l
}

// Align sets where the text stands in its width.
func (l *Line) Align(a fyne.TextAlign) *Line {
	l.text.Alignment = a
	return l
}

// Text returns the whole text.
func (l *Line) Text() string { return l.full }

// Set shows a text in a tone, if either is another.
func (l *Line) Set(text string, tone Tone) {
	if l.full == text && l.tone == tone {
		return
	}
	l.full, l.tone = text, tone
	l.Refresh()
}

// Natural is the width at which nothing is cut.
func (l *Line) Natural() float32 {
	return fyne.MeasureText(l.full, theme.Size(l.size), l.text.TextStyle).Width
}

// CreateRenderer implements [fyne.Widget].
func (l *Line) CreateRenderer() fyne.WidgetRenderer {
	return &lineRenderer{WidgetRenderer: widget.NewSimpleRenderer(l.text), line: l}
}

type lineRenderer struct {
	fyne.WidgetRenderer
	line *Line
}

// MinSize has room for the ellipsis.
func (r *lineRenderer) MinSize() fyne.Size {
	return fyne.MeasureText("…", theme.Size(r.line.size), r.line.text.TextStyle)
}

// Layout cuts the text to the width.
func (r *lineRenderer) Layout(size fyne.Size) {
	l := r.line
	if text := Fit(l.full, size.Width, l.text.TextSize, l.text.TextStyle); text != l.text.Text {
		l.text.Text = text
		l.text.Refresh()
	}
	r.WidgetRenderer.Layout(size)
}

// Refresh follows the text and the theme.
func (r *lineRenderer) Refresh() {
	l := r.line
	l.text.Color = Color(l.tone.Color())
	l.text.TextSize = theme.Size(l.size)
	l.text.Text = Fit(l.full, l.Size().Width, l.text.TextSize, l.text.TextStyle)
	l.text.Refresh()
}
