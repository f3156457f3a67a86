package chart

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

// label is a text that knows its size. Each new text is a texture: it is replaced only when it differs.
type label struct {
	text  *canvas.Text
	color fyne.ThemeColorName
	named fyne.ThemeSizeName
	size  fyne.Size
	tick  int64   // of a time axis: which one it stands for
	step  float64 // of that axis; 0: it stands for none yet
}

func newLabel(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) *label {
	return &label{text: &canvas.Text{Text: text}, color: color, named: size}
}

// newLabels returns hidden labels for an axis.
func newLabels(n int) []*label {
	labels := make([]*label, n)
	for i := range labels {
		labels[i] = newLabel("", theme.ColorNamePlaceHolder, theme.SizeNameCaptionText)
		labels[i].text.Hidden = true
	}
	return labels
}

// set replaces the text if it differs.
func (l *label) set(text []byte) {
	if string(text) == l.text.Text {
		return
	}
	l.text.Text = string(text)
	l.measure()
	l.text.Refresh()
}

// dress gives the text a theme's colour and size.
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

// place shows the text with its upper left corner at a place.
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
