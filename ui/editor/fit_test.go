package editor

import (
	"testing"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/skin"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestNothingIsClipped checks that no text of the screen is clipped at any text size. The texts of mistakes next to
// long lines scroll with the file.
func TestNothingIsClipped(t *testing.T) {
	f := newFake(false, "a: 1\n", "def f():\n")
	f.trial = session()
	f.trial.Outcome, f.trial.Error, f.trial.Steps[0].Error, f.trial.Steps[0].Inner[0].Error = engine.OK, "", "", ""
	st := newStage(t, f)
	st.q.Fit("editor", st.Content(), scaled)
	st.Try()
	st.q.Until("tried", func() bool { return st.trial.result != nil })
	st.q.Fit("editor with a trial", st.Content(), scaled)
	st.q.Tap(st.Content(), "No problems")
	st.q.Fit("editor without mistakes", st.Content(), scaled)
	st.q.Tap(st.Content(), "Help")
	st.q.Fit("editor with help", st.Content(), scaled)
}

// TestProblemsFit checks that the buttons of fixes and the list of templates are not clipped at any text size.
func TestProblemsFit(t *testing.T) {
	st := newStage(t, newFake(false, "a: WRONG\nb: 2\n"))
	st.q.Tap(st.Content(), "Problems (1)")
	st.shown.editor.SetMarks(nil)
	st.q.Fit("editor with problems", st.Content(), scaled)
	st.New(func() {})
	st.q.Until("asked", func() bool { return st.win.Canvas().Overlays().Top() != nil })
	for _, misfit := range uitest.Misfits(st.win.Canvas().Overlays().Top()) {
		t.Error(misfit)
	}
}

func scaled(scale float32) fyne.Theme { return skin.New("dark").Scaled(scale) }
