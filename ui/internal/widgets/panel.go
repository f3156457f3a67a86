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

// CreateRenderer implements [fyne.Widget].
func (p *Panel) CreateRenderer() fyne.WidgetRenderer {
	g := newGround()
	return &panelRenderer{WidgetRenderer: NewRenderer(p, container.NewStack(g.content, p.content)), ground: g}
}

type panelRenderer struct {
	fyne.WidgetRenderer
	ground *ground
}

// Refresh follows the theme; what lies on the panel refreshes itself.
func (r *panelRenderer) Refresh() {
	r.ground.dress()
	r.WidgetRenderer.Refresh()
}

// ground is a surface with round corners. Without a graphics card a pixel of a rectangle with round corners costs several times that of a
// plain one, so only small squares have them.
type ground struct {
	content           *fyne.Container
	corners           [4]*canvas.Rectangle // clockwise, from the left at the top
	top, rest, bottom *canvas.Rectangle
}

func newGround() *ground {
	g := &ground{top: &canvas.Rectangle{}, rest: &canvas.Rectangle{}, bottom: &canvas.Rectangle{}}
	for i := range g.corners {
		g.corners[i] = &canvas.Rectangle{}
	}
	c := &g.corners
	g.content = container.New(g, c[0], c[1], c[2], c[3], g.top, g.bottom, g.rest)
	g.dress()
	return g
}

// dress follows the theme.
func (g *ground) dress() {
	round, c := theme.InputRadiusSize(), &g.corners
	c[0].TopLeftCornerRadius, c[1].TopRightCornerRadius, c[2].BottomRightCornerRadius, c[3].BottomLeftCornerRadius = round, round, round, round
	for _, r := range append(c[:], g.top, g.rest, g.bottom) {
		r.FillColor = Color(ColorSurface)
	}
}

// MinSize implements [fyne.Layout].
func (g *ground) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

// Layout implements [fyne.Layout]. The squares are twice as large as their corners, as the toolkit draws larger corners in a costlier way,
// and the rest lies over their edges, which are soft. The plain parts overlap, as there would be a line between them at a scale of 1.5.
func (g *ground) Layout(_ []fyne.CanvasObject, size fyne.Size) {
	round := theme.InputRadiusSize()
	square := fyne.NewSize(min(2*round, size.Width), min(2*round, size.Height))
	x, y := min(round, square.Width/2), min(round, square.Height/2)
	right, bottom := size.Width-square.Width, size.Height-square.Height
	for i, at := range []fyne.Position{{}, {X: right}, {X: right, Y: bottom}, {Y: bottom}} {
		g.corners[i].Move(at)
		g.corners[i].Resize(square)
	}
	across := fyne.NewSize(max(size.Width-2*x, 0), square.Height)
	g.top.Move(fyne.NewPos(x, 0))
	g.top.Resize(across)
	g.bottom.Move(fyne.NewPos(x, bottom))
	g.bottom.Resize(across)
	g.rest.Move(fyne.NewPos(0, y))
	g.rest.Resize(fyne.NewSize(size.Width, max(size.Height-2*y, 0)))
}

// Text is a line in a color and size of the theme. Unlike a label it has no padding, and setting what it shows
// already costs nothing: every new text is a texture.
type Text struct {
	widget.BaseWidget
	color fyne.ThemeColorName
	size  fyne.ThemeSizeName
	text  *canvas.Text
}

// NewText makes a line of the body's size and color.
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

// SetColor shows the text in another color of the theme, if it is another.
func (t *Text) SetColor(name fyne.ThemeColorName) {
	if t.color == name {
		return
	}
	t.color = name
	t.Refresh()
}

// CreateRenderer implements [fyne.Widget].
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
