package transcript

import (
	"fmt"
	"image/color"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// feed shows lines from top to bottom: a heading for each session, bubbles for what was said, and quiet lines for events.
type feed struct {
	content *fyne.Container
	layout  *feedLayout
	opened  func(l view.Line)
	lines   []view.Line
	named   bool
}

func newFeed() *feed {
	l := &feedLayout{changed: func() {}}
	return &feed{content: container.New(l), layout: l}
}

// set shows lines. Unchanged lines keep their widgets. named adds the agent to the headings.
func (f *feed) set(lines []view.Line, named bool) {
	if slices.Equal(f.lines, lines) && f.named == named {
		return
	}
	f.lines, f.named = lines, named
	var all []fyne.CanvasObject
	var speakers []string
	for i := range lines {
		l := &lines[i]
		if i == 0 || lines[i-1].ID != l.ID || lines[i-1].Cycle != l.Cycle || lines[i-1].Take != l.Take {
			all = append(all, heading(l))
			speakers = speakers[:0]
		}
		if l.Aside() {
			all = append(all, newBubble(f, l, middle))
			continue
		}
		at := slices.Index(speakers, l.Speaker)
		if at < 0 {
			at, speakers = len(speakers), append(speakers, l.Speaker)
		}
		all = append(all, newBubble(f, l, side(at%2)))
	}
	f.content.Objects = all
	f.content.Refresh()
}

// heading names the session of the lines below.
func heading(l *view.Line) fyne.CanvasObject {
	text := fmt.Sprintf("%s · cycle %d", l.ID, l.Cycle)
	if l.Take > 0 {
		text += fmt.Sprintf(" · take %d", l.Take+1)
	}
	return widgets.NewHeading(text)
}

// side is where a bubble stands.
type side uint8

// The first speaker of a session is at the left, the second at the right; events are in the middle and have no bubble.
const (
	left side = iota
	right
	middle
)

// bubble is a line of a transcript. A click opens it.
type bubble struct {
	widget.BaseWidget
	feed    *feed
	line    view.Line
	side    side
	ground  *canvas.Rectangle
	content *fyne.Container
	text    *form.Note
}

var (
	_ fyne.Tappable          = (*bubble)(nil)
	_ fyne.SecondaryTappable = (*bubble)(nil)
	_ desktop.Hoverable      = (*bubble)(nil)
)

func newBubble(f *feed, l *view.Line, at side) *bubble {
	b := &bubble{feed: f, line: *l, side: at, ground: canvas.NewRectangle(color.Transparent), text: form.NewNote("")}
	b.ground.CornerRadius = 2 * theme.InputRadiusSize()
	b.text.TextSize = theme.SizeNameText
	parts := []fyne.CanvasObject{}
	if at == middle {
		b.text.TextSize = theme.SizeNameCaptionText
		text := l.Text
		if l.Kind == view.ToolLine {
			text = l.Sentence()
		}
		if l.More != "" {
			text += ": " + l.More
		}
		b.text.SetText(text)
		parts = append(parts, b.text)
	} else {
		head := form.NewNote(b.caption())
		head.Lines = 1
		b.text.Say(l.Text)
		parts = append(parts, head, b.text)
		if l.More != "" {
			more := form.NewNote(l.More)
			parts = append(parts, more)
		}
	}
	b.content = container.New(&stacked{}, parts...)
	b.ExtendBaseWidget(b)
	b.dress(false)
	return b
}

// caption names the speaker, the recipients, the step and the time.
func (b *bubble) caption() string {
	l := &b.line
	text := l.Speaker
	if l.To != "" {
		text += " to " + l.To
	}
	if l.Step != "" {
		text += " · " + l.Step
	}
	if !l.At.IsZero() {
		text += " · " + l.At.Local().Format(time.TimeOnly)
	}
	return text
}

// Parts returns the parts of the bubble.
func (b *bubble) Parts() []fyne.CanvasObject { return []fyne.CanvasObject{b.content} }

// dress colors the bubble for its side and the pointer.
func (b *bubble) dress(hovered bool) {
	name := theme.ColorNameButton
	switch {
	case hovered:
		name = theme.ColorNameHover
	case b.side == right:
		name = theme.ColorNameSelection
	case b.side == middle:
		b.ground.FillColor = color.Transparent
		canvas.Refresh(b.ground)
		return
	}
	b.ground.FillColor = theme.Color(name)
	canvas.Refresh(b.ground)
}

// Tapped opens the line.
func (b *bubble) Tapped(*fyne.PointEvent) { b.feed.opened(b.line) }

// TappedSecondary offers to copy the texts.
func (b *bubble) TappedSecondary(e *fyne.PointEvent) {
	widgets.OfferCopy(b, e.AbsolutePosition, b.line.Text, b.line.More, b.line.Prompt)
}

// MouseIn implements [desktop.Hoverable].
func (b *bubble) MouseIn(*desktop.MouseEvent) { b.dress(true) }

// MouseMoved implements [desktop.Hoverable].
func (b *bubble) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements [desktop.Hoverable].
func (b *bubble) MouseOut() { b.dress(false) }

// CreateRenderer implements [fyne.Widget].
func (b *bubble) CreateRenderer() fyne.WidgetRenderer {
	return &bubbleRenderer{WidgetRenderer: widgets.NewRenderer(b, container.NewStack(b.ground, b.content)), bubble: b}
}

type bubbleRenderer struct {
	fyne.WidgetRenderer
	bubble *bubble
}

// Refresh follows the theme.
func (r *bubbleRenderer) Refresh() {
	r.bubble.dress(false)
	r.WidgetRenderer.Refresh()
}

// stacked lays out wrapped texts below each other, with a margin.
type stacked struct{}

// margin is the distance of the texts from the edge of a bubble.
func margin() float32 { return theme.InnerPadding() }

// MinSize implements [fyne.Layout]. The height is for the width of the last layout.
func (s *stacked) MinSize(objects []fyne.CanvasObject) fyne.Size {
	high := 2 * margin() * 0.75
	for _, o := range objects {
		high += o.MinSize().Height
	}
	return fyne.NewSize(8*theme.TextSize(), high)
}

// Layout implements [fyne.Layout].
func (s *stacked) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := margin() * 0.75
	for _, o := range objects {
		o.Resize(fyne.NewSize(size.Width-2*margin(), o.MinSize().Height))
		high := o.MinSize().Height
		o.Resize(fyne.NewSize(size.Width-2*margin(), high))
		o.Move(fyne.NewPos(margin(), y))
		y += high
	}
}

// feedLayout lays out headings and bubbles.
type feedLayout struct {
	high    float32
	changed func() // the height
}

const (
	widest = 46   // of a bubble, in text sizes
	share  = 0.82 // of the width that a bubble may have
)

// MinSize implements [fyne.Layout].
func (l *feedLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(12*theme.TextSize(), l.high)
}

// Layout implements [fyne.Layout]. Heights depend on the width, so a change is reported.
func (l *feedLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y, gap := float32(0), theme.Padding()*1.5
	most := min(size.Width*share, widest*theme.TextSize())
	for _, o := range objects {
		b, ok := o.(*bubble)
		if !ok {
			o.Move(fyne.NewPos(0, y+gap))
			o.Resize(fyne.NewSize(size.Width, o.MinSize().Height))
			y += o.MinSize().Height + 2*gap
			continue
		}
		wide := most
		if b.side == middle {
			wide = size.Width
		}
		b.Resize(fyne.NewSize(wide, b.MinSize().Height))
		high := b.MinSize().Height
		b.Resize(fyne.NewSize(wide, high))
		x := float32(0)
		if b.side == right {
			x = max(min(size.Width, most*1.2)-wide, 0)
		}
		b.Move(fyne.NewPos(x, y))
		y += high + gap
	}
	if l.high != y {
		l.high = y
		l.changed()
	}
}
