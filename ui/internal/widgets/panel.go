package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Panel is a piece of a screen that lies on the background with rounded corners.
type Panel struct {
	widget.BaseWidget
	content fyne.CanvasObject
}

// NewPanel puts a title, unless it is empty, above content.
func NewPanel(title string, content fyne.CanvasObject) *Panel {
	if title != "" {
		content = container.NewBorder(NewHeading(title), nil, nil, nil, content)
	}
	pad := theme.Padding()
	p := &Panel{content: container.New(layout.NewCustomPaddedLayout(pad*1.5, pad*1.5, pad*2.5, pad*2.5), content)}
	p.ExtendBaseWidget(p)
	return p
}

// Parts is what lies on the panel.
func (p *Panel) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{p.content} }

// CreateRenderer is part of [fyne.Widget].
func (p *Panel) CreateRenderer() fyne.WidgetRenderer {
	back := canvas.NewRectangle(Color(ColorSurface))
	back.CornerRadius = theme.InputRadiusSize()
	return &panelRenderer{WidgetRenderer: widget.NewSimpleRenderer(container.NewStack(back, p.content)), back: back}
}

type panelRenderer struct {
	fyne.WidgetRenderer
	back *canvas.Rectangle
}

// Refresh follows the theme; what lies on the panel refreshes itself.
func (r *panelRenderer) Refresh() {
	r.back.FillColor = Color(ColorSurface)
	r.back.CornerRadius = theme.InputRadiusSize()
	r.WidgetRenderer.Refresh()
}

// Text is a line in a colour and size of the theme. Unlike a label it has no padding, and setting what it shows
// already costs nothing: every new text is a texture.
type Text struct {
	widget.BaseWidget
	color fyne.ThemeColorName
	size  fyne.ThemeSizeName
	text  *canvas.Text
}

// NewText makes a line of the body's size and colour.
func NewText(text string) *Text { return newText(text, theme.ColorNameForeground, theme.SizeNameText) }

// NewHeading makes the title of a panel.
func NewHeading(text string) *Text {
	t := newText(text, theme.ColorNameForeground, theme.SizeNameText)
	t.text.TextStyle.Bold = true
	return t
}

// NewCaption makes a small quiet line.
func NewCaption(text string) *Text { return newText(text, ColorMuted, theme.SizeNameCaptionText) }

func newText(text string, color fyne.ThemeColorName, size fyne.ThemeSizeName) *Text {
	t := &Text{color: color, size: size, text: canvas.NewText(text, Color(color))}
	t.text.TextSize = theme.Size(size)
	t.ExtendBaseWidget(t)
	return t
}

// Align sets where the text stands in its width.
func (t *Text) Align(a fyne.TextAlign) *Text {
	t.text.Alignment = a
	return t
}

// Text returns what is shown.
func (t *Text) Text() string { return t.text.Text }

// SetText shows another text, if it is another.
func (t *Text) SetText(text string) {
	if t.text.Text == text {
		return
	}
	t.text.Text = text
	t.Refresh()
}

// SetColor shows the text in another colour of the theme, if it is another.
func (t *Text) SetColor(name fyne.ThemeColorName) {
	if t.color == name {
		return
	}
	t.color = name
	t.Refresh()
}

// CreateRenderer is part of [fyne.Widget].
func (t *Text) CreateRenderer() fyne.WidgetRenderer {
	return &textRenderer{WidgetRenderer: widget.NewSimpleRenderer(t.text), text: t}
}

type textRenderer struct {
	fyne.WidgetRenderer
	text *Text
}

// Refresh follows the theme.
func (r *textRenderer) Refresh() {
	r.text.text.Color = Color(r.text.color)
	r.text.text.TextSize = theme.Size(r.text.size)
	r.text.text.Refresh()
}
