package control

import (
	"errors"
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestLocal checks that orders from within the process work like those of a terminal, and that a run that has ended refuses
// orders.
func TestLocal(t *testing.T) {
	r := newFakeRun()
	r.change(func(s *engine.Snapshot) { s.Limit = 50 })
	l := NewLocal(r.job())
	look, order := l.Client(), l.Client()
	changes, err := order.Set(t.Context(), []engine.Assignment{{Name: "floor", Value: "30"}}, "by hand")
	if err != nil || !slices.Equal(changes, []engine.Change{{Name: "floor", Old: "1", New: "30"}}) {
		t.Errorf("%v, %v", changes, err)
	}
	if err := order.Pause(t.Context(), "lunch"); err != nil {
		t.Error(err)
	}
	if got, want := r.heard(), "apply [{floor 30}] by W because by hand; pause by W because lunch"; got != want {
		t.Errorf("got orders %q, want %q", got, want)
	}
	if s, err := look.Status(t.Context()); err != nil || s.Run != runID || s.Limit != 50 {
		t.Errorf("%+v, %v", s, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := look.Status(t.Context()); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("after the end of the run: %v", err)
	}
}
