package form

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
)

// Entry is a text field. It passes shortcuts on to the window, and can have a proposed text.
type Entry struct {
	widget.Entry
	// Focused is called when the entry is focused, and with the pointer not before its button is released: what it moves then stays under
	// the pointer. Left is called when the entry loses the focus.
	Focused, Left func()
	// Escaped, if set, is called for the Escape key.
	Escaped func()
	// Arrowed, if set, is called for the Up key with -1, and for the Down key with 1.
	Arrowed func(by int)

	// Page, if set, is scrolled by the mouse wheel over the entry.
	Page fyne.Scrollable

	proposed string
	pressed  bool              // a button of the pointer is down on the entry
	self     fyne.CanvasObject // the entry, or the number that embeds it: the object that the window knows
}

// NewEntry returns an empty entry.
func NewEntry() *Entry {
	e := &Entry{}
	e.self = e
	e.AlwaysShowValidationError = true
	e.ExtendBaseWidget(e)
	return e
}

// NewText returns an empty entry of several lines with wrapping.
func NewText() *Entry {
	e := NewEntry()
	e.MultiLine, e.Wrapping = true, fyne.TextWrapWord
	e.SetMinRowsVisible(textRows)
	return e
}

// textRows is the number of visible lines of a longer text.
const textRows = 3

// AcceptsTab implements [fyne.Tabbable]. Tab moves to the next field, also from several lines.
func (e *Entry) AcceptsTab() bool { return false }

// TakesReturn reports whether Return starts a new line, and so does not confirm a dialog.
func (e *Entry) TakesReturn() bool { return e.MultiLine }

// Propose sets a text, unless the user has changed the one proposed before.
func (e *Entry) Propose(text string) {
	if e.Text == e.proposed && e.Text != text {
		e.proposed = text
		e.SetText(text)
	}
	e.proposed = text
}

// Put sets a text as the proposed one.
func (e *Entry) Put(text string) {
	e.proposed = text
	if e.Text != text {
		e.SetText(text)
	}
}

// Proposed reports whether the entry has the proposed text.
func (e *Entry) Proposed() bool { return e.Text == e.proposed }

// CreateRenderer implements [fyne.Widget].
func (e *Entry) CreateRenderer() fyne.WidgetRenderer {
	return &wheeled{e.Entry.CreateRenderer(), newWheel(e)}
}

// FocusGained implements [fyne.Focusable].
func (e *Entry) FocusGained() {
	e.Entry.FocusGained()
	if e.Focused != nil && !e.pressed {
		e.Focused()
	}
}

// MouseDown implements [desktop.Mouseable].
func (e *Entry) MouseDown(m *desktop.MouseEvent) {
	e.pressed = true
	e.Entry.MouseDown(m)
}

// MouseUp implements [desktop.Mouseable].
func (e *Entry) MouseUp(m *desktop.MouseEvent) {
	e.Entry.MouseUp(m)
	was := e.pressed
	e.pressed = false
	if was && e.Focused != nil {
		e.Focused()
	}
}

// FocusLost implements [fyne.Focusable].
func (e *Entry) FocusLost() {
	e.Entry.FocusLost()
	e.pressed = false
	if e.Left != nil {
		e.Left()
	}
}

// TypedKey implements [fyne.Focusable].
func (e *Entry) TypedKey(key *fyne.KeyEvent) {
	switch {
	case key.Name == fyne.KeyEscape && e.Escaped != nil:
		e.Escaped()
	case key.Name == fyne.KeyUp && e.Arrowed != nil:
		e.Arrowed(-1)
	case key.Name == fyne.KeyDown && e.Arrowed != nil:
		e.Arrowed(1)
	default:
		e.Entry.TypedKey(key)
	}
}

// TypedShortcut implements [fyne.Shortcutable]. Fyne sends shortcuts only to the focused widget.
func (e *Entry) TypedShortcut(s fyne.Shortcut) {
	e.Entry.TypedShortcut(s)
	if _, ok := s.(*desktop.CustomShortcut); !ok {
		return
	}
	if c, ok := fyne.CurrentApp().Driver().CanvasForObject(e.self).(fyne.Shortcutable); ok {
		c.TypedShortcut(s)
	}
}

// mark shows that the value is wrong. A validator would also show a check mark for valid values.
func (e *Entry) mark(problem string) {
	if problem == "" && e.Validator == nil {
		return
	}
	e.Validator = nil
	var err error
	if problem != "" {
		err = errors.New(problem)
		e.Validator = func(string) error { return err }
	}
	e.SetValidationError(err)
}

// Number is an entry for a number in a range.
type Number struct {
	Entry
	// Whole numbers have no fraction.
	Whole bool
	// Min and Max limit the number; they may be infinite.
	Min, Max float64
}

// NewNumber returns an entry without limits.
func NewNumber() *Number {
	n := &Number{Min: math.Inf(-1), Max: math.Inf(1)}
	n.self = n
	n.AlwaysShowValidationError = true
	n.ExtendBaseWidget(n)
	return n
}

// NewWhole returns an entry for whole numbers from lowest to highest.
func NewWhole(lowest, highest int) *Number {
	n := NewNumber()
	n.Whole, n.Min, n.Max = true, float64(lowest), float64(highest)
	return n
}

// Value returns the number, or an error that describes the problem. An empty entry has the value of its placeholder.
func (n *Number) Value() (float64, error) {
	text := strings.TrimSpace(n.Text)
	if text == "" {
		text = n.PlaceHolder
	}
	return n.parse(text)
}

func (n *Number) parse(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	what := "a number"
	if n.Whole {
		what = "a whole number"
		if i, whole := strconv.ParseInt(text, 10, 64); whole == nil {
			f = float64(i)
		} else {
			err = whole
		}
	}
	switch {
	case text == "":
		return 0, fmt.Errorf("%s is missing", what)
	case err != nil || math.IsInf(f, 0) || math.IsNaN(f):
		return 0, fmt.Errorf("%q is not %s", text, what)
	case f < n.Min || f > n.Max:
		return 0, fmt.Errorf("%s is out of range: %s", text, n.Range())
	}
	return f, nil
}

// Range describes the allowed numbers; "" if all are allowed.
func (n *Number) Range() string {
	low, high := !math.IsInf(n.Min, 0), !math.IsInf(n.Max, 0)
	switch {
	case low && high:
		return figure(n.Min) + " to " + figure(n.Max)
	case low:
		return "at least " + figure(n.Min)
	case high:
		return "at most " + figure(n.Max)
	}
	return ""
}

func figure(f float64) string {
	if f == math.Trunc(f) && math.Abs(f) < 1e15 {
		return engine.FormatCount(int64(f))
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
