package settings

import (
	"image/color"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// entry is a line of the index: a section, or a caption above sections.
type entry struct {
	title   string
	caption bool
	found   int // settings that match the search; 0 without a search
}

// index is the list of sections. The arrow keys move through it.
type index struct {
	widget.BaseWidget
	chosen  func(title string)
	entries []entry
	marked  string
	focused bool
	lines   *fyne.Container
}

var (
	_ fyne.Focusable    = (*index)(nil)
	_ fyne.Tappable     = (*line)(nil)
	_ desktop.Hoverable = (*line)(nil)
)

func newIndex(chosen func(title string)) *index {
	x := &index{chosen: chosen, lines: container.New(layout.NewCustomPaddedVBoxLayout(0))}
	x.ExtendBaseWidget(x)
	return x
}

// set shows other entries, if they differ.
func (x *index) set(entries []entry) {
	same := len(entries) == len(x.entries)
	for i := range entries {
		same = same && entries[i] == x.entries[i]
	}
	if same {
		return
	}
	x.entries, x.lines.Objects = entries, nil
	for i := range entries {
		x.lines.Add(newLine(x, entries[i]))
	}
	x.Refresh()
}

// mark marks the open section.
func (x *index) mark(title string) {
	if x.marked != title {
		x.marked = title
		x.paint()
	}
}

// line returns the line of a section; nil if it is not listed.
func (x *index) line(title string) fyne.CanvasObject {
	for _, o := range x.lines.Objects {
		if l := o.(*line); l.entry.title == title && !l.entry.caption {
			return l
		}
	}
	return nil
}

// choose opens a section.
func (x *index) choose(title string) {
	x.mark(title)
	x.chosen(title)
}

// move opens the section before or after the open one.
func (x *index) move(by int) {
	var titles []string
	at := -1
	for _, e := range x.entries {
		if e.caption {
			continue
		}
		if e.title == x.marked {
			at = len(titles)
		}
		titles = append(titles, e.title)
	}
	if at = max(min(at+by, len(titles)-1), 0); at < len(titles) && titles[at] != x.marked {
		x.choose(titles[at])
	}
}

func (x *index) paint() {
	for _, o := range x.lines.Objects {
		o.Refresh()
	}
}

// FocusGained implements [fyne.Focusable], as do FocusLost, TypedRune and TypedKey.
func (x *index) FocusGained() {
	x.focused = true
	x.paint()
}

// FocusLost undoes FocusGained.
func (x *index) FocusLost() {
	x.focused = false
	x.paint()
}

// TypedRune ignores characters.
func (x *index) TypedRune(rune) {}

// TypedKey moves through the sections.
func (x *index) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyUp:
		x.move(-1)
	case fyne.KeyDown:
		x.move(1)
	case fyne.KeyHome:
		x.move(-len(x.entries))
	case fyne.KeyEnd:
		x.move(len(x.entries))
	default:
	}
}

// Parts returns the parts of the index.
func (x *index) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{x.lines} }

// CreateRenderer implements [fyne.Widget].
func (x *index) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(x.lines) }

// line is a line of the index.
type line struct {
	widget.BaseWidget
	of      *index
	entry   entry
	hovered bool
}

func newLine(of *index, e entry) *line {
	l := &line{of: of, entry: e}
	l.ExtendBaseWidget(l)
	return l
}

// Text returns the title.
func (l *line) Text() string { return l.entry.title }

// Tapped implements [fyne.Tappable].
func (l *line) Tapped(*fyne.PointEvent) { l.tap() }

// tap opens the section.
func (l *line) tap() {
	if l.entry.caption {
		return
	}
	if c := fyne.CurrentApp().Driver().CanvasForObject(l); c != nil {
		c.Focus(l.of)
	}
	l.of.choose(l.entry.title)
}

// MouseIn implements [desktop.Hoverable], as are MouseMoved and MouseOut.
func (l *line) MouseIn(*desktop.MouseEvent) {
	l.hovered = true
	l.Refresh()
}

// MouseMoved does nothing.
func (l *line) MouseMoved(*desktop.MouseEvent) {}

// MouseOut undoes MouseIn.
func (l *line) MouseOut() {
	l.hovered = false
	l.Refresh()
}

// CreateRenderer implements [fyne.Widget].
func (l *line) CreateRenderer() fyne.WidgetRenderer {
	r := &lineRenderer{line: l, back: canvas.NewRectangle(color.Transparent), title: widgets.NewLine(theme.SizeNameText, widgets.Neutral), found: widgets.NewCaption("")}
	if l.entry.caption {
		r.title = widgets.NewLine(theme.SizeNameCaptionText, widgets.Quiet)
	}
	r.title.Set(l.entry.title, r.tone())
	r.title.OnTapped = l.tap
	if l.entry.found > 0 {
		r.found.SetText(strconv.Itoa(l.entry.found))
	}
	pad := theme.Padding()
	row := container.NewBorder(nil, nil, nil, container.NewCenter(r.found), r.title)
	r.WidgetRenderer = widgets.NewRenderer(l, container.NewStack(r.back, container.New(layout.NewCustomPaddedLayout(pad, pad, 2*pad, 2*pad), row)))
	r.paint()
	return r
}

type lineRenderer struct {
	fyne.WidgetRenderer
	line  *line
	back  *canvas.Rectangle
	title *widgets.Line
	found *widgets.Text
}

func (r *lineRenderer) tone() widgets.Tone {
	if r.line.entry.caption {
		return widgets.Quiet
	}
	return widgets.Neutral
}

func (r *lineRenderer) paint() {
	l := r.line
	r.back.FillColor, r.back.StrokeColor, r.back.StrokeWidth, r.back.CornerRadius = color.Transparent, color.Transparent, 0, theme.InputRadiusSize()
	switch {
	case l.entry.caption:
	case l.of.marked == l.entry.title:
		r.back.FillColor = theme.Color(theme.ColorNameSelection)
		if l.of.focused {
			r.back.StrokeColor, r.back.StrokeWidth = widgets.Color(widgets.ColorRing), widgets.RingWidth
		}
	case l.hovered:
		r.back.FillColor = theme.Color(theme.ColorNameHover)
	}
}

// Refresh updates the line for its state and the theme.
func (r *lineRenderer) Refresh() {
	r.paint()
	r.WidgetRenderer.Refresh()
}
