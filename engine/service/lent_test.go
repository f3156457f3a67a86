package service

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/pace"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/lending"
)

// branch is a worker with a client of the service shop.
type branch struct {
	*HTTP
	from *wire
	b    *lending.Borrower
	desk *desk
}

// wire is a connection to a lending. Messages take a random time up to delay. At random they are lost in either direction, or a copy
// of them arrives much later. Everything is encoded and decoded, as over a network.
type wire struct {
	to     *lending.Lending
	worker string
	delay  time.Duration
	loss   float64

	copies sync.WaitGroup
	mu     sync.Mutex
	random *rand.Rand
	asks   int // messages
	notes  int
	cut    bool
}

var errLost = errors.New("the message was lost")

// travel takes the time of a message, and reports whether it arrived.
func (w *wire) travel() bool {
	w.mu.Lock()
	took, lost := time.Duration(0), w.cut || w.random.Float64() < w.loss
	if w.delay > 0 {
		took = time.Duration(w.random.Int64N(int64(w.delay)))
	}
	w.mu.Unlock()
	time.Sleep(took)
	return !lost
}

// over carries a message to the lending and its answer back.
func over[Q, A any](w *wire, q Q, count *int, do func(Q) (A, error)) (back A, err error) {
	w.mu.Lock()
	*count++
	w.mu.Unlock()
	if !w.travel() {
		return back, errLost
	}
	var sent Q
	if err := cbor.Unmarshal(codec.AppendWire(nil, q), &sent); err != nil {
		return back, err
	}
	w.mu.Lock()
	again := w.random.Float64() < w.loss
	w.mu.Unlock()
	if again {
		w.copies.Go(func() {
			time.Sleep(50 * w.delay)
			_, _ = do(sent)
		})
	}
	answer, err := do(sent)
	if err != nil {
		return back, err
	}
	if !w.travel() {
		return back, errLost
	}
	return back, cbor.Unmarshal(codec.AppendWire(nil, answer), &back)
}

func (w *wire) Admit(ctx context.Context, a lending.Ask) (lending.Grant, error) {
	return over(w, a, &w.asks, func(a lending.Ask) (lending.Grant, error) { return w.to.Admit(context.WithoutCancel(ctx), w.worker, a) })
}

func (w *wire) Tell(_ context.Context, n lending.Notes) (lending.Lent, error) {
	return over(w, n, &w.notes, func(n lending.Notes) (lending.Lent, error) { return w.to.Tell(w.worker, n) })
}

// group is a coordinator with workers.
type group struct {
	own     *HTTP
	lending *lending.Lending
	all     *desk // requests of all workers
	workers []*branch
}

// newGroup returns a coordinator with two workers. most is the expected number of concurrent requests, 0 if that is not known.
func newGroup(t *testing.T, limits Limits, most int, takes, delay time.Duration, loss float64) *group {
	t.Helper()
	limits.Timeout = time.Hour
	g := &group{own: client(t, nil, limits), all: &desk{}}
	g.lending = lending.New(lending.Config{
		Services: map[string]*admission.Controller{"shop": g.own.Control()}, Most: most,
		Changed: func(l lending.Lent) {
			for _, w := range g.workers {
				w.b.Use(l)
			}
		},
	})
	for i, name := range []string{"a", "b"} {
		w := &branch{
			desk: &desk{takes: takes, total: g.all},
			from: &wire{to: g.lending, worker: name, delay: delay, loss: loss, random: rand.New(rand.NewPCG(1, uint64(i)))},
		}
		w.HTTP = client(t, w.desk, limits)
		w.b = lending.NewBorrower(w.from, g.lending.Join(name))
		w.Borrow(w.b.Service("shop"))
		g.workers = append(g.workers, w)
	}
	synctest.Wait()
	return g
}

// close ends the workers, and checks that nothing is held.
func (g *group) close(t *testing.T) {
	t.Helper()
	time.Sleep(time.Minute) // until all notes have arrived
	if s := g.own.State(time.Now()); s.InFlight != 0 || s.Waiting != 0 {
		t.Errorf("%d in flight and %d waiting at the end", s.InFlight, s.Waiting)
	}
	for _, w := range g.workers {
		if s := w.State(time.Now()); s.InFlight != 0 || s.Waiting != 0 {
			t.Errorf("%s: %d in flight and %d waiting at the end", w.from.worker, s.InFlight, s.Waiting)
		}
		w.b.Close()
		w.from.copies.Wait()
	}
	g.lending.Close()
}

// send lets each worker make n concurrent calls.
func (g *group) send(t *testing.T, n int, endpoints ...string) {
	t.Helper()
	var all sync.WaitGroup
	for _, w := range g.workers {
		all.Go(func() { sends(t, w.HTTP, n, endpoints...) })
	}
	all.Wait()
}

// roads are the connections of the tests.
var roads = []struct {
	name  string
	delay time.Duration
	loss  float64
}{{"no delay", 0, 0}, {"up to 40 ms", 40 * time.Millisecond, 0}, {"up to 40 ms, 10% lost", 40 * time.Millisecond, 0.1}}

// TestWorkersKeepToOneBound checks that the requests in flight of all workers fit one bound, which is used fully.
func TestWorkersKeepToOneBound(t *testing.T) {
	for _, road := range roads {
		t.Run(road.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, Limits{Connections: 5}, 0, time.Second, road.delay, road.loss)
				defer g.close(t)
				began := time.Now()
				g.send(t, 50, browse, order)
				took := time.Since(began)
				if g.all.most != 5 || len(g.all.times) != 200 {
					t.Errorf("%d requests, up to %d in flight; want 200, 5", len(g.all.times), g.all.most)
				}
				if most := 40*time.Second + 80*road.delay + time.Duration(road.loss*float64(80*time.Second)); took > most {
					t.Errorf("took %v, want at most %v", took, most)
				}
			})
		})
	}
}

// TestWorkersKeepToOneRate checks that no second has more starts over all workers than the rate, which is used fully.
func TestWorkersKeepToOneRate(t *testing.T) {
	for _, road := range roads {
		t.Run(road.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, Limits{Rate: 20, MaxRate: 20, Pace: pace.Fixed}, 0, 10*time.Millisecond, road.delay, road.loss)
				defer g.close(t)
				began := time.Now()
				g.send(t, 100, browse)
				times := g.all.since(began)
				late := 0 // starts that the delay of messages may move into a window
				if road.delay > 0 {
					late = 2 + int(4*road.loss*20)
				}
				for i := range times {
					if n := i + 21 + late; n < len(times) && times[n]-times[i] < time.Second {
						t.Fatalf("%d starts between %v and %v", n-i+1, times[i], times[n])
					}
				}
				if last := times[len(times)-1]; len(times) != 200 || last < 9900*time.Millisecond || last > 12*time.Second {
					t.Errorf("%d starts, the last after %v; want 200, 10 s", len(times), last)
				}
			})
		})
	}
}

// TestDelayedMessagesDoNotSlowARate checks that a high rate is used although a round trip takes much longer than the interval between
// two requests.
func TestDelayedMessagesDoNotSlowARate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, Limits{Rate: 500, Pace: pace.Fixed}, 0, 10*time.Millisecond, 50*time.Millisecond, 0)
		defer g.close(t)
		began := time.Now()
		g.send(t, 1000, browse)
		if took := time.Since(began); took < 3900*time.Millisecond || took > 5300*time.Millisecond {
			t.Errorf("2,000 requests at 500 per second took %v", took)
		}
	})
}

// TestA429StopsAllWorkers checks that a refusal at one worker blocks the service for all of them, although nothing limited it before,
// and that it needs no messages before and afterwards.
func TestA429StopsAllWorkers(t *testing.T) {
	for _, road := range roads {
		t.Run(road.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, Limits{Per: PerService}, 100, 10*time.Millisecond, road.delay, road.loss)
				defer g.close(t)
				time.Sleep(10 * time.Second) // until the workers have told that they follow
				g.send(t, 20, browse)
				if g.workers[0].from.asks+g.workers[1].from.asks != 0 {
					t.Error("the workers asked for admissions while nothing limited the service")
				}
				g.workers[0].desk.refuse = func(n int) string {
					if n == 20 {
						return "60"
					}
					return ""
				}
				began := time.Now()
				sends(t, g.workers[0].HTTP, 1, browse)
				refused := began.Add(10 * time.Millisecond)
				var calls sync.WaitGroup
				calls.Go(func() { g.send(t, 20, browse) })
				calls.Wait()
				spread := time.Duration(4) * (road.delay + time.Duration(road.loss*float64(10*time.Second)))
				for _, at := range g.all.times[41:] {
					if d := at.Sub(refused); d > spread && d < time.Minute {
						t.Errorf("a request started %v after a refusal for a minute", d)
					}
				}
				if n := len(g.all.times); n != 20+20+2+40 {
					t.Errorf("%d requests, want 82", n)
				}
				time.Sleep(time.Minute)
				g.lending.Refresh()
				time.Sleep(time.Second)
				asks := g.workers[0].from.asks + g.workers[1].from.asks
				g.send(t, 20, browse)
				if more := g.workers[0].from.asks + g.workers[1].from.asks; asks == 0 || more != asks {
					t.Errorf("%d asks during the refusal, %d after it", asks, more-asks)
				}
			})
		})
	}
}

// TestARefusedWorkerStopsImmediately cuts the connection of a worker, and checks that the worker obeys a refusal by itself.
func TestARefusedWorkerStopsImmediately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, Limits{}, 100, 10*time.Millisecond, 0, 0)
		defer g.close(t)
		a := g.workers[0]
		a.from.mu.Lock()
		a.from.cut = true
		a.from.mu.Unlock()
		a.desk.refuse = func(n int) string { return map[int]string{0: "60"}[n] }
		var calls sync.WaitGroup
		calls.Go(func() { sends(t, a.HTTP, 10, browse) })
		time.Sleep(time.Hour / 60)
		before := len(a.desk.since(time.Now()))
		calls.Go(func() { sends(t, a.HTTP, 10, browse) })
		time.Sleep(time.Minute)
		if got := len(a.desk.since(time.Now())); got != before {
			t.Errorf("%d requests started after a refusal that the coordinator does not have", got-before)
		}
		if s := a.State(time.Now()); s.Waiting != 11 {
			t.Errorf("%d requests wait, want 11", s.Waiting)
		}
		a.from.mu.Lock()
		a.from.cut = false
		a.from.mu.Unlock()
		calls.Wait()
	})
}

// TestALostWorkerReturnsItsAdmissions checks that the slots of a worker that vanishes go to the others, and that what it sends later
// is refused until it joins again.
func TestALostWorkerReturnsItsAdmissions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGroup(t, Limits{Connections: 4}, 0, 5*time.Second, 10*time.Millisecond, 0)
		defer g.close(t)
		a, b := g.workers[0], g.workers[1]
		a.desk.takes = 10 * time.Minute
		var calls sync.WaitGroup
		calls.Go(func() { sends(t, a.HTTP, 8, browse) })
		time.Sleep(time.Second)
		began := time.Now()
		calls.Go(func() { sends(t, b.HTTP, 8, browse) })
		time.Sleep(10 * time.Second)
		if n, held := len(b.desk.since(began)), len(a.desk.since(began)); n != 0 || held != 4 {
			t.Fatalf("%d requests of one worker while the other has %d in flight", n, held)
		}
		a.from.mu.Lock()
		a.from.cut = true
		a.from.mu.Unlock()
		g.lending.Forget("a")
		time.Sleep(15 * time.Second)
		if n := len(b.desk.since(began)); n != 8 {
			t.Errorf("%d of 8 requests after the other worker was lost", n)
		}
		if s := g.own.State(time.Now()); s.InFlight != 0 {
			t.Errorf("%d in flight at the coordinator", s.InFlight)
		}
		a.from.mu.Lock()
		a.from.cut = false
		a.from.mu.Unlock()
		time.Sleep(10 * time.Second)
		if n := len(a.desk.since(began)); n != 4 {
			t.Errorf("%d requests of a worker that was forgotten", n)
		}
		a.b.Rejoin(g.lending.Join("a"))
		time.Sleep(10 * time.Second)
		if s := g.own.State(time.Now()); s.InFlight != 4 { // those from before count again
			t.Errorf("%d in flight after the worker joined again, want 4", s.InFlight)
		}
		calls.Wait()
		if a.desk.most != 4 || len(a.desk.times) != 8 {
			t.Errorf("%d requests, up to %d in flight; want 8, 4", len(a.desk.times), a.desk.most)
		}
	})
}

// TestRequestsWithoutAdmissionCount raises the expected concurrency above the bound while requests without an admission are in
// flight.
func TestRequestsWithoutAdmissionCount(t *testing.T) {
	for _, road := range roads {
		t.Run(road.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, Limits{Connections: 10}, 10, 20*time.Second, road.delay, road.loss)
				defer g.close(t)
				var calls sync.WaitGroup
				calls.Go(func() { sends(t, g.workers[0].HTTP, 8, browse) })
				time.Sleep(time.Second)
				for _, w := range g.workers {
					w.b.Use(g.lending.Expect(100))
				}
				calls.Go(func() { g.send(t, 20, browse) })
				time.Sleep(10 * time.Second)
				if now := len(g.all.since(time.Now())); now != 10 {
					t.Errorf("%d requests are in flight, want 10", now)
				}
				calls.Wait()
				if g.all.most != 10 {
					t.Errorf("up to %d requests in flight, want 10", g.all.most)
				}
			})
		})
	}
}

// TestCanceledCallsOfAWorker checks that calls that end while they wait leave no admission behind.
func TestCanceledCallsOfAWorker(t *testing.T) {
	for _, road := range roads {
		t.Run(road.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGroup(t, Limits{Connections: 2, Rate: 50, Pace: pace.Fixed}, 0, 300*time.Millisecond, road.delay, road.loss)
				defer g.close(t)
				random := rand.New(rand.NewPCG(3, 4))
				var calls sync.WaitGroup
				for i := range 100 {
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.Int64N(int64(5*time.Second))))
					calls.Go(func() {
						defer cancel()
						timer := clock.New(ctx, time.Hour, errAttemptTimeout)
						defer timer.Stop()
						l, r := g.workers[i%2].b.Service("shop"), &admission.Request{Endpoint: browse}
						if l.Enter(ctx, r, queue{&Call{Clock: timer}}) == nil {
							time.Sleep(time.Second)
							l.Leave(r)
						}
					})
				}
				calls.Wait()
			})
		})
	}
}
