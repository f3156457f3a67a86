package service

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestSharing checks that the clients of two runs together send at most what one may, and that another service is not slowed.
func TestSharing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const each = 20
		sharing := &Sharing{}
		answers := make([]reply, each)
		for i := range answers {
			answers[i] = ok200("")
		}
		send := func(h *HTTP) time.Duration {
			began := time.Now()
			row := stage{}.play(t, func(s *engine.Session) {
				for range each {
					c := callOf(s, "step")
					if _, err := h.Do(c, Request{Method: "GET", Target: must(t, "/")}); err != nil {
						t.Error(err)
					}
				}
				s.Row.Outcome = engine.OK
			})
			if row.Outcome != engine.OK {
				t.Errorf("%v", row.Error)
			}
			return time.Since(began)
		}
		var all sync.WaitGroup
		var took [2]time.Duration
		for i := range took {
			h := client(t, &script{answers: answers}, Limits{Rate: 10, MaxRate: 10})
			h.Share(sharing)
			all.Go(func() { took[i] = send(h) })
		}
		all.Wait()
		if longest := max(took[0], took[1]); longest < 3500*time.Millisecond || longest > 4500*time.Millisecond {
			t.Errorf("%d requests of two runs at 10 per second took %v and %v", 2*each, took[0], took[1])
		}
		other, err := NewHTTP("shop", "http://other.example/base", Limits{Rate: 10, MaxRate: 10}, false)
		if err != nil {
			t.Fatal(err)
		}
		other.transport.base = &script{answers: answers}
		other.Share(sharing)
		if took := send(other); took > 2500*time.Millisecond {
			t.Errorf("another service took %v", took)
		}
		first, second := sharing.Bound(7), sharing.Bound(9)
		if first.limit != second.limit || (*Sharing)(nil).Bound(3).limit == first.limit {
			t.Error("the bound of model calls is not shared")
		}
	})
}
