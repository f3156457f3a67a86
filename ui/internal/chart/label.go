package chart

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/pen"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// label is a text that knows its size. Each new text needs a new texture, so it is replaced only if it differs.
type label struct {
	text  *canvas.Text
	color fyne.ThemeColorName
	named fyne.ThemeSizeName
	size  fyne.Size
	back  *canvas.Rectangle // makes the text readable above lines; nil: none
	tick  int64             // number of the tick of a time axis
	step  float64           // step of that axis; 0: not used for a tick yet
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

// cover adds a background, for labels above lines.
func (l *label) cover() {
	l.back = &canvas.Rectangle{CornerRadius: 3}
	l.back.Hidden = true
}

// coverStrength is the alpha of the background, out of 255.
const coverStrength = 225

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
