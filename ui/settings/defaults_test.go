package settings

import (
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/form"
	"github.com/throng-sim/throng/ui/uitest"
)

// edit taps the pencil next to a setting and returns the editor's row.
func (s *stage) edit(name string) *form.Row {
	s.t.Helper()
	i := slices.IndexFunc(s.screen.defaults.shown, func(o Setting) bool { return o.Name == name })
	line := s.screen.defaults.row(s.screen.defaults.shown[i])
	uitest.Walk(line, func(o fyne.CanvasObject) bool {
		if b, ok := o.(*widget.Button); ok {
			test.Tap(b)
		}
		return true
	})
	s.Drain()
	if s.screen.defaults.editor == nil {
		return nil
	}
	return s.screen.defaults.editor.row
}

func TestDefaultsAreEdited(t *testing.T) {
	desk := &fakeDesk{settings: []Setting{
		{"max-concurrent", "Concurrency limit", "Concurrency", "50", "MAX_WORKERS", "sessions in flight, at most"},
		{"cycles", "Cycles", "Length and pace", "1", "default", "length of the run"},
		{"seed", "Random seed", "Length and pace", "7", "saved", "what draws depend on"},
	}}
	s := shown(t, desk)
	s.until("what draws depend on")
	if !s.shows("MAX_WORKERS (environment)") {
		t.Error("the source of the value is not shown")
	}
	if s.edit("max-concurrent") != nil {
		t.Error("a value of the environment can be changed")
	}

	s.edit("cycles")
	if uitest.Button(s.screen.Content(), "Use default") != nil {
		t.Error("the default can be replaced by itself")
	}
	if got := s.win.Canvas().Focused(); got != fyne.Focusable(s.screen.defaults.editor.entry) {
		t.Errorf("the keyboard is at %T, want the editor", got)
	}
	for _, e := range []*form.Entry{s.screen.defaults.editor.entry, s.screen.database.url, s.screen.database.password} {
		if e.Page != s.screen.content.(fyne.Scrollable) {
			t.Errorf("the field with %q keeps the wheel", e.Text)
		}
	}
	desk.set(func() { desk.err = &engine.FieldError{Field: "cycles", Problem: `"x" is not a whole number`} })
	s.screen.defaults.editor.entry.SetText("x")
	s.screen.defaults.editor.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	s.asks("set cycles x")
	s.until("not a whole number")

	desk.set(func() { desk.err = nil })
	s.screen.defaults.editor.entry.SetText("48")
	test.Tap(s.screen.defaults.editor.buttons[0])
	s.asks("set cycles 48")
	s.until("48")
	s.Until("closed", func() bool { return s.screen.defaults.editor == nil })

	s.edit("seed")
	s.tap("Cancel")
	if s.screen.defaults.editor != nil {
		t.Error("the editor stays")
	}
	s.edit("seed")
	s.tap("Use default")
	s.asks("set seed ")
}

// TestDefaultsAreFound searches defaults by name, title and description, and checks that each is in its group.
func TestDefaultsAreFound(t *testing.T) {
	s := shown(t, &fakeDesk{settings: []Setting{
		{"retries", "Attempts", "Timeouts and retries", "5", "default", "attempts at a request"},
		{"cycles", "Cycles", "Length and pace", "24", "saved", "length of the run"},
		{"session-timeout", "Session timeout", "Timeouts and retries", "5m0s", "default", "time that a session may use"},
		{"new-thing", "New thing", "More", "on", "default", "a setting without a title"},
	}})
	s.until("Timeouts and retries")
	texts := uitest.Texts(s.screen.defaults.panel)
	order := []string{"Timeouts and retries", "Attempts", "Session timeout", "5m", "Length and pace", "Cycles", "More", "New thing"}
	at := -1
	for _, want := range order {
		i := slices.Index(texts, want)
		if i <= at {
			t.Fatalf("%q is not after its predecessor: %q", want, texts)
		}
		at = i
	}
	s.screen.defaults.look.SetText("session time")
	s.Drain()
	if !s.shows("Session timeout") || s.shows("Attempts") || s.shows("Length and pace") {
		t.Errorf("the screen shows %q", uitest.Texts(s.screen.defaults.panel))
	}
	s.screen.defaults.look.SetText("elephants")
	s.Drain()
	if !s.shows("Try fewer") {
		t.Error("no advice is shown")
	}
}
