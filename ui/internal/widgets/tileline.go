package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Line is a text that is clipped to its width. Its minimum width is small. Setting the current text costs nothing.
type Line struct {
	widget.BaseWidget
	// OnTapped is called for taps. The toolkit does not pass them to what is below a line, because a line has a menu.
	OnTapped func()

	full string
	tone Tone
	size fyne.ThemeSizeName
	text *canvas.Text

	middle bool // is cut in the middle, so that its beginning and its end stay visible
}

// NewLine returns an empty line with a size of the theme.
func NewLine(size fyne.ThemeSizeName, tone Tone) *Line {
	l := &Line{tone: tone, size: size, text: canvas.NewText("", Color(tone.Color()))}
	l.text.TextSize = theme.Size(size)
	l.ExtendBaseWidget(l)
	return l
}

// Bold makes the line bold.
func (l *Line) Bold() *Line {
	l.text.TextStyle.Bold = true
	return l
}

// Align sets the alignment of the text.
func (l *Line) Align(a fyne.TextAlign) *Line {
	l.text.Alignment = a
	return l
}

// Tapped implements [fyne.Tappable].
func (l *Line) Tapped(*fyne.PointEvent) {
	if l.OnTapped != nil {
		l.OnTapped()
	}
}

// Text returns the whole text.
func (l *Line) Text() string { return l.full }

// Set sets the text and the tone if they differ.
func (l *Line) Set(text string, tone Tone) {
	if l.full == text && l.tone == tone {
		return
	}
	l.full, l.tone = text, tone
	l.Refresh()
}

// Natural returns the width of the whole text.
func (l *Line) Natural() float32 {
	return fyne.MeasureText(l.full, theme.Size(l.size), l.text.TextStyle).Width
}

// CreateRenderer implements [fyne.Widget].
func (l *Line) CreateRenderer() fyne.WidgetRenderer {
	return &lineRenderer{WidgetRenderer: widget.NewSimpleRenderer(l.text), line: l}
}

func (l *Line) fit(text string, width, size float32, style fyne.TextStyle) string {
	if l.middle {
		return FitMiddle(text, width, size, style)
	}
	return Fit(text, width, size, style)
}

type lineRenderer struct {
	fyne.WidgetRenderer
	line *Line
}

// MinSize returns the size of an ellipsis.
func (r *lineRenderer) MinSize() fyne.Size {
	return fyne.MeasureText("…", theme.Size(r.line.size), r.line.text.TextStyle)
}

// Layout clips the text to the width.
func (r *lineRenderer) Layout(size fyne.Size) {
	l := r.line
	if text := l.fit(l.full, size.Width, l.text.TextSize, l.text.TextStyle); text != l.text.Text {
		l.text.Text = text
		l.text.Refresh()
	}
	r.WidgetRenderer.Layout(size)
}

// Refresh updates the line for its text and the theme.
func (r *lineRenderer) Refresh() {
	l := r.line
	l.text.Color = Color(l.tone.Color())
	l.text.TextSize = theme.Size(l.size)
	l.text.Text = l.fit(l.full, l.Size().Width, l.text.TextSize, l.text.TextStyle)
	l.text.Refresh()
}
