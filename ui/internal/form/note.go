package form

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Note is a small paragraph in a colour of the theme, wrapped to its width and without padding.
type Note struct {
	widget.BaseWidget
	// Lines is how many are shown at most, the last one cut with an ellipsis; 0 is all.
	Lines int
	// TextSize is a name of the theme; "" is a caption's.
	TextSize fyne.ThemeSizeName

	text    string
	color   fyne.ThemeColorName
	icon    fyne.Resource
	wrapped []string // text in lines that fit width
	width   float32
}

// NewNote makes a quiet paragraph.
func NewNote(text string) *Note {
	n := &Note{text: text, color: widgets.ColorMuted}
	n.ExtendBaseWidget(n)
	return n
}

// Text returns what is said.
func (n *Note) Text() string { return n.text }

// SetText says something quietly.
func (n *Note) SetText(text string) { n.set(text, widgets.ColorMuted, nil) }

// Say says something in the body's colour.
func (n *Note) Say(text string) { n.set(text, theme.ColorNameForeground, nil) }

// SetProblem says what is wrong.
func (n *Note) SetProblem(text string) { n.set(text, theme.ColorNameError, theme.ErrorIcon()) }

// SetWarning says what deserves attention.
func (n *Note) SetWarning(text string) { n.set(text, theme.ColorNameWarning, theme.WarningIcon()) }

// SetGood says what went well.
func (n *Note) SetGood(text string) { n.set(text, theme.ColorNameSuccess, theme.ConfirmIcon()) }

// SetColor says it in another colour, without an icon.
func (n *Note) SetColor(color fyne.ThemeColorName) { n.set(n.text, color, nil) }

func (n *Note) set(text string, color fyne.ThemeColorName, icon fyne.Resource) {
	if n.text == text && n.color == color && (n.icon == nil) == (icon == nil) {
		return
	}
	n.text, n.color, n.icon = text, color, nil
	if icon != nil {
		n.icon = theme.NewColoredResource(icon, color)
	}
	n.Refresh()
}

func (n *Note) textSize() float32 {
	if n.TextSize != "" {
		return theme.Size(n.TextSize)
	}
	return theme.CaptionTextSize()
}

// indent is what the icon takes of each line.
func (n *Note) indent() float32 {
	if n.icon == nil {
		return 0
	}
	return fyne.MeasureText("M", n.textSize(), fyne.TextStyle{}).Height + theme.Padding()
}

// wrap splits the text into lines for a width.
func (n *Note) wrap() {
	measure := func(s string) float32 { return fyne.MeasureText(s, n.textSize(), fyne.TextStyle{}).Width }
	n.wrapped = wrap(n.text, n.width-n.indent(), measure)
	if n.Lines > 0 && len(n.wrapped) > n.Lines {
		n.wrapped = append(n.wrapped[:n.Lines-1], ellipsis(strings.Join(n.wrapped[n.Lines-1:], " "), n.width-n.indent(), measure))
	}
}

// wrap breaks a text between words, and inside those that are wider than a line.
func wrap(text string, width float32, measure func(string) float32) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for word := range strings.FieldsSeq(paragraph) {
			with := strings.TrimPrefix(line+" "+word, " ")
			if measure(with) <= width {
				line = with
				continue
			}
			if line != "" {
				lines = append(lines, line)
			}
			for line = word; measure(line) > width; {
				n := fits(line, width, measure)
				if n == len(line) {
					break
				}
				lines, line = append(lines, line[:n]), line[n:]
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// fits returns how many bytes of a text fit, at least the first letter.
func fits(text string, width float32, measure func(string) float32) int {
	n := len(text)
	for i := range text {
		if i > 0 && measure(text[:i]) > width {
			return n
		}
		if i > 0 {
			n = i
		}
	}
	return n
}

func ellipsis(text string, width float32, measure func(string) float32) string {
	if measure(text) <= width {
		return text
	}
	n := fits(text, width-measure("…"), measure)
	return strings.TrimRight(text[:n], " ,;") + "…"
}

// TappedSecondary offers to copy the text.
func (n *Note) TappedSecondary(e *fyne.PointEvent) { widgets.OfferCopy(n, e.AbsolutePosition, n.text) }

// Caption is a note on something that can be pressed. A window asks the innermost object that hears either button of the
// mouse: what a note lies on would not hear a click on its words.
type Caption struct {
	Note
	tapped func()
}

// NewCaption makes a note that hands a click on.
func NewCaption(text string, tapped func()) *Caption {
	c := &Caption{Note: Note{text: text, color: widgets.ColorMuted}, tapped: tapped}
	c.ExtendBaseWidget(c)
	return c
}

// Tapped implements [fyne.Tappable].
func (c *Caption) Tapped(*fyne.PointEvent) { c.tapped() }

// CreateRenderer implements [fyne.Widget].
func (n *Note) CreateRenderer() fyne.WidgetRenderer {
	r := &noteRenderer{note: n, icon: widget.NewIcon(nil)}
	r.Refresh()
	return r
}

type noteRenderer struct {
	note  *Note
	icon  *widget.Icon
	lines []*canvas.Text
}

func (r *noteRenderer) lineHeight() float32 {
	return fyne.MeasureText("M", r.note.textSize(), fyne.TextStyle{}).Height
}

// Layout wraps the text anew where the width is another one.
func (r *noteRenderer) Layout(size fyne.Size) {
	if r.note.width != size.Width {
		r.note.width = size.Width
		r.note.wrap()
		r.fill()
	}
	height, indent := r.lineHeight(), r.note.indent()
	r.icon.Resize(fyne.NewSquareSize(height))
	for i, line := range r.lines {
		line.Move(fyne.NewPos(indent, float32(i)*height))
		line.Resize(fyne.NewSize(size.Width-indent, height))
	}
}

// MinSize is as high as the text at its present width, and narrow.
func (r *noteRenderer) MinSize() fyne.Size {
	return fyne.NewSize(4*r.note.textSize(), r.lineHeight()*float32(max(len(r.lines), 1)))
}

func (r *noteRenderer) Objects() []fyne.CanvasObject {
	objects := make([]fyne.CanvasObject, 0, 1+len(r.lines))
	if r.note.icon != nil {
		objects = append(objects, r.icon)
	}
	for _, line := range r.lines {
		objects = append(objects, line)
	}
	return objects
}

// fill makes the texts what the note has wrapped.
func (r *noteRenderer) fill() {
	for len(r.lines) < len(r.note.wrapped) {
		r.lines = append(r.lines, canvas.NewText("", nil))
	}
	r.lines = r.lines[:len(r.note.wrapped)]
	for i, line := range r.lines {
		line.Text, line.Color, line.TextSize = r.note.wrapped[i], widgets.Color(r.note.color), r.note.textSize()
		line.Refresh()
	}
}

// Refresh follows the text and the theme.
func (r *noteRenderer) Refresh() {
	if r.note.width > 0 {
		r.note.wrap()
	} else {
		r.note.wrapped = []string{r.note.text}
	}
	r.icon.SetResource(r.note.icon)
	r.fill()
	r.Layout(r.note.Size())
	canvas.Refresh(r.note)
}

func (r *noteRenderer) Destroy() {}
