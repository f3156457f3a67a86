package editor

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestTypeSeeAndSave(t *testing.T) {
	st := newStage(t, newFake(false, "a: 1\r\nb: 2\r\n", "def f():\n"))
	if !st.shows("No problems") || st.Edited() {
		t.Fatalf("shown: %q", uitest.Texts(st.Content()))
	}
	st.typed(2, 4, "WRONG ")
	st.q.Until("the answer is there", func() bool { return st.shows("a draft is kept") })
	if !st.shows("there is no WRONG: did you mean RIGHT?") || !st.shows("Problems (1)") || !st.shows("mine.yaml (edited)") || !st.shows("not saved; a draft is kept") {
		t.Errorf("shown: %q", uitest.Texts(st.Content()))
	}
	if got := string(st.desk.drafts["mine.yaml"]); got != "a: 1\r\nb: WRONG 2\r\n" {
		t.Errorf("the draft is %q", got)
	}
	st.q.Tap(st.Content(), "Save")
	st.q.Until("saved", func() bool { return len(st.saves) == 1 && !st.Edited() && st.timer == nil })
	if got := st.desk.saved["mine.yaml"]; got != "a: 1\r\nb: WRONG 2\r\n" || len(st.desk.saved) != 1 {
		t.Errorf("saved %q", st.desk.saved)
	}
	st.q.Until("the draft is forgotten", func() bool { st.desk.mu.Lock(); defer st.desk.mu.Unlock(); return len(st.desk.drafts) == 0 })
}

func TestNextMistakeGoesOverAllFiles(t *testing.T) {
	st := newStage(t, newFake(false, "WRONG\nok\nWRONG\n", "# WRONG\n"))
	at := func() [2]int {
		line, col := st.shown.editor.Cursor()
		return [2]int{line, col}
	}
	for i, want := range []struct {
		file string
		at   [2]int
	}{{"mine.yaml", [2]int{3, 1}}, {"mine.star", [2]int{1, 3}}, {"mine.yaml", [2]int{1, 1}}} {
		st.shown.editor.Target().TypedKey(&fyne.KeyEvent{Name: fyne.KeyF8})
		if st.shown.Name != want.file || at() != want.at {
			t.Errorf("step %d: %s at %v, want %s at %v", i+1, st.shown.Name, at(), want.file, want.at)
		}
	}
	st.q.Tap(st.Content(), "Problems (3)")
	var rows []*item
	for _, o := range st.list.items.Objects {
		if row, ok := o.(*item); ok {
			rows = append(rows, row)
		}
	}
	test.Tap(rows[2])
	if st.shown.Name != "mine.star" {
		t.Errorf("the last in the list goes to %s", st.shown.Name)
	}
}

func TestConflictIsAsked(t *testing.T) {
	f := newFake(false, "a: 1\n")
	st := newStage(t, f)
	st.typed(1, 1, "x")
	f.conflict = &Conflict{[]string{"mine.yaml"}}
	st.Save()
	st.q.Until("asked", func() bool { return st.shows("mine.yaml was changed by another program since") })
	if len(st.saves) > 0 || !st.Edited() {
		t.Error("it was saved")
	}
	st.q.Tap(st.Content(), "Overwrite")
	st.q.Until("saved", func() bool { return len(st.saves) == 1 })
	if !f.over || f.saved["mine.yaml"] != "xa: 1\n" {
		t.Errorf("saved %v", f.saved)
	}
}

// TestChangesElsewhere checks that a file changed by another program is reloaded, and that the editor asks first if
// edits would be lost.
func TestChangesElsewhere(t *testing.T) {
	f := newFake(false, "a: 1\n")
	st := newStage(t, f)
	f.mu.Lock()
	f.changed = []File{{"mine.yaml", []byte("other: 2\n"), "9"}}
	f.mu.Unlock()
	for range lookEvery {
		st.Tick()
	}
	st.q.Until("followed", func() bool { return st.shown.editor.Text() == "other: 2\n" && !st.looking })
	if st.Edited() {
		t.Error("an external change counts as an edit")
	}
	st.typed(1, 1, "x")
	f.mu.Lock()
	f.changed = []File{{"mine.yaml", []byte("third: 3\n"), "10"}}
	f.doc.Files[0] = f.changed[0]
	f.mu.Unlock()
	for range lookEvery {
		st.Tick()
	}
	st.q.Until("asked", func() bool { return st.shows("changed by another program") })
	if got := st.shown.editor.Text(); got != "xother: 2\n" {
		t.Errorf("the edits became %q", got)
	}
	st.q.Tap(st.Content(), "Load from disk")
	st.q.Until("shown", func() bool { return st.shown.editor.Text() == "third: 3\n" })
	st.shown.editor.Target().(fyne.Shortcutable).TypedShortcut(&fyne.ShortcutUndo{})
	if got := st.shown.editor.Text(); got != "xother: 2\n" {
		t.Errorf("the edits are lost: undo returns %q", got)
	}
}

func TestDraftsAreShownAgain(t *testing.T) {
	f := newFake(false, "a: 1\n")
	f.doc.Draft = &Draft{At: time.Now(), Texts: map[string][]byte{"mine.yaml": []byte("a: 12\n")}, Outdated: true}
	st := newStage(t, f)
	if got := st.shown.editor.Text(); got != "a: 12\n" || !st.Edited() || !st.shows("They are not saved yet") || !st.shows("Another program") {
		t.Fatalf("%q is shown, and %q", got, uitest.Texts(st.Content()))
	}
	st.q.Tap(st.Content(), "Discard")
	if got := st.shown.editor.Text(); got != "a: 1\n" || st.Edited() {
		t.Errorf("%q is shown", got)
	}
}

func TestADraftThatCannotBeKeptIsTold(t *testing.T) {
	f := newFake(false, "a: 1\n")
	st := newStage(t, f)
	f.mu.Lock()
	f.keepErr = errors.New("the disk is full")
	f.mu.Unlock()
	st.typed(1, 1, "x")
	st.q.Until("told", func() bool { return st.shows("Cannot keep a draft of the edits: the disk is full") })
	if st.shows("a draft is kept") {
		t.Error("it reports a saved draft")
	}
}

// TestTheLastKeysAreKept checks that the last edits are kept when a signal ends the program without a question.
func TestTheLastKeysAreKept(t *testing.T) {
	st := newStage(t, newFake(false, "a: 1\n"))
	st.pause = time.Hour
	st.shown.editor.Go(1, 1)
	st.shown.editor.Target().TypedRune('x')
	if err := st.Close(); err != nil || string(st.desk.drafts["mine.yaml"]) != "xa: 1\n" {
		t.Errorf("kept %q, %v", st.desk.drafts, err)
	}
}

func TestLeavingAsks(t *testing.T) {
	st := newStage(t, newFake(false, "a: 1\n"))
	if st.Leave(func() { t.Error("closing without edits continues immediately") }) {
		t.Error("closing asks although nothing is unsaved")
	}
	st.q.Tap(st.Content(), "Setup")
	if st.left != 1 {
		t.Error("closing asks although nothing is unsaved")
	}
	st.typed(1, 1, "x")
	st.q.Tap(st.Content(), "Setup")
	st.asks(t, "Stay")
	if st.left != 1 {
		t.Error("it was left")
	}
	st.q.Tap(st.Content(), "Setup")
	st.asks(t, "Keep as a draft")
	st.q.Until("left", func() bool { return st.left == 2 })
	if string(st.desk.drafts["mine.yaml"]) != "xa: 1\n" || len(st.saves) > 0 {
		t.Errorf("kept %q", st.desk.drafts)
	}
	if st.Leave(func() {}) {
		t.Error("closing asks again after a confirmation")
	}
	st.typed(1, 1, "y")
	gone := false
	if !st.Leave(func() { gone = true }) {
		t.Fatal("closing does not ask")
	}
	st.asks(t, "Save")
	st.q.Until("saved and gone", func() bool { return gone && len(st.saves) == 1 })
}

func TestBuiltInsAreSavedAsACopy(t *testing.T) {
	st := newStage(t, newFake(true, "a: 1\n"))
	st.typed(1, 1, "x")
	st.saveTo("/tmp/folder/mine.yaml", false, nil)
	st.q.Until("copied", func() bool { return len(st.saves) == 1 })
	if st.doc.Name != "/tmp/folder/mine.yaml" || st.desk.copied != "/tmp/folder/mine.yaml" || st.desk.saved["mine.yaml"] != "xa: 1\n" || st.Edited() {
		t.Errorf("%s, copied to %q: %q", st.doc.Name, st.desk.copied, st.desk.saved)
	}
	st.desk.conflict = &Conflict{[]string{"mine.yaml"}}
	st.saveTo("/tmp/other/mine.yaml", false, nil)
	st.q.Until("asked", func() bool { return st.win.Canvas().Overlays().Top() != nil })
	st.asks(t, "Replace")
	st.q.Until("replaced", func() bool { return len(st.saves) == 2 })
}

// TestTypedWhileItIsSaved checks that edits made while a file is being saved are kept.
func TestTypedWhileItIsSaved(t *testing.T) {
	st := newStage(t, newFake(true, "a: 1\n"))
	st.typed(1, 1, "x")
	gone := 0
	st.saveTo("/tmp/folder/mine.yaml", false, func() { gone++ })
	st.shown.editor.Target().TypedRune('y')
	st.q.Until("copied", func() bool { return gone == 1 })
	if st.doc.Name != "/tmp/folder/mine.yaml" || st.desk.saved["mine.yaml"] != "xa: 1\n" || st.shown.editor.Text() != "xya: 1\n" || !st.Edited() {
		t.Errorf("saved %q, shown %q, of %s", st.desk.saved, st.shown.editor.Text(), st.doc.Name)
	}
	st.Save()
	st.save(false, func() { gone++ }) // asked for before the answer: no conflict with itself
	if !st.saving || st.later == nil {
		t.Error("two saves run at the same time")
	}
	st.q.Until("saved twice", func() bool { return gone == 2 })
	if st.Edited() || st.desk.saved["mine.yaml"] != "xya: 1\n" || len(st.saves) != 3 {
		t.Errorf("%q was saved in %q", st.desk.saved, st.saves)
	}
}

func TestRevertAsks(t *testing.T) {
	st := newStage(t, newFake(false, "a: 1\n"))
	st.typed(1, 1, "x")
	st.q.Tap(st.Content(), "Revert")
	st.asks(t, "Revert")
	if st.Edited() || st.shown.editor.Text() != "a: 1\n" {
		t.Errorf("%q is shown", st.shown.editor.Text())
	}
}

func TestValuesOfTheFormArePut(t *testing.T) {
	st := newStage(t, newFake(false, "n: 1\n"))
	st.Put(st.doc.Name, Values{Parameters: map[string]string{"n": "5"}})
	st.q.Until("put", func() bool { return st.shown.editor.Text() == "n: 5\n" && st.shows("Save it to keep them") })
	if !st.Edited() || len(st.desk.saved) > 0 {
		t.Error("the file was saved without a confirmation")
	}
}

func TestFindInTheFile(t *testing.T) {
	st := newStage(t, newFake(false, "one\ntwo one\nthree\n"))
	keys := &desktop.CustomShortcut{KeyName: fyne.KeyF, Modifier: fyne.KeyModifierShortcutDefault}
	st.shown.editor.Target().(fyne.Shortcutable).TypedShortcut(keys)
	if st.win.Canvas().Focused() != fyne.Focusable(st.find.entry) {
		t.Fatal("there is no search field")
	}
	test.Type(st.find.entry, "ONE")
	if !st.shows("1 of 2") {
		t.Errorf("shown: %q", uitest.Texts(st.find.object))
	}
	st.find.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if line, col := st.shown.editor.Cursor(); line != 2 || col != 5 || !st.shows("2 of 2") {
		t.Errorf("the cursor is at %d:%d", line, col)
	}
	st.find.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if st.find.object.Visible() || st.win.Canvas().Focused() != st.shown.editor.Target() {
		t.Error("Escape does not go back to the text")
	}
}

func TestHelpSaysWhatKeysMean(t *testing.T) {
	st := newStage(t, newFake(false, "clock: {cycle: 1h, cycles: 3}\nchain a:\n  step b:\n    kind: http\n"))
	st.q.Tap(st.Content(), "Help")
	st.shown.editor.Go(1, 22)
	if !st.shows("clock > cycles") {
		t.Errorf("shown: %q", uitest.Texts(st.help.object))
	}
	st.shown.editor.Go(4, 6)
	text := strings.Join(uitest.Texts(st.help.object), "\n")
	if !strings.Contains(text, "chain a > step b > kind") || !strings.Contains(text, "depends_on") {
		t.Errorf("shown: %q", text)
	}
}

// TestNotText checks that a file that is not text is shown and never written.
func TestNotText(t *testing.T) {
	st := newStage(t, newFake(false, "a: \xff\n"))
	st.shown.editor.Target().TypedRune('x')
	if st.Edited() || string(st.order().Texts["mine.yaml"]) != "" {
		t.Error("the file counts as edited")
	}
}

// session is a trial with a loop and a failed step.
func session() *engine.Trial {
	return &engine.Trial{
		ID: "ann", Chain: "a", Outcome: engine.Failed, Path: "loop[0].ask", Error: "status 500", Took: time.Second,
		Persona: []engine.Fact{{Name: "mood", Value: `"fine"`}}, Usage: engine.Usage{Calls: 1, Input: 3, Output: 4},
		Steps: []engine.TrialStep{{Path: "loop", Name: "loop", Label: "Loop", Kind: "for", File: "mine.yaml", Line: 1, Status: engine.StepFailed, Error: "status 500", Inner: []engine.TrialStep{{
			Path: "loop[0].ask", Name: "ask", Label: "Ask", Kind: "http", Pass: 1, File: "mine.yaml", Line: 2, Status: engine.StepFailed, Class: engine.ServerError,
			Error: "status 500", Attempts: 2, Exchanges: []engine.Exchange{{Service: "shop", Request: "POST /x", Sent: "hello there", Status: 500, Answer: "broken", Attempt: 1}},
		}}}},
	}
}

func TestTryShowsEachStep(t *testing.T) {
	f := newFake(false, "loop:\n  ask: 1\n")
	f.trial = session()
	st := newStage(t, f)
	test.Type(st.trial.agent, "ann")
	st.q.Tap(st.Content(), "Try")
	st.q.Until("tried", func() bool { return st.trial.result != nil })
	if o := f.tried[0]; o.Agent != "ann" || o.Given["n"] != "7" || len(o.Allow) > 0 {
		t.Errorf("tried %+v", o)
	}
	for _, want := range []string{
		"ann, chain a: failed after 1 s, at loop[0].ask: status 500", "Loop", "Ask, iteration 1", "Agent before the session", "Agent after the session",
		"Request to shop: POST /x", "hello there", "Answer 500", "broken", "in the trial of ann: status 500",
	} {
		if !st.shows(want) {
			t.Errorf("%q is not among %q", want, uitest.Texts(st.Content()))
		}
	}
	if line, _ := st.shown.editor.Cursor(); line != 2 {
		t.Errorf("the step is at line 2, the cursor at %d", line)
	}
	st.trial.steps.list.Select(0)
	if !st.shows(`mood: "fine"`) {
		t.Errorf("the persona is not among %q", uitest.Texts(st.trial.object))
	}
	test.Tap(st.trial.copy)
	if text := fyne.CurrentApp().Clipboard().Content(); !strings.Contains(text, `"chain": "a"`) {
		t.Errorf("copied %q", text)
	}
	st.typed(1, 1, "#")
	if !st.shows("edited since") || st.shows("in the trial of ann") {
		t.Errorf("it still counts: %q", uitest.Texts(st.trial.object))
	}
}

func TestTryAsksForHosts(t *testing.T) {
	f := newFake(false, "a: 1\n")
	f.trial, f.targets = session(), []engine.Destination{{Service: "shop", Host: "shop.example.com:443"}}
	st := newStage(t, f)
	st.Try()
	st.q.Until("asked", func() bool { return st.win.Canvas().Overlays().Top() != nil })
	st.asks(t, "Cancel")
	if len(f.tried) > 0 || !st.shows("Nothing was sent") {
		t.Error("the trial started without a confirmation")
	}
	st.trial.press()
	st.trial.press() // before it is known what should be asked
	st.q.Until("asked again", func() bool { return st.win.Canvas().Overlays().Top() != nil })
	st.asks(t, "Allow and try")
	st.q.Until("tried", func() bool { return st.trial.result != nil })
	if st.q.Drain(); st.win.Canvas().Overlays().Top() != nil || len(f.tried) != 1 {
		t.Errorf("it was tried %d times, or is asked twice", len(f.tried))
	}
	if o := f.tried[0]; len(o.Allow) != 1 || o.Allow[0] != "shop.example.com:443" {
		t.Errorf("allowed %v", o.Allow)
	}
}

func TestTryIsStopped(t *testing.T) {
	f := newFake(false, "a: 1\n")
	f.trial, f.wait = session(), make(chan struct{})
	f.trial.Outcome = engine.Cut
	st := newStage(t, f)
	st.Try()
	st.q.Until("under way", func() bool { return uitest.Button(st.Content(), "Stop") != nil })
	st.q.Tap(st.Content(), "Stop")
	st.q.Until("stopped", func() bool { return st.trial.result != nil && uitest.Button(st.Content(), "Try") != nil })
}

func TestTryRefused(t *testing.T) {
	f := newFake(false, "a: 1\n")
	f.err = &engine.FieldError{Field: "agents", Problem: "no agent has the ID bob", Hint: "the first of 3 is ann"}
	st := newStage(t, f)
	st.Try()
	st.q.Until("refused", func() bool { return st.shows("The trial failed: no agent has the ID bob; the first of 3 is ann") })
}

func TestActionsWorkWhereTextIsTyped(t *testing.T) {
	st := newStage(t, newFake(false, "a: 1\n"))
	keys := map[string]bool{}
	for _, a := range st.Actions() {
		key := string(a.Key) + "/" + string(rune('0'+a.Modifier))
		if keys[key] || a.Name == "" || a.Menu == "" || a.Key == "" {
			t.Errorf("%+v is not whole, or shares its keys", a)
		}
		keys[key] = true
	}
	st.typed(1, 1, "x")
	st.shown.editor.Target().(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyS, Modifier: fyne.KeyModifierShortcutDefault})
	st.q.Until("saved", func() bool { return len(st.saves) == 1 })
}
