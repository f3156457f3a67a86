package live

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/internal/words"
)

// message is what a banner says. why explains it: the cause, and what to do; "" if the text says all.
type message struct {
	text string
	tone widgets.Tone
	why  string
	// probe names a service that does not answer, and that a button tries now; "" shows none.
	probe string
}

// banner shows one message in a line, in the place of another object, so that nothing below moves. A text that is cut off,
// or that has an explanation, has a button for the whole text.
type banner struct {
	content *fyne.Container
	row     *fyne.Container
	instead fyne.CanvasObject // without a message
	icon    *widget.Icon
	line    *widgets.Line
	why     *widget.Button
	probe   *widget.Button
	shown   message
	explain func(m message)
}

func newBanner(win fyne.Window, instead fyne.CanvasObject) *banner {
	b := &banner{instead: instead, icon: widget.NewIcon(nil), line: widgets.NewLine(theme.SizeNameText, widgets.Neutral)}
	b.explain = func(m message) {
		text := words.Sentence(m.text)
		if m.why != "" {
			text += "\n\n" + m.why
		}
		widgets.Tell(win, "Why?", words.NewParagraph(win, text))
	}
	b.why = widget.NewButton("Why?", func() { b.explain(b.shown) })
	b.why.Importance = widget.LowImportance
	b.probe = widget.NewButton("Probe now", nil)
	b.probe.Hide()
	b.row = container.NewBorder(nil, nil, container.NewCenter(b.icon), container.NewHBox(form.NewCompact(b.probe), form.NewCompact(b.why)), container.New(middle{}, b.line))
	b.content = container.New(reserved{}, instead, b.row)
	b.row.Hide()
	return b
}

// say shows a message; an empty text leaves the room empty.
func (b *banner) say(m message) {
	if m == b.shown {
		return
	}
	b.shown = m
	if b.row.Hidden = m.text == ""; b.row.Hidden {
		b.instead.Show()
	} else {
		b.instead.Hide()
	}
	b.line.Set(strings.ReplaceAll(m.text, "\n", " "), m.tone)
	b.icon.SetResource(bannerIcon(m.tone))
	full := m.text == "" || m.why == "" && b.line.Natural() <= b.line.Size().Width
	if b.why.Hidden != full {
		b.why.Hidden = full
	}
	b.probe.Hidden = m.probe == ""
	b.content.Refresh()
}

// Text returns the message.
func (b *banner) Text() string { return b.shown.text }

func bannerIcon(tone widgets.Tone) fyne.Resource {
	name := theme.IconNameInfo
	switch tone {
	case widgets.Good:
		name = theme.IconNameConfirm
	case widgets.Warning:
		name = theme.IconNameWarning
	case widgets.Bad:
		name = theme.IconNameError
	default:
	}
	return theme.NewColoredResource(theme.Icon(name), tone.Color())
}

// reserved keeps the room of hidden objects.
type reserved struct{}

// MinSize implements [fyne.Layout].
func (reserved) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	for _, o := range objects {
		size = size.Max(o.MinSize())
	}
	return size
}

// Layout implements [fyne.Layout].
func (reserved) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		place(o, 0, 0, size.Width, size.Height)
	}
}

// middle centers an object vertically and gives it the whole width.
type middle struct{}

// MinSize implements [fyne.Layout].
func (middle) MinSize(objects []fyne.CanvasObject) fyne.Size { return objects[0].MinSize() }

// Layout implements [fyne.Layout].
func (middle) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	high := objects[0].MinSize().Height
	place(objects[0], 0, (size.Height-high)/2, size.Width, high)
}

// slots lays out buttons in a row and keeps the places of hidden ones.
type slots struct{}

// width returns the width of a button. While it is hidden, its own measure may lack the icon.
func (slots) width(o fyne.CanvasObject) float32 {
	b, ok := o.(*widget.Button)
	if !ok {
		return o.MinSize().Width
	}
	width := fyne.MeasureText(b.Text, theme.TextSize(), fyne.TextStyle{Bold: true}).Width + 2*theme.InnerPadding()
	if b.Icon != nil {
		width += theme.IconInlineSize() + theme.Padding()
	}
	return width
}

// MinSize implements [fyne.Layout].
func (s slots) MinSize(objects []fyne.CanvasObject) (size fyne.Size) {
	for i, o := range objects {
		size = fyne.NewSize(size.Width+s.width(o), max(size.Height, o.MinSize().Height))
		if i > 0 {
			size.Width += theme.Padding()
		}
	}
	return size
}

// Layout implements [fyne.Layout].
func (s slots) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	x := float32(0)
	for _, o := range objects {
		width := s.width(o)
		place(o, x, 0, width, size.Height)
		x += width + theme.Padding()
	}
}

// notice is the result of the last order. A success is shown for some seconds, a failure until the next order.
type notice struct {
	text string
	tone widgets.Tone
	at   time.Time
}

// noticeLasts is how long a success is shown.
const noticeLasts = 10 * time.Second

// Text returns the result.
func (n *notice) Text() string { return n.text }

// Visible reports whether there is a result to show.
func (n *notice) Visible() bool { return n.text != "" }

// fresh reports whether the result must be shown now.
func (n *notice) fresh(now time.Time) bool {
	return n.text != "" && (n.tone >= widgets.Warning || now.Sub(n.at) < noticeLasts)
}
