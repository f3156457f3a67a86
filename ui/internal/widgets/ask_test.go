package widgets

import (
	"errors"
	"image/color"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/ui/uitest"
)

// TestDialogsAnswerToKeys checks that Escape and Return answer a dialog, wherever the focus is.
func TestDialogsAnswerToKeys(t *testing.T) {
	uitest.Start(t)
	line, lines, off := widget.NewEntry(), widget.NewMultiLineEntry(), widget.NewButton("Other", nil)
	pressed := 0
	inside := widget.NewButton("Inside", func() { pressed++ })
	off.Disable()
	w := test.NewTempWindow(t, widget.NewLabel("below"))
	w.Resize(fyne.NewSize(500, 400))
	for _, c := range []struct {
		name  string
		focus fyne.Focusable
		key   fyne.KeyName
		taken bool
		want  []bool // the answers
	}{
		{"Escape", nil, fyne.KeyEscape, true, []bool{false}},
		{"Escape from a line", line, fyne.KeyEscape, true, []bool{false}},
		{"Escape from a button", inside, fyne.KeyEscape, true, []bool{false}},
		{"Return", nil, fyne.KeyReturn, true, []bool{true}},
		{"the other Return", nil, fyne.KeyEnter, true, []bool{true}},
		{"Return in a line", line, fyne.KeyReturn, true, []bool{true}},
		{"Return in lines", lines, fyne.KeyReturn, false, nil},
		{"Return on a button", inside, fyne.KeyReturn, true, nil},
		{"another key", nil, fyne.KeyF5, false, nil},
	} {
		var answered []bool
		ask := dialog.NewCustomConfirm("Delete?", "Delete", "Keep", container.NewVBox(line, lines, inside, off), func(yes bool) { answered = append(answered, yes) }, w)
		Ask(w, ask, ask.Confirm)
		w.Canvas().Focus(c.focus)
		if taken := Key(w.Canvas(), c.key); taken != c.taken {
			t.Errorf("%s: of use %v, want %v", c.name, taken, c.taken)
		}
		if !slices.Equal(answered, c.want) {
			t.Errorf("%s: answered %v, want %v", c.name, answered, c.want)
		}
		if open := w.Canvas().Overlays().Top() != nil; open != (c.want == nil) {
			t.Errorf("%s: still open %v", c.name, open)
		}
		if c.want == nil {
			ask.Hide()
		}
	}
	if pressed != 1 {
		t.Errorf("the button inside was pressed %d times", pressed)
	}
	if len(asked) != 0 {
		t.Errorf("%d dialogs remain after they ended", len(asked))
	}
	if Key(w.Canvas(), fyne.KeyEscape) || Key(w.Canvas(), fyne.KeyReturn) {
		t.Error("without a dialog the keys have an effect")
	}
}

// TestADisabledButtonIsNotPressed checks that Return confirms a custom button only while it is enabled.
func TestADisabledButtonIsNotPressed(t *testing.T) {
	uitest.Start(t)
	w := test.NewTempWindow(t, widget.NewLabel("below"))
	pressed := 0
	b := widget.NewButton("Delete", func() { pressed++ })
	b.Disable()
	d := dialog.NewCustomWithoutButtons("Delete?", b, w)
	Ask(w, d, Pressing(b))
	Key(w.Canvas(), fyne.KeyReturn)
	b.Enable()
	if Key(w.Canvas(), fyne.KeyReturn); pressed != 1 {
		t.Errorf("pressed %d times, want once", pressed)
	}
	Key(w.Canvas(), fyne.KeyEscape)
}

// TestComplaintsCanBeCopied checks that a long error wraps, and that its text can be selected.
func TestComplaintsCanBeCopied(t *testing.T) {
	uitest.Start(t)
	w := test.NewTempWindow(t, widget.NewLabel("below"))
	w.Resize(fyne.NewSize(500, 400))
	Complain(w, errors.New(strings.Repeat("the disk is full ", 20)))
	top := w.Canvas().Overlays().Top()
	if top == nil || top.MinSize().Width > 500 {
		t.Fatal("nothing is shown, or it is wider than the window")
	}
	selectable := false
	uitest.Walk(top, func(o fyne.CanvasObject) bool {
		l, ok := o.(*widget.Label)
		selectable = selectable || ok && l.Selectable && strings.HasPrefix(l.Text, "the disk")
		return true
	})
	if !selectable {
		t.Error("the text cannot be selected")
	}
	if Key(w.Canvas(), fyne.KeyReturn); w.Canvas().Overlays().Top() != nil {
		t.Error("Return does not close it")
	}
}

// TestRowsAreReachedByKeys moves through the rows of a sheet by keyboard, if the rows can be tapped.
func TestRowsAreReachedByKeys(t *testing.T) {
	uitest.Start(t)
	var tapped []string
	rows := []Row{{Key: "a", Cells: []Cell{{Text: "a"}}}, {Key: "b", Cells: []Cell{{Text: "b"}}}, {Key: "c", Cells: []Cell{{Text: "c"}}}}
	s := NewSheet([]Column{{Title: "Error", Sample: "a"}}, "", func(key string) { tapped = append(tapped, key) })
	s.SetRows(rows)
	still := NewSheet([]Column{{Title: "Fact", Sample: "a"}}, "", nil)
	still.SetRows(rows)
	w := test.NewTempWindow(t, container.NewVBox(s, still))
	w.Resize(fyne.NewSize(200, 300))
	c := w.Canvas()
	c.FocusNext()
	first := c.Focused()
	if c.FocusNext(); c.Focused() != first {
		t.Error("the sheet is more than one stop, or the still one is one too")
	}
	for _, key := range []fyne.KeyName{fyne.KeySpace, fyne.KeyDown, fyne.KeyReturn, fyne.KeyEnd, fyne.KeyDown, fyne.KeySpace, fyne.KeyUp, fyne.KeySpace} {
		c.Focused().TypedKey(&fyne.KeyEvent{Name: key})
	}
	if got, want := strings.Join(tapped, " "), "a b c b"; got != want {
		t.Errorf("tapped are %s, want %s", got, want)
	}
	s.SetRows(rows[:1])
	if s.lines[0].Disabled() {
		t.Error("with fewer rows none can have the focus")
	}
}

// TestDialogsHaveOneInset checks that the title, the content and the last button of a dialog end at the same distance from its edges.
func TestDialogsHaveOneInset(t *testing.T) {
	uitest.Start(t)
	w := test.NewTempWindow(t, widget.NewLabel("below"))
	w.Resize(fyne.NewSize(700, 500))
	content := canvas.NewRectangle(color.Black)
	content.SetMinSize(fyne.NewSize(100, 60))
	ask := dialog.NewCustomConfirm("Delete?", "Delete", "Keep", content, func(bool) {}, w)
	Ask(w, ask, nil)
	for _, size := range []fyne.Size{ask.MinSize(), fyne.NewSize(400, 300)} {
		ask.Resize(size)
		box := popUpOf(w.Canvas().Overlays().Top()).Content.(*fyne.Container)
		title, buttons := box.Objects[frameTitle], box.Objects[frameButtons]
		if x := title.Position().X + theme.InnerPadding(); x != content.Position().X || x != frameInset {
			t.Errorf("%v: the title begins at %v, the content at %v", size, x, content.Position().X)
		}
		right := box.Size().Width - frameInset
		if end := buttons.Position().X + buttons.Size().Width; end != right || content.Position().X+content.Size().Width != right {
			t.Errorf("%v: the buttons end at %v, the content at %v, want %v", size, end, content.Position().X+content.Size().Width, right)
		}
		if content.Size().Height < 60 || content.Position().Y+content.Size().Height > buttons.Position().Y {
			t.Errorf("%v: the content is at %v, %v; the buttons at %v", size, content.Position(), content.Size(), buttons.Position())
		}
	}
}
