package code

import (
	"image/color"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// CreateRenderer implements [fyne.Widget].
func (m *menu) CreateRenderer() fyne.WidgetRenderer { return &menuFace{menu: m} }

// menuFace draws the menu: its choices with their details, and below a line the help for the selected one.
type menuFace struct {
	menu    *menu
	objects []fyne.CanvasObject
}

// Layout implements [fyne.WidgetRenderer].
func (f *menuFace) Layout(fyne.Size) { f.draw() }

// MinSize implements [fyne.WidgetRenderer].
func (*menuFace) MinSize() fyne.Size { return fyne.Size{} }

// Objects implements [fyne.WidgetRenderer].
func (f *menuFace) Objects() []fyne.CanvasObject { return f.objects }

// Refresh implements [fyne.WidgetRenderer].
func (f *menuFace) Refresh() {
	f.draw()
	canvas.Refresh(f.menu)
}

// Destroy implements [fyne.WidgetRenderer].
func (*menuFace) Destroy() {}

func (f *menuFace) draw() {
	m := f.menu
	f.objects = f.objects[:0]
	if len(m.choices) == 0 {
		return
	}
	back := canvas.NewRectangle(theme.Color(theme.ColorNameOverlayBackground))
	back.StrokeColor, back.StrokeWidth, back.CornerRadius = widgets.Color(widgets.ColorMuted), 1, theme.InputRadiusSize()
	back.Resize(m.Size())
	f.objects = append(f.objects, back)
	for i := range m.rows {
		if m.first+i < len(m.choices) {
			f.row(i)
		}
	}
	f.thumb()
	f.help()
}

// row draws a choice: its label, and its details at the right.
func (f *menuFace) row(i int) {
	m := f.menu
	c := &m.choices[m.first+i]
	y := menuInset() + float32(i)*m.rowHeight()
	if m.first+i == m.selected {
		box := canvas.NewRectangle(theme.Color(theme.ColorNameSelection))
		box.CornerRadius = theme.InputRadiusSize()
		box.Move(fyne.NewPos(menuInset(), y))
		box.Resize(fyne.NewSize(m.Size().Width-2*menuInset(), m.rowHeight()))
		f.objects = append(f.objects, box)
	}
	edge := 2 * menuInset()
	width := m.Size().Width - 2*edge
	label := f.text(c.Label, theme.Color(theme.ColorNameForeground), theme.TextSize(), true, width)
	label.Move(fyne.NewPos(edge, y+(m.rowHeight()-label.MinSize().Height)/2))
	left := width - label.MinSize().Width - 3*edge
	if detail := f.text(c.Detail, widgets.Color(widgets.ColorMuted), theme.CaptionTextSize(), false, left); detail.Text != "" {
		size := detail.MinSize()
		detail.Move(fyne.NewPos(edge+width-size.Width, y+(m.rowHeight()-size.Height)/2))
	}
}

// text adds a text that is shortened to a width.
func (f *menuFace) text(text string, of color.Color, size float32, mono bool, width float32) *canvas.Text {
	t := canvas.NewText(text, of)
	t.TextSize, t.TextStyle.Monospace = size, mono
	for runes := []rune(text); t.MinSize().Width > width && len(runes) > 0; {
		runes = runes[:len(runes)-1]
		t.Text = strings.TrimSpace(string(runes)) + "…"
		if len(runes) == 0 {
			t.Text = ""
		}
	}
	t.Resize(t.MinSize())
	f.objects = append(f.objects, t)
	return t
}

// thumb shows which part of a long list is visible.
func (f *menuFace) thumb() {
	m := f.menu
	if len(m.choices) <= m.rows {
		return
	}
	height := float32(m.rows) * m.rowHeight()
	bar := canvas.NewRectangle(theme.Color(theme.ColorNameScrollBar))
	bar.CornerRadius = 1
	bar.Resize(fyne.NewSize(3, max(height*float32(m.rows)/float32(len(m.choices)), 8)))
	bar.Move(fyne.NewPos(m.Size().Width-4, menuInset()+(height-bar.Size().Height)*float32(m.first)/float32(len(m.choices)-m.rows)))
	f.objects = append(f.objects, bar)
}

// help explains the selected choice, in a fixed number of lines.
func (f *menuFace) help() {
	m := f.menu
	y := menuInset() + float32(m.rows)*m.rowHeight() + menuInset()
	line := canvas.NewRectangle(theme.Color(theme.ColorNameSeparator))
	line.Move(fyne.NewPos(menuInset(), y-menuInset()/2))
	line.Resize(fyne.NewSize(m.Size().Width-2*menuInset(), 1))
	f.objects = append(f.objects, line)
	edge := 2 * menuInset()
	width := m.Size().Width - 2*edge
	for i, text := range fitted(m.choices[m.selected].Help, width) {
		t := f.text(text, theme.Color(theme.ColorNameForeground), theme.CaptionTextSize(), false, width)
		t.Move(fyne.NewPos(edge, y+float32(i)*captionHeight()))
	}
}

// fitted wraps a text at a width. The last of the lines takes the rest.
func fitted(text string, width float32) (lines []string) {
	line := ""
	for w := range strings.FieldsSeq(text) {
		next := strings.TrimSpace(line + " " + w)
		if line != "" && len(lines) < helpLines-1 && fyne.MeasureText(next, theme.CaptionTextSize(), fyne.TextStyle{}).Width > width {
			lines, next = append(lines, line), w
		}
		line = next
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
