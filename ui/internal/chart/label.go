package chart

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// label is a text that knows its size. Each new text needs a new texture, so it is replaced only if it differs.
type label struct {
	text  *canvas.Text
	color fyne.ThemeColorName
	named fyne.ThemeSizeName
	size  fyne.Size
	tick  int64   // number of the tick of a time axis
	step  float64 // step of that axis; 0: not used for a tick yet
}

func newLabel(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) *label {
	return &label{text: &canvas.Text{Text: text}, color: color, named: size}
}

// newLabels returns hidden labels for an axis.
func newLabels(n int) []*label {
	labels := make([]*label, n)
	for i := range labels {
		labels[i] = newLabel("", colorQuiet, theme.SizeNameCaptionText)
		labels[i].text.Hidden = true
	}
	return labels
}

// set sets the text if it differs.
func (l *label) set(text []byte) {
	if string(text) == l.text.Text {
		return
	}
	l.text.Text = string(text)
	l.measure()
	l.text.Refresh()
}

// dress sets the theme's color and size.
func (l *label) dress(th fyne.Theme, variant fyne.ThemeVariant) {
	l.text.Color = colorOf(th, l.color, variant)
	l.text.TextSize = th.Size(l.named)
	l.measure()
	l.text.Refresh()
}

func (l *label) measure() {
	l.size = l.text.MinSize()
	l.text.Resize(l.size)
}

// fit clips a text to a width.
func (l *label) fit(text string, width float32) {
	l.set([]byte(widgets.Fit(text, width, l.text.TextSize, l.text.TextStyle)))
}

// place shows the text with its upper left corner at a position.
func (l *label) place(x, y float32) {
	l.text.Move(fyne.NewPos(round(x), round(y)))
	if l.text.Hidden {
		l.text.Show()
	}
}

func (l *label) hide() {
	if !l.text.Hidden {
		l.text.Hide()
	}
}

func round(v float32) float32 { return float32(math.Round(float64(v))) }
