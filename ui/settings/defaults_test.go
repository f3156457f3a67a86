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
		{Name: "max-concurrent", Title: "Concurrency limit", Group: "Concurrency", Value: "50", From: "MAX_WORKERS", Help: "sessions in flight, at most"},
		{Name: "cycles", Title: "Cycles", Group: "Length and pace", Value: "1", From: "default", Help: "length of the run"},
		{Name: "seed", Title: "Random seed", Group: "Length and pace", Value: "7", From: "saved", Help: "what draws depend on"},
	}}
	s := shown(t, General, desk)
	s.Until("the groups", func() bool { return s.shows("Length and pace") })
	s.screen.Open("Concurrency")
	if !s.shows("MAX_WORKERS (environment)") {
		t.Error("the source of the value is not shown")
	}
	if s.edit("max-concurrent") != nil {
		t.Error("a value of the environment can be changed")
	}

	s.screen.Open("Length and pace")
	s.edit("cycles")
	if uitest.Button(s.screen.Content(), "Use default") != nil {
		t.Error("the default can be replaced by itself")
	}
	if got := s.win.Canvas().Focused(); got != fyne.Focusable(s.screen.defaults.editor.entry) {
		t.Errorf("the keyboard is at %T, want the editor", got)
	}
	for _, e := range []*form.Entry{s.screen.defaults.editor.entry, s.screen.database.url, s.screen.database.password} {
		if e.Page != fyne.Scrollable(s.screen.sections.page) {
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

// TestLimitedSettings checks that a setting that another one moved says so, that the editor has the user's own value, and that help is a
// sentence.
func TestLimitedSettings(t *testing.T) {
	s := shown(t, General, &fakeDesk{settings: []Setting{
		{Name: "max-concurrent", Title: "Concurrency limit", Group: "Concurrency", Help: "sessions in flight, at most", Value: "50", Shown: "20 sessions", Why: "limited by the highest limit", From: "default"},
	}})
	s.Until("the group", func() bool { return s.shows("Concurrency") })
	s.screen.Open("Concurrency")
	if !s.shows("20 sessions, limited by the highest limit") || !s.shows("Sessions in flight, at most.") || s.shows("max-concurrent") {
		t.Errorf("got %q", uitest.Texts(s.screen.Content()))
	}
	if s.edit("max-concurrent"); s.screen.defaults.editor.entry.Text != "50" {
		t.Errorf("the editor has %q", s.screen.defaults.editor.entry.Text)
	}
}
