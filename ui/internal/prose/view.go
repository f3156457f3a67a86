package prose

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Ways are callbacks of a view.
type Ways struct {
	Follow  func(link string)                 // a link was pressed
	Picture func(source string) fyne.Resource // nil is that there is none
	Scroll  func(key fyne.KeyName)            // a key that has no meaning to what has the focus
	Height  func(now func(y float32) float32) // the view needs another height; now maps an earlier position to the one now
}

// View shows a document. Its text is selected with the mouse; [View.Copy] copies it.
type View struct {
	widget.BaseWidget
	ways     Ways
	document *Document
	marks    []string // words in lower case
	sheet    *sheet
	em       float32        // that the sheet is laid out with
	drawn    [3]color.Color // of the theme, that it is drawn with
	pictures map[string]*canvas.Image
	from, to place // what is selected; from may be behind to

	under, over, ground, top *fyne.Container // what is selected and marked, the text, what lies below it, what can be pressed
}

// NewView makes a view that shows nothing.
func NewView(ways Ways) *View {
	v := &View{
		ways: ways, document: &Document{}, sheet: &sheet{}, pictures: map[string]*canvas.Image{},
		ground: container.NewWithoutLayout(), under: container.NewWithoutLayout(), over: container.NewWithoutLayout(), top: container.NewWithoutLayout(),
	}
	v.ExtendBaseWidget(v)
	return v
}

// Set shows a document, with all that is one of some words marked.
func (v *View) Set(d *Document, marks []string) {
	v.document, v.marks = d, marks
	v.lay(v.sheet.width)
}

// Mark marks other words, in lower case.
func (v *View) Mark(words []string) {
	v.marks = words
	v.reselect()
}

// SetWidth lays the document out in another width.
func (v *View) SetWidth(width float32) {
	if width != v.sheet.width {
		v.lay(width)
	}
}

// Anchor is where a heading stands; false is that there is none of that name.
func (v *View) Anchor(name string) (y float32, ok bool) {
	y, ok = v.sheet.anchors[name]
	return y, ok
}

// Line is where a line of the source stands.
func (v *View) Line(line int) (y float32) { return v.sheet.place(line) }

// Parts is what lies on the view.
func (v *View) Parts() []fyne.CanvasObject {
	return []fyne.CanvasObject{v.ground, v.under, v.over, v.top}
}

// MinSize implements [fyne.CanvasObject]: a document takes any width, and the height that it needs there.
func (v *View) MinSize() fyne.Size { return fyne.NewSize(0, v.sheet.height) }

func (v *View) lay(width float32) {
	before := v.sheet
	v.from, v.to = place{}, place{} // pieces are others in another width
	v.sheet, v.em = arrange(v.document, width, v.sizeOf), theme.TextSize()
	v.draw()
	if v.sheet.height != before.height && v.ways.Height != nil {
		v.ways.Height(func(y float32) float32 { return before.moved(y, v.sheet) })
	}
}

// draw makes what is seen of the sheet.
func (v *View) draw() {
	v.ground.Objects, v.over.Objects, v.top.Objects = nil, nil, nil
	for i := range v.sheet.frames {
		v.frame(&v.sheet.frames[i])
	}
	for _, r := range v.sheet.rules {
		line := canvas.NewRectangle(theme.Color(theme.ColorNameSeparator))
		put(&v.ground.Objects, line, r.x, r.y, r.w, 1)
	}
	for _, i := range v.sheet.images {
		put(&v.over.Objects, v.picture(i.source), i.x, i.y, i.w, i.h)
	}
	for i := range v.sheet.pieces {
		v.piece(&v.sheet.pieces[i])
	}
	v.paint()
	v.drawn = tones()
	canvas.Refresh(v) // all of it is new: to refresh each piece would be for nothing
}

// tones returns colors that differ between themes.
func tones() [3]color.Color {
	return [3]color.Color{theme.Color(theme.ColorNameForeground), theme.Color(theme.ColorNameBackground), theme.Color(theme.ColorNameHyperlink)}
}

func put(list *[]fyne.CanvasObject, o fyne.CanvasObject, x, y, w, h float32) {
	o.Move(fyne.NewPos(x, y))
	o.Resize(fyne.NewSize(w, h))
	*list = append(*list, o)
}

// frame is the ground of a block of code, with a button that copies it.
func (v *View) frame(f *frame) {
	back := canvas.NewRectangle(widgets.Color(widgets.ColorSurface))
	back.CornerRadius = theme.InputRadiusSize()
	put(&v.ground.Objects, back, f.x, f.y, f.w, f.h)
	copies := widget.NewButtonWithIcon("", theme.ContentCopyIcon(), func() { fyne.CurrentApp().Clipboard().SetContent(f.code) })
	copies.Importance = widget.LowImportance
	size := copies.MinSize()
	put(&v.top.Objects, copies, f.x+f.w-size.Width, f.y, size.Width, size.Height)
}

func (v *View) piece(p *piece) {
	text := canvas.NewText(p.text, theme.Color(theme.ColorNameForeground))
	text.TextSize, text.TextStyle = p.size, textStyle(p.style)
	if p.style.link != "" {
		text.Color = theme.Color(theme.ColorNameHyperlink)
		put(&v.top.Objects, newLink(v, p, text), p.x, p.y, p.w, text.MinSize().Height)
		return
	}
	if p.style.mono && !p.code {
		chip := canvas.NewRectangle(widgets.Color(widgets.ColorSurface))
		chip.CornerRadius = theme.InputRadiusSize() / 2
		put(&v.ground.Objects, chip, p.x-chipPadding, p.y, p.w+2*chipPadding, text.MinSize().Height)
	}
	put(&v.over.Objects, text, p.x, p.y, p.w, text.MinSize().Height)
}

// chipPadding is the horizontal padding of inline code.
const chipPadding = 2

// paint draws what is marked and what is selected.
func (v *View) paint() {
	v.under.Objects = nil
	mark := theme.Color(theme.ColorNameWarning)
	r, g, b, _ := mark.RGBA()
	soft := color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0x50}
	for i := range v.sheet.pieces {
		for _, at := range found(v.sheet.pieces[i].text, v.marks) {
			v.band(i, at[0], at[1], soft)
		}
	}
	from, to := v.selection()
	for i := from.piece; i <= to.piece && i < len(v.sheet.pieces); i++ {
		begin, end := 0, len(v.sheet.pieces[i].text)
		if i == from.piece {
			begin = from.offset
		}
		if i == to.piece {
			end = to.offset
		}
		v.band(i, begin, end, theme.Color(theme.ColorNameSelection))
	}
}

// band lies under a part of a piece.
func (v *View) band(i, begin, end int, c color.Color) {
	if begin >= end {
		return
	}
	p := &v.sheet.pieces[i]
	x := measure(p.text[:begin], p.size, p.style).Width
	back := canvas.NewRectangle(c)
	put(&v.under.Objects, back, p.x+x, p.y, measure(p.text[:end], p.size, p.style).Width-x, measure("x", p.size, p.style).Height)
}

// picture is that of a name, read once.
func (v *View) picture(source string) *canvas.Image {
	if i := v.pictures[source]; i != nil {
		return i
	}
	i := &canvas.Image{}
	if v.ways.Picture != nil {
		if r := v.ways.Picture(source); r != nil {
			i = canvas.NewImageFromResource(r)
		}
	}
	i.FillMode, i.ScaleMode = canvas.ImageFillContain, canvas.ImageScaleSmooth
	v.pictures[source] = i
	return i
}

// CreateRenderer implements [fyne.Widget].
func (v *View) CreateRenderer() fyne.WidgetRenderer {
	return &viewRenderer{widgets.NewRenderer(v, container.NewStack(v.ground, v.under, v.over, v.top)), v}
}

type viewRenderer struct {
	fyne.WidgetRenderer
	view *View
}

// MinSize is that of the sheet.
func (r *viewRenderer) MinSize() fyne.Size { return r.view.MinSize() }

// Refresh follows the theme. The toolkit calls it again and again for each change of that.
func (r *viewRenderer) Refresh() {
	switch v := r.view; {
	case v.em != theme.TextSize():
		v.lay(v.sheet.width)
	case v.drawn != tones():
		v.draw()
	}
}
