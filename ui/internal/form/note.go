package form

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/internal/widgets"
)

// Note is a small paragraph in a color of the theme, wrapped to its width and without padding.
type Note struct {
	widget.BaseWidget
	// Lines is the maximum number of lines, the last one clipped with an ellipsis; 0 is unlimited.
	Lines int
	// TextSize is a name of the theme; "" is a caption's.
	TextSize fyne.ThemeSizeName

	text    string
	color   fyne.ThemeColorName
	icon    fyne.Resource
	wrapped []string // lines of the text for width
	width   float32
}

// NewNote returns a muted paragraph.
func NewNote(text string) *Note {
	n := &Note{text: text, color: widgets.ColorMuted}
	n.ExtendBaseWidget(n)
	return n
}

// Text returns the text.
func (n *Note) Text() string { return n.text }

// SetText sets a muted text.
func (n *Note) SetText(text string) { n.set(text, widgets.ColorMuted, nil) }

// Say sets a text in the body's color.
func (n *Note) Say(text string) { n.set(text, theme.ColorNameForeground, nil) }

// SetProblem sets an error.
func (n *Note) SetProblem(text string) { n.set(text, theme.ColorNameError, theme.ErrorIcon()) }

// SetWarning sets a warning.
func (n *Note) SetWarning(text string) { n.set(text, theme.ColorNameWarning, theme.WarningIcon()) }

// SetGood sets a success message.
func (n *Note) SetGood(text string) { n.set(text, theme.ColorNameSuccess, theme.ConfirmIcon()) }

// SetColor sets another color, without an icon.
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

// indent returns the width of the icon in each line.
func (n *Note) indent() float32 {
	if n.icon == nil {
		return 0
	}
	return fyne.MeasureText("M", n.textSize(), fyne.TextStyle{}).Height + theme.Padding()
}

// wrap wraps the text to a width.
func (n *Note) wrap() {
	measure := func(s string) float32 { return fyne.MeasureText(s, n.textSize(), fyne.TextStyle{}).Width }
	n.wrapped = wrap(n.text, n.width-n.indent(), measure)
	if n.Lines > 0 && len(n.wrapped) > n.Lines {
		n.wrapped = append(n.wrapped[:n.Lines-1], ellipsis(strings.Join(n.wrapped[n.Lines-1:], " "), n.width-n.indent(), measure))
	}
}

// wrap breaks a text between words, and inside words that are wider than a line.
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

// fits returns how many bytes of a text fit, at least the first character.
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

// Caption is a note on an object that can be tapped. It passes taps on, because the window sends a tap only to the innermost object that
// handles taps of either button.
type Caption struct {
	Note
	tapped func()
}

// NewCaption returns a note that passes taps on.
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

// Layout wraps the text again if the width has changed.
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

// MinSize returns the height of the text at its present width, and a small width.
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

// fill sets the texts to the wrapped lines.
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

// Refresh updates the note for its text and the theme.
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
