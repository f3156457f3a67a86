package service

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/lending"
)

// tank is a service with a quota of requests per second, which saves up a second's worth.
type tank struct {
	perSec float64

	mu          sync.Mutex
	level       float64
	at          time.Time
	ok, refused int
	counts      bool
}

func (k *tank) RoundTrip(r *http.Request) (*http.Response, error) {
	time.Sleep(20 * time.Millisecond)
	k.mu.Lock()
	now := time.Now()
	k.level = min(k.perSec, k.level+k.perSec*now.Sub(k.at).Seconds())
	k.at = now
	answer := ok200("")
	if k.level >= 1 {
		k.level--
	} else {
		answer.status, answer.header = http.StatusTooManyRequests, map[string]string{"Retry-After": "1"}
	}
	switch {
	case !k.counts:
	case answer.status == http.StatusOK:
		k.ok++
	default:
		k.refused++
	}
	k.mu.Unlock()
	time.Sleep(200 * time.Millisecond)
	return (&script{answers: []reply{answer}}).RoundTrip(r)
}

// TestAdaptiveRateOfWorkers checks that the adaptive rate of two workers finds the quota of a service as that of one process does.
func TestAdaptiveRateOfWorkers(t *testing.T) {
	limits := Limits{Rate: 10, MaxRate: 50, Per: PerService}
	found := func(delay time.Duration, loss float64, lent bool) (perSec, refused float64) {
		synctest.Test(t, func(t *testing.T) {
			const length = 300
			service := &tank{perSec: 20, level: 20, at: time.Now()}
			g := newGroup(t, limits, 0, 0, delay, loss)
			defer g.close(t)
			clients := []*HTTP{g.workers[0].HTTP, g.workers[1].HTTP}
			if !lent {
				one := client(t, service, limits)
				clients = []*HTTP{one, one}
			}
			end := time.Now().Add((60 + length) * time.Second)
			time.AfterFunc(time.Minute, func() {
				service.mu.Lock()
				defer service.mu.Unlock()
				service.counts = true
			})
			var callers sync.WaitGroup
			for _, h := range clients {
				h.transport.base = service
			}
			for _, h := range clients {
				for range 30 {
					callers.Go(func() {
						for time.Now().Before(end) {
							sends(t, h, 1, browse)
						}
					})
				}
			}
			callers.Wait()
			if asks := g.workers[0].from.asks; lent != (asks > 0) {
				t.Errorf("%d asks", asks)
			}
			perSec, refused = float64(service.ok)/length, float64(service.refused)/float64(service.ok+service.refused)
		})
		return perSec, refused
	}
	one, _ := found(0, 0, false)
	for _, road := range roads {
		perSec, refused := found(road.delay, road.loss, true)
		t.Logf("%s: %.2f requests a second, %.2f%% refused; one process %.2f", road.name, perSec, 100*refused, one)
		if perSec < 0.95*one || refused > 0.03 {
			t.Errorf("%s: %.2f requests a second, %.2f%% refused; one process has %.2f", road.name, perSec, 100*refused, one)
		}
	}
}

// TestCausesOfLentLimits checks that calls of workers are shown as throttled by the same limits.
func TestCausesOfLentLimits(t *testing.T) {
	for _, tt := range []struct {
		name   string
		limits Limits
		bound  int
		refuse string
		want   engine.ThrottleCause
	}{
		{"slots", Limits{Connections: 2}, 100, "", engine.ThrottledBySlots},
		{"rate", Limits{Rate: 2, Pace: pace.Fixed}, 100, "", engine.ThrottledByRate},
		{"refusal", Limits{}, 100, "30", engine.ThrottledByRefusal},
		{"models", Limits{}, 2, "", engine.ThrottledByModels},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				own := models(t, nil, LLMConfig{Limits: tt.limits, Shared: NewBound(tt.bound)})
				l := lending.New(lending.Config{Services: map[string]*admission.Controller{"model": own.Control()}})
				defer l.Close()
				b := lending.NewBorrower(&wire{to: l, worker: "a", delay: 10 * time.Millisecond, random: rand.New(rand.NewPCG(1, 2))}, l.Join("a"))
				defer b.Close()
				d := &desk{takes: 2 * time.Second, refuse: func(n int) string { return map[int]string{0: tt.refuse}[n] }}
				worker := models(t, d, LLMConfig{})
				worker.Borrow(b.Service("model"))
				row := callers(t, 10, worker)
				w := held(row)
				var all time.Duration
				for _, d := range w {
					all += d
				}
				if row.Outcome != engine.OK || w[tt.want] < 9*time.Second || w[tt.want] < all*9/10 {
					t.Errorf("%v, throttled by %v", row.Outcome, w)
				}
			})
		})
	}
}
