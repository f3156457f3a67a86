package fleet

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/throng-sim/throng/engine"
)

// unanswered is the host of a run without shared answers.
type unanswered struct{ engine.Host }

func (unanswered) Recall(engine.SharedKey) (e engine.Entry, known bool) { return e, false }

// TestSharedAnswerIsRequestedByOneSession checks that a session waits for the one before it also if both are in the same worker: the release
// of the first may arrive after the second asks, and must not let a third request the answer together with the second.
func TestSharedAnswerIsRequestedByOneSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := intake{&Pool{host: unanswered{}, locks: map[engine.SharedKey]*lock{}}}
		a, b := newClient(1), newClient(2)
		requests := make(chan *client, 3)
		await := func(w *client) {
			if _, _, err := p.awaitShared(t.Context(), w, engine.SharedKey{}); err == nil {
				requests <- w
			}
		}
		go await(a)
		synctest.Wait()
		go await(a)
		go await(b)
		for range 3 {
			synctest.Wait()
			if len(requests) != 1 {
				t.Fatalf("%d sessions request the answer, want 1", len(requests))
			}
			w := <-requests
			p.mu.Lock()
			p.release(w, engine.SharedKey{})
			p.mu.Unlock()
		}
		if len(p.locks) > 0 {
			t.Error("the answer is locked")
		}
	})
}

// TestLateReleaseOfALostWorker checks that a worker that has joined again keeps the answer that it requests when a release from before
// arrives.
func TestLateReleaseOfALostWorker(t *testing.T) {
	p := intake{&Pool{host: unanswered{}, locks: map[engine.SharedKey]*lock{}}}
	before, after := newClient(1), newClient(2)
	for _, w := range []*client{before, after} {
		if _, _, err := p.awaitShared(context.Background(), w, engine.SharedKey{}); err != nil {
			t.Fatal(err)
		}
		p.releaseLocks(before) // when it is lost
	}
	p.release(before, engine.SharedKey{})
	if len(p.locks) != 1 {
		t.Error("the answer is not locked")
	}
}
