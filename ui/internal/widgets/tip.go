package widgets

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
)

// Tip is a text in a box next to the pointer. A widget adds its objects as the last ones of its renderer.
type Tip struct {
	text  string
	back  *canvas.Rectangle
	lines []*canvas.Text
}

const (
	tipLines = 8
	tipWidth = 64 // characters of a line
)

// NewTip returns a hidden tip.
func NewTip() *Tip {
	t := &Tip{back: canvas.NewRectangle(nil)}
	for range tipLines {
		t.lines = append(t.lines, canvas.NewText("", nil))
	}
	t.Refresh()
	t.Hide()
	return t
}

// Objects returns the parts.
func (t *Tip) Objects() []fyne.CanvasObject {
	all := []fyne.CanvasObject{t.back}
	for _, l := range t.lines {
		all = append(all, l)
	}
	return all
}

// Text returns the text that is shown; "" if none.
func (t *Tip) Text() string { return t.text }

// Refresh updates the colors for the theme.
func (t *Tip) Refresh() {
	t.back.FillColor, t.back.StrokeColor, t.back.StrokeWidth = theme.Color(theme.ColorNameOverlayBackground), theme.Color(theme.ColorNameInputBorder), 1
	t.back.CornerRadius = theme.InputRadiusSize()
	for _, l := range t.lines {
		l.Color, l.TextSize = theme.Color(theme.ColorNameForeground), theme.CaptionTextSize()
	}
}

// Hide hides the tip.
func (t *Tip) Hide() {
	t.text = ""
	if t.back.Hidden {
		return
	}
	for _, o := range t.Objects() {
		o.Hide()
	}
}

// Say shows a text next to a position inside an area; "" hides the tip. At an area without height, the tip is above it.
func (t *Tip) Say(text string, at fyne.Position, area fyne.Size) {
	if text == "" {
		t.Hide()
		return
	}
	t.text = text
	lines := wrapped(text)
	pad := theme.InnerPadding() / 2
	height := fyne.MeasureText("M", theme.CaptionTextSize(), fyne.TextStyle{}).Height
	size := fyne.NewSize(0, float32(len(lines))*height)
	for _, l := range lines {
		size.Width = max(size.Width, fyne.MeasureText(l, theme.CaptionTextSize(), fyne.TextStyle{}).Width)
	}
	size = size.AddWidthHeight(2*pad, 2*pad)
	const below = 18 // of the pointer
	x := max(min(at.X, area.Width-size.Width), 0)
	y := at.Y + below
	switch {
	case area.Height <= 0:
		y = at.Y - size.Height - pad
	case y+size.Height > area.Height:
		y = max(at.Y-size.Height-pad, 0)
	}
	t.back.Move(fyne.NewPos(x, y))
	t.back.Resize(size)
	t.back.Show()
	t.back.Refresh()
	for i, l := range t.lines {
		if i >= len(lines) {
			l.Hide()
			continue
		}
		l.Text = lines[i]
		l.Move(fyne.NewPos(x+pad, y+pad+float32(i)*height))
		l.Resize(fyne.NewSize(size.Width-2*pad, height))
		l.Show()
		l.Refresh()
	}
}

// wrapped breaks a text into at most tipLines lines.
func wrapped(text string) (lines []string) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		line := ""
		for word := range strings.FieldsSeq(part) {
			if line != "" && len(line)+1+len(word) > tipWidth {
				lines, line = append(lines, line), ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	if len(lines) > tipLines {
		lines = lines[:tipLines]
		lines[tipLines-1] += "…"
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > 2*tipWidth { // one long word
			lines[i] = string(r[:2*tipWidth]) + "…"
		}
	}
	return lines
}
