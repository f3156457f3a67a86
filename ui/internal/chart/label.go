package chart

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// label is a text that knows its size. Each new text is a texture: it is replaced only when it differs.
type label struct {
	text  *canvas.Text
	color fyne.ThemeColorName
	named fyne.ThemeSizeName
	size  fyne.Size
	back  *canvas.Rectangle // so that it can be read above lines; nil: none
	tick  int64             // of a time axis: which one it stands for
	step  float64           // of that axis; 0: it stands for none yet
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
	if l.back != nil {
		l.back.FillColor = pen.Faint(colorOf(th, widgets.ColorSurface, variant), coverStrength)
	}
	l.measure()
	l.text.Refresh()
}

func (l *label) measure() {
	l.size = l.text.MinSize()
	l.text.Resize(l.size)
}

// cover gives the text a background, for where lines pass.
func (l *label) cover() {
	l.back = &canvas.Rectangle{CornerRadius: 3}
	l.back.Hidden = true
}

// coverStrength is that of the background, of 255.
const coverStrength = 225

// fit shows as much of a text as a width holds.
func (l *label) fit(text string, width float32) {
	l.set([]byte(widgets.Fit(text, width, l.text.TextSize, l.text.TextStyle)))
}

// place shows the text with its upper left corner at a place.
func (l *label) place(x, y float32) {
	l.text.Move(fyne.NewPos(round(x), round(y)))
	if l.text.Hidden {
		l.text.Show()
	}
	if l.back != nil {
		l.back.Move(l.text.Position().AddXY(-2, 1))
		l.back.Resize(l.size.AddWidthHeight(4, -2))
		l.back.Show()
	}
}

func (l *label) hide() {
	if !l.text.Hidden {
		l.text.Hide()
	}
	if l.back != nil && !l.back.Hidden {
		l.back.Hide()
	}
}

func round(v float32) float32 { return float32(math.Round(float64(v))) }
