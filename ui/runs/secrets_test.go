package runs

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/ui/internal/form"
)

// TestResumeAsksForSecrets checks that resuming a run asks for secrets that were not stored, and then continues.
func TestResumeAsksForSecrets(t *testing.T) {
	desk := two()
	desk.err = &LockedError{Secrets: []string{"SHOP_KEY", "MODEL_KEY"}, Kept: "until the program ends"}
	q, s, h := start(t, desk)
	q.Tap(s.Content(), "Resume")
	wait(q, s)
	wantShown(t, s, "SHOP_KEY, MODEL_KEY")
	top := s.win.Canvas().Overlays().Top()
	if top == nil {
		t.Fatal("no question is asked")
	}
	first, ok := s.win.Canvas().Focused().(*form.Entry)
	if !ok || !first.Password {
		t.Fatalf("the focus is at %v", s.win.Canvas().Focused())
	}
	first.SetText("hunter2")
	q.Tap(top, "Resume")
	q.Until("it continues", func() bool { return h.resumed == 1 })
	if got := strings.Join(desk.orders(), "; "); got != "resume new with 0; keep SHOP_KEY hunter2; resume new with 0" {
		t.Errorf("asked was %s", got)
	}
}
