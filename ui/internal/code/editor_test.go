package code

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/uitest"
)

// shown puts a focused editor with a text into a window.
func shown(t *testing.T, text string) *Editor {
	t.Helper()
	uitest.Start(t)
	e := New()
	w := test.NewTempWindow(t, e)
	w.Resize(fyne.NewSize(700, 300))
	e.SetText(text)
	e.Focus(w.Canvas())
	return e
}

func press(e *Editor, keys ...fyne.KeyName) {
	for _, k := range keys {
		e.area.TypedKey(&fyne.KeyEvent{Name: k})
	}
}

// holding runs f while Shift is pressed.
func holding(e *Editor, f func()) {
	shift := &fyne.KeyEvent{Name: desktop.KeyShiftLeft}
	e.area.KeyDown(shift)
	f()
	e.area.KeyUp(shift)
}

func TestTyping(t *testing.T) {
	e := shown(t, "chain a:\n  step one: {kind: stop}\n")
	changes := 0
	e.OnChanged = func() { changes++ }
	e.Go(1, 9)
	press(e, fyne.KeyReturn)
	test.Type(e.area, "timeout: 2")
	press(e, fyne.KeyReturn, fyne.KeyBackspace)
	test.Type(e.area, "#")
	if got, want := e.Text(), "chain a:\n  timeout: 2\n#\n  step one: {kind: stop}\n"; got != want {
		t.Errorf("typed %q, want %q", got, want)
	}
	if line, col := e.Cursor(); line != 3 || col != 2 || changes == 0 {
		t.Errorf("the cursor is at %d:%d after %d changes", line, col, changes)
	}
	for range 5 {
		e.area.TypedShortcut(&fyne.ShortcutUndo{})
	}
	if got, want := e.Text(), "chain a:\n  step one: {kind: stop}\n"; got != want {
		t.Errorf("taken back to %q", got)
	}
	e.area.TypedShortcut(&fyne.ShortcutRedo{})
	if got := e.Text(); got == "chain a:\n  step one: {kind: stop}\n" {
		t.Error("nothing was created again")
	}
}

func TestSelecting(t *testing.T) {
	e := shown(t, "one two\nthree\nfour")
	clipboard := test.NewClipboard()
	holding(e, func() { press(e, fyne.KeyDown, fyne.KeyEnd) })
	if got := e.Selected(); got != "one two\nthree" {
		t.Errorf("selected %q", got)
	}
	press(e, fyne.KeyTab)
	if got := e.Text(); got != "  one two\n  three\nfour" {
		t.Errorf("indented: %q", got)
	}
	holding(e, func() { press(e, fyne.KeyTab) })
	if got := e.Text(); got != "one two\nthree\nfour" {
		t.Errorf("taken back: %q", got)
	}
	e.Go(1, 1)
	holding(e, func() { press(e, fyne.KeyRight, fyne.KeyRight, fyne.KeyRight) })
	e.area.TypedShortcut(&fyne.ShortcutCut{Clipboard: clipboard})
	e.Go(3, 5)
	clipboard.SetContent(clipboard.Content() + "\r\nx")
	e.area.TypedShortcut(&fyne.ShortcutPaste{Clipboard: clipboard})
	if got := e.Text(); got != " two\nthree\nfourone\nx" {
		t.Errorf("moved: %q", got)
	}
	e.area.DoubleTapped(&fyne.PointEvent{Position: fyne.NewPos(e.left(1, 2), e.top(1)+2)})
	if got := e.Selected(); got != "three" {
		t.Errorf("a double tap selects %q", got)
	}
	e.area.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary, PointEvent: fyne.PointEvent{Position: fyne.NewPos(e.left(0, 2), e.top(0)+2)}})
	e.area.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(e.left(1, 1), e.top(1)+2)}})
	if got := e.Selected(); got != "wo\nt" {
		t.Errorf("dragged over %q", got)
	}
}

// TestShortcuts checks that the owner handles shortcuts first, and that the others move by words and to the ends of the
// text.
func TestShortcuts(t *testing.T) {
	e := shown(t, "one two\nthree")
	mod := fyne.KeyModifierShortcutDefault
	typed := func(key fyne.KeyName) {
		e.area.TypedShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: mod})
	}
	var got []string
	e.OnShortcut = func(s fyne.Shortcut) bool {
		own := s.(*desktop.CustomShortcut).KeyName == fyne.KeyS
		if own {
			got = append(got, "owner")
		}
		return own
	}
	typed(fyne.KeyRight)
	typed(fyne.KeyS)
	if _, col := e.Cursor(); col != 4 || !slices.Equal(got, []string{"owner"}) {
		t.Errorf("column %d, %v", col, got)
	}
	typed(fyne.KeyBackspace)
	typed(fyne.KeyEnd)
	if line, col := e.Cursor(); e.Text() != " two\nthree" || line != 2 || col != 6 {
		t.Errorf("%q, the cursor at %d:%d", e.Text(), line, col)
	}
}

// TestEscapeLeavesTheText checks that Tab indents, and that after Escape it moves the focus on.
func TestEscapeLeavesTheText(t *testing.T) {
	e := shown(t, "a")
	if !e.area.AcceptsTab() {
		t.Error("the tab key leaves the text")
	}
	press(e, fyne.KeyEscape)
	if e.area.AcceptsTab() {
		t.Error("the tab key stays in the text after Escape")
	}
	test.Type(e.area, "b")
	if !e.area.AcceptsTab() {
		t.Error("the tab key leaves the text after a letter")
	}
}

// TestMarksStandBesideTheirLines checks that the text of a mark is level with its line, and that its icon is at the
// line number.
func TestMarksStandBesideTheirLines(t *testing.T) {
	e := shown(t, strings.Repeat("a: 1\n", 200))
	e.SetMarks([]Mark{{Line: 150, Col: 1, Text: "it is wrong"}, {Line: 3, Text: "look here", Warning: true}})
	e.Go(150, 1)
	words := textOf(t, e, "it is wrong")
	number := textOf(t, e, "150")
	driver := fyne.CurrentApp().Driver()
	at, ends := driver.AbsolutePositionForObject(words), driver.AbsolutePositionForObject(number)
	if d := at.Y + words.Size().Height/2 - ends.Y - number.Size().Height/2; d > 3 || d < -3 || at.X <= ends.X {
		t.Errorf("the words are at %v, the number of the line at %v", at, ends)
	}
	for _, text := range uitest.Texts(e) {
		if text == "3" || text == "199" {
			t.Errorf("line %s is drawn, which is not in view", text)
		}
	}
	if e.Go(1, 1); !slices.Contains(uitest.Texts(e), "3") {
		t.Error("line 3 is not in view")
	}
}

// TestLooks compares the drawing of an editor with a golden file: line numbers, colors, the selection, matches and
// marks.
func TestLooks(t *testing.T) {
	uitest.Start(t)
	e := New()
	w := test.NewTempWindow(t, e)
	w.Resize(fyne.NewSize(420, 120))
	e.SetText("a: 1 # one\nb:\n  c: [two]\n")
	e.Focus(w.Canvas())
	e.Go(2, 1)
	holding(e, func() { press(e, fyne.KeyDown) })
	e.SetMarks([]Mark{{Line: 3, Col: 3, Text: "wrong"}})
	e.SetMatches(e.Find("two"), 0)
	test.AssertRendersToMarkup(t, "editor.xml", w.Canvas())
}

// TestTheCursorStaysInView checks that the line of the cursor stays in view when the editor becomes smaller.
func TestTheCursorStaysInView(t *testing.T) {
	e := shown(t, strings.Repeat("a: 1\n", 200))
	e.Go(100, 1)
	if y, view := e.top(99)-e.scroll.Offset.Y, e.scroll.Size().Height; y < view/4 || y > view/2 {
		t.Errorf("the lines around the target are not in view: it is at %v of %v", y, view)
	}
	e.Resize(fyne.NewSize(700, 100))
	if y := e.top(99) - e.scroll.Offset.Y; y < 0 || y+e.lineHeight() > e.scroll.Size().Height {
		t.Errorf("the line with the cursor is at %v of %v", y, e.scroll.Size().Height)
	}
}

func textOf(t *testing.T, e *Editor, text string) (found *canvas.Text) {
	t.Helper()
	uitest.Walk(e, func(o fyne.CanvasObject) bool {
		if c, ok := o.(*canvas.Text); ok && c.Text == text {
			found = c
		}
		return found == nil
	})
	if found == nil {
		t.Fatalf("%q is not among %q", text, uitest.Texts(e))
	}
	return found
}

func TestFind(t *testing.T) {
	e := shown(t, "Step step\nÄ step\n")
	want := []Match{{1, 1, 4}, {1, 6, 4}, {2, 3, 4}}
	if got := e.Find("STEP"); !slices.Equal(got, want) {
		t.Errorf("found %v", got)
	}
	if got := e.Find(""); got != nil {
		t.Errorf("found nothing at %v", got)
	}
}

func TestAViewStaysAsItIs(t *testing.T) {
	uitest.Start(t)
	e := NewView()
	test.NewTempWindow(t, e)
	e.SetText("shown")
	test.Type(e.area, "x")
	press(e, fyne.KeyReturn, fyne.KeyDelete, fyne.KeyTab)
	if e.Text() != "shown" {
		t.Errorf("it became %q", e.Text())
	}
}

func TestColors(t *testing.T) {
	for _, c := range []struct{ line, key, comment string }{
		{"  step one: {kind: stop} # why", "  step one", "# why"},
		{"id: shopper-${x} # '", "id", "# '"},
		{"a: '# not'", "a", ""},
		{"url: http://x#y", "url", ""},
		{`"quoted: key": 1`, "", ""},
		{"- item", "", ""},
	} {
		var key, comment string
		all := ""
		for i, s := range yaml(c.line) {
			part := string([]rune(c.line)[s.from:s.to])
			all += part
			switch {
			case s.color == "throng.muted":
				comment = part
			case i == 0 && s.color == "primary":
				key = part
			}
		}
		if key != c.key || comment != c.comment || all != c.line {
			t.Errorf("%q: key %q, comment %q, in all %q", c.line, key, comment, all)
		}
	}
}

// TestManyLines checks that a keystroke has the same cost in a long file, because only the lines in view are drawn.
func TestManyLines(t *testing.T) {
	e := shown(t, strings.Repeat("  step browse: {kind: http, service: shop}\n", 10_000))
	e.Go(5000, 3)
	test.Type(e.area, "x")
	if n := len(test.WidgetRenderer(e.area).Objects()); n > 200 {
		t.Errorf("%d objects are drawn", n)
	}
}
