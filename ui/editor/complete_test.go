package editor

import (
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/ui/internal/widgets"
	"github.com/throng-sim/throng/ui/uitest"
)

func (st *stage) press(keys ...fyne.KeyName) {
	for _, k := range keys {
		st.shown.editor.Target().TypedKey(&fyne.KeyEvent{Name: k})
	}
}

func (st *stage) shortcut(key fyne.KeyName, modifier fyne.KeyModifier) {
	st.shown.editor.Target().(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: modifier})
}

const journey = "services:\n  shop: {kind: http, url: mock:shop}\nchain a:\n  step look:\n    kind: http\n    service: shop\n\nfunctions: mine.star\n"

// TestTypingACompleteStep writes a step with completion: key, kind, and a function of the other file.
func TestTypingACompleteStep(t *testing.T) {
	st := newStage(t, newFake(false, journey, "def shops(agent):\n    return True\n"))
	st.shown.editor.Go(6, 18)
	for _, text := range []string{"\n", "wh"} {
		if text == "\n" {
			st.press(fyne.KeyReturn)
			continue
		}
		test.Type(st.shown.editor.Target(), text)
	}
	if got := st.shown.editor.Offered(); !slices.Equal(got, []string{"when"}) {
		t.Fatalf("offered %v", got)
	}
	st.press(fyne.KeyTab)
	test.Type(st.shown.editor.Target(), "shop")
	st.press(fyne.KeyReturn)
	test.Type(st.shown.editor.Target(), "ag")
	st.press(fyne.KeyReturn)
	if got := strings.Split(st.shown.editor.Text(), "\n")[6]; got != "    when: shops(agent)" {
		t.Errorf("the line is %q", got)
	}
}

// TestValuesAreOfferedAfterAKey checks that the kinds are offered right after the key was completed.
func TestValuesAreOfferedAfterAKey(t *testing.T) {
	st := newStage(t, newFake(false, "chain a:\n  step look:\n    \n"))
	st.shown.editor.Go(3, 5)
	st.shortcut(completeKey, completeModifier)
	st.press(fyne.KeyReturn)
	if got := st.shown.editor.Offered(); len(got) != 16 || got[0] != "http" {
		t.Errorf("offered %v", got)
	}
	if st.press(fyne.KeyReturn); !strings.Contains(st.shown.editor.Text(), "    kind: http\n") {
		t.Errorf("the text is %q", st.shown.editor.Text())
	}
}

func TestInsertStep(t *testing.T) {
	st := newStage(t, newFake(false, journey))
	st.shown.editor.Go(1, 1)
	insert := func() { st.shortcut(fyne.KeySpace, fyne.KeyModifierShortcutDefault|fyne.KeyModifierShift) }
	insert()
	if got := st.shown.editor.Offered(); len(got) != 16 || got[0] != "step http" {
		t.Fatalf("offered %v", got)
	}
	st.press(fyne.KeyEscape)
	if st.Edited() || st.shown.editor.Text() != journey {
		t.Errorf("after Escape the text is %q", st.shown.editor.Text())
	}
	insert()
	st.press(fyne.KeyReturn)
	want := strings.Replace(journey, "    service: shop\n", "    service: shop\n  step request:\n    kind: http\n    service: shop\n    get: /\n", 1)
	if st.shown.editor.Text() != want || st.shown.editor.Selected() != "request" {
		t.Errorf("the text is %q, selected is %q", st.shown.editor.Text(), st.shown.editor.Selected())
	}
}

// TestFixesAreApplied applies a fix with its button and with its key, each as one change that can be undone.
func TestFixesAreApplied(t *testing.T) {
	st := newStage(t, newFake(false, "a: WRONG\nb: WRONG\n"))
	st.q.Tap(st.Content(), "Problems (2)")
	st.q.Tap(st.Content(), "Replace with RIGHT")
	if got := st.shown.editor.Text(); got != "a: RIGHT\nb: WRONG\n" {
		t.Fatalf("the text is %q", got)
	}
	st.q.Until("checked", func() bool { return st.shows("Problems (1)") })
	st.shown.editor.Target().(fyne.Shortcutable).TypedShortcut(&fyne.ShortcutUndo{})
	if got := st.shown.editor.Text(); got != "a: WRONG\nb: WRONG\n" {
		t.Errorf("undo leaves %q", got)
	}
	st.q.Until("checked again", func() bool { return st.shows("Problems (2)") })
	st.shown.editor.Go(2, 1)
	if st.press(fyne.KeyF7); st.shown.editor.Text() != "a: WRONG\nb: RIGHT\n" {
		t.Errorf("F7 leaves %q", st.shown.editor.Text())
	}
	st.shown.editor.Go(3, 1)
	if st.press(fyne.KeyF7); !st.shows("No fix for this line.") {
		t.Errorf("shown: %q", uitest.Texts(st.Content()))
	}
}

// TestFixesOfAChangedLine checks that a fix that no longer applies changes nothing.
func TestFixesOfAChangedLine(t *testing.T) {
	st := newStage(t, newFake(false, "a: WRONG\n"))
	p := st.found.Problems[0]
	st.pause = time.Hour
	st.shown.editor.Go(1, 4)
	test.Type(st.shown.editor.Target(), "xx")
	if st.fix(p, st.fixes[p][0]); st.shown.editor.Text() != "a: xxWRONG\n" || !st.shows("has changed since the check") {
		t.Errorf("the text is %q", st.shown.editor.Text())
	}
}

func TestNewScenario(t *testing.T) {
	st := newStage(t, newFake(false, "a: 1\n"))
	shown := 0
	st.New(func() { shown++ })
	st.q.Until("asked", func() bool { return st.win.Canvas().Overlays().Top() != nil })
	if top := st.win.Canvas().Overlays().Top(); !uitest.Shows(top, "One") || !uitest.Shows(top, "The second.") {
		t.Errorf("shown: %q", uitest.Texts(top))
	}
	st.asks(t, "Two")
	st.q.Until("opened", func() bool { return st.doc.New && st.timer == nil })
	if shown != 1 || st.doc.Name != "templates/two.yaml" || !st.shows("New scenario") || !st.shows("from the template two · not saved") || st.bar.save.Disabled() {
		t.Errorf("shown: %q", uitest.Texts(st.Content()))
	}
	if st.Leave(func() {}) {
		t.Error("an untouched template asks before it is closed")
	}
	st.saveTo("/tmp/folder/new.yaml", false, nil)
	st.q.Until("saved", func() bool { return len(st.saves) == 1 })
	if st.doc.New || st.doc.Name != "/tmp/folder/new.yaml" {
		t.Errorf("open is %+v", st.doc)
	}
}

// TestNewScenarioFromTheBackend checks that the list of templates begins with the user's own backend where that is possible.
func TestNewScenarioFromTheBackend(t *testing.T) {
	st := newStage(t, newFake(false, "a: 1\n"))
	const way = "From your backend…"
	asked := func() bool { return st.win.Canvas().Overlays().Top() != nil }
	st.New(func() {})
	st.q.Until("asked", asked)
	if uitest.Button(st.win.Canvas().Overlays().Top(), way) != nil {
		t.Error("it is offered where it is not possible")
	}
	st.asks(t, "Cancel")
	imports := 0
	st.ways.Import = func() { imports++ }
	st.New(func() {})
	st.q.Until("asked", asked)
	st.asks(t, way)
	if imports != 1 || asked() {
		t.Errorf("imported %d times, asked %v", imports, asked())
	}
	st.New(func() {})
	st.q.Until("asked", asked)
	if !widgets.Key(st.win.Canvas(), fyne.KeyReturn) || imports != 2 || asked() {
		t.Errorf("Return imported %d times, asked %v", imports, asked())
	}
	st.typed(1, 1, "x")
	st.New(func() {})
	st.q.Until("asked", asked)
	st.asks(t, way)
	if !uitest.Shows(st.win.Canvas().Overlays().Top(), "Save before you create a scenario?") || imports != 2 {
		t.Error("edits are lost")
	}
}

func TestKeysOfCompletion(t *testing.T) {
	if key, modifier := keysOfComplete("darwin"); key != fyne.KeyEscape || modifier != fyne.KeyModifierAlt {
		t.Errorf("a Mac completes with %s %d", key, modifier)
	}
	if key, modifier := keysOfComplete("linux"); key != fyne.KeySpace || modifier != fyne.KeyModifierControl {
		t.Errorf("others complete with %s %d", key, modifier)
	}
}
