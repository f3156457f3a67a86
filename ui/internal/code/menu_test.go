package code

import (
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine/scenario/complete"
)

// completing shows an editor that completes the words before the cursor.
func completing(t *testing.T, text string, words ...string) *Editor {
	t.Helper()
	e := shown(t, text)
	e.Completions = func(asked bool) (r complete.Result) {
		line, col := e.Cursor()
		before := strings.Split(e.Text(), "\n")[line-1]
		before = string([]rune(before)[:col-1])
		word := before[strings.LastIndexAny(before, " .")+1:]
		if len(word) < 2 && !asked && !strings.HasSuffix(before, ".") {
			return r
		}
		r.From, r.To = col-len(word), col
		for _, w := range words {
			if strings.HasPrefix(w, word) {
				item := complete.Item{Label: w, Insert: w, Caret: len(w), Help: "The word " + w + "."}
				if w == "block" {
					item = complete.Item{Label: w, Insert: "block name:\n  a: 1", Caret: 10, Selected: 4}
				}
				r.Items = append(r.Items, item)
			}
		}
		return r
	}
	return e
}

func TestMenuOpensWhileTyping(t *testing.T) {
	e := completing(t, "\nlast\n", "kind", "kindle", "king", "block")
	for typed, want := range map[string][]string{"k": nil, "ki": {"kind", "kindle", "king"}, "kindl": {"kindle"}, "kix": nil, "x.": {"kind", "kindle", "king", "block"}} {
		e.SetText("\nlast\n")
		test.Type(e.area, typed)
		if got := e.Offered(); !slices.Equal(got, want) {
			t.Errorf("%q: offered %v, want %v", typed, got, want)
		}
	}
	e.SetText("\nlast\n")
	test.Type(e.area, "kindl")
	press(e, fyne.KeyBackspace)
	if got := e.Offered(); !slices.Equal(got, []string{"kind", "kindle"}) {
		t.Errorf("after a deleted letter: %v", got)
	}
	press(e, fyne.KeyDown, fyne.KeyReturn)
	if got := e.Text(); got != "kindle\nlast\n" || e.Offered() != nil {
		t.Errorf("text %q, offered %v", got, e.Offered())
	}
	e.area.TypedShortcut(&fyne.ShortcutUndo{})
	if got := e.Text(); got != "kind\nlast\n" {
		t.Errorf("undo leaves %q", got)
	}
}

// TestMenuStealsNoKeys checks that keys reach the text while the menu is closed, and where it would insert what stands there.
func TestMenuStealsNoKeys(t *testing.T) {
	e := completing(t, "", "kind", "kindle")
	test.Type(e.area, "ki")
	press(e, fyne.KeyEscape)
	if e.Offered() != nil || e.area.leaving {
		t.Error("Escape does not only close the menu")
	}
	press(e, fyne.KeyReturn, fyne.KeyTab, fyne.KeyUp)
	if line, _ := e.Cursor(); e.Text() != "ki\n  " || line != 1 {
		t.Errorf("text %q, line %d", e.Text(), line)
	}
	e.SetText("")
	test.Type(e.area, "kind")
	press(e, fyne.KeyReturn)
	if got := e.Text(); got != "kind\n" {
		t.Errorf("Return after a whole word leaves %q", got)
	}
	for name, leave := range map[string]func(){
		"a move": func() { press(e, fyne.KeyLeft) }, "a click": func() { e.area.MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary}) },
		"the focus": e.area.FocusLost, "undo": func() { e.area.TypedShortcut(&fyne.ShortcutUndo{}) }, "another text": func() { e.SetText("") },
	} {
		e.SetText("")
		e.Complete()
		if e.Offered() == nil {
			t.Fatal("it does not open")
		}
		if leave(); e.Offered() != nil {
			t.Errorf("%s does not close it", name)
		}
	}
}

func TestMenuInsertsBlocks(t *testing.T) {
	e := completing(t, "", "block")
	e.Complete()
	press(e, fyne.KeyTab)
	if e.Text() != "block name:\n  a: 1" || e.Selected() != "name" {
		t.Errorf("text %q, selected %q", e.Text(), e.Selected())
	}
	e.area.TypedShortcut(&fyne.ShortcutUndo{})
	if e.Text() != "" {
		t.Errorf("undo leaves %q", e.Text())
	}
}

func TestMenuStaysInTheEditor(t *testing.T) {
	e := completing(t, strings.Repeat("line\n", 40), strings.Fields("aa ab ac ad ae af ag ah ai aj ak al am")...)
	for _, at := range [][2]int{{1, 1}, {8, 5}, {40, 5}, {41, 1}} {
		e.Go(at[0], at[1])
		if at[1] > 1 {
			test.Type(e.area, " ")
		}
		e.Complete()
		m := e.menu
		if !m.Visible() || m.Position().Y < 0 || m.Position().Y+m.Size().Height > e.Size().Height || m.Position().X+m.Size().Width > e.Size().Width {
			t.Errorf("at %v: the menu is at %v, %v; the editor has %v", at, m.Position(), m.Size(), e.Size())
		}
		if top := rowTop(e, at[0]-1); m.Position().Y < top+e.lineHeight() && m.Position().Y+m.Size().Height > top {
			t.Errorf("at %v: it covers the line", at)
		}
	}
	press(e, fyne.KeyUp)
	if m := e.menu; m.selected != 12 || m.first != 13-m.rows {
		t.Errorf("up from the first selects %d, from %d", m.selected, m.first)
	}
	e.menu.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 10)})
	e.menu.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(20, menuInset()+2)}})
	e.menu.Tapped(&fyne.PointEvent{Position: fyne.NewPos(20, menuInset()+2)})
	if line := strings.Split(e.Text(), "\n")[40]; line == "" || e.Offered() != nil {
		t.Errorf("a click inserts %q", line)
	}
}

func TestMenuOffersChoices(t *testing.T) {
	e := completing(t, "abc")
	taken := ""
	e.Offer([]Choice{{Label: "one", Do: func() { taken = "one" }}, {Label: "two", Do: func() { taken = "two" }}})
	press(e, fyne.KeyDown, fyne.KeyReturn)
	if taken != "two" || e.Text() != "abc" {
		t.Errorf("took %q, text %q", taken, e.Text())
	}
	canceled := false
	e.Completions = func(bool) complete.Result {
		return complete.Result{From: 1, To: 1, Items: []complete.Item{{Label: "x", Kind: complete.StepItem}, {Label: "y"}}}
	}
	e.CompleteWith(func(i complete.Item) bool { return i.Kind == complete.StepItem }, func() { canceled = true })
	if got := e.Offered(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("offered %v", got)
	}
	if press(e, fyne.KeyEscape); !canceled {
		t.Error("Escape is not reported")
	}
}

func TestEditIsOneChange(t *testing.T) {
	e := shown(t, "one two\nthree")
	e.Edit(1, 5, 2, 3, "x\ny")
	if e.Text() != "one x\nyree" {
		t.Errorf("text %q", e.Text())
	}
	e.area.TypedShortcut(&fyne.ShortcutUndo{})
	if e.Text() != "one two\nthree" {
		t.Errorf("undo leaves %q", e.Text())
	}
}
