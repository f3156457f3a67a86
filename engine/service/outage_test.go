package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine/service/breaker"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// backend is a service that is unavailable for some time.
type backend struct {
	away, back time.Time
	how        func(r *http.Request) reply // answers while it is unavailable
	takes      time.Duration

	mu           sync.Mutex
	during, keys map[string]int // requests by key: while it was unavailable, and answered
	most         int            // most in one second while it was unavailable
	second       map[int64]int
}

func newBackend(from, length time.Duration, how func(*http.Request) reply) *backend {
	return &backend{
		away: time.Now().Add(from), back: time.Now().Add(from + length), how: how, takes: 100 * time.Millisecond,
		during: map[string]int{}, keys: map[string]int{}, second: map[int64]int{},
	}
}

func (b *backend) RoundTrip(r *http.Request) (*http.Response, error) {
	key := r.Header.Get("Idempotency-Key")
	now := time.Now()
	if now.Before(b.away) || !now.Before(b.back) {
		b.mu.Lock()
		b.keys[key]++
		b.mu.Unlock()
		time.Sleep(b.takes)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("x")), ContentLength: 1, Request: r}, nil
	}
	b.mu.Lock()
	b.during[key]++
	b.second[now.Unix()]++
	b.most = max(b.most, b.second[now.Unix()])
	b.mu.Unlock()
	return (&script{answers: []reply{b.how(r)}}).RoundTrip(r)
}

func (b *backend) asked() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, times := range b.during {
		n += times
	}
	return n
}

// crowd runs agents that make one call each, and returns their rows and the duration.
func crowd(t *testing.T, agents, limit int, do func(s *engine.Session, call *Call) error) ([]engine.SessionRow, *engine.Snapshot) {
	t.Helper()
	journal := &enginetest.Journal{}
	settings := engine.DefaultSettings()
	settings.Metrics, settings.CheckpointEvery, settings.Limit, settings.Ceiling = false, 0, limit, max(limit, 1)
	run, err := run.Start(t.Context(), run.Config{
		ID: "run", Agents: agents, Settings: settings, Journal: journal,
		Program: program(func(s *engine.Session) {
			call := callOf(s, "step")
			end(s, call, do(s, call))
		}),
		Clock: engine.Clock{Start: time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC), Cycle: time.Hour},
	})
	if err != nil {
		t.Fatal(err)
	}
	run.Wait()
	return journal.Sessions(), run.Snapshot()
}

func isAway(r reply) func(*http.Request) reply { return func(*http.Request) reply { return r } }

// TestBackendAwayForAnHour checks that a run survives a backend that is unavailable for an hour: no session fails, the backend gets
// few requests in the meantime, and the result is exact if repeats are harmless. Otherwise the result says that it is not exact.
func TestBackendAwayForAnHour(t *testing.T) {
	for _, tt := range []struct {
		name          string
		agents, limit int
		from          time.Duration
		how           reply
		lost          int // at most
	}{
		{"no response", 200, 200, 0, reply{err: errRefused}, 0},
		{"503", 200, 200, 0, reply{status: 503}, 0},
		{"silence", 200, 200, 0, reply{hangs: true}, 0},
		{"in the middle", 2000, 50, time.Second, reply{status: 502, after: time.Second}, 0},
		{"500", 200, 200, 0, reply{status: 500}, 0},
		// until ten in a row have failed that no call alone can cause
		{"few concurrent", 40, 4, 250 * time.Millisecond, reply{err: errReset}, 1}, // with short random waits
		{"few concurrent, silence", 40, 4, 250 * time.Millisecond, reply{hangs: true}, 8},
		{"one after another, 503", 20, 1, 250 * time.Millisecond, reply{status: 503}, 1},
		{"one after another, 500", 20, 1, 250 * time.Millisecond, reply{status: 500}, 9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBackend(tt.from, time.Hour, isAway(tt.how))
				h := client(t, b, Limits{})
				begin := time.Now()
				rows, last := crowd(t, tt.agents, tt.limit, func(_ *engine.Session, call *Call) error {
					call.Repeats = Harmless
					_, err := h.Do(call, Request{Method: "POST", Target: must(t, "/x")})
					return err
				})
				failed := 0
				for i := range rows {
					if rows[i].Outcome != engine.OK {
						failed++
						t.Logf("agent %d: %s", rows[i].Agent, rows[i].Error)
					}
				}
				took := time.Since(begin)
				t.Logf("%d sessions, %d failed, in %s; %d requests while it was away, at most %d in a second", len(rows), failed, took, b.asked(), b.most)
				if len(rows) != tt.agents || failed > tt.lost || (last.Inexact == nil) != (failed == 0) {
					t.Errorf("%d sessions, %d failed; %v", len(rows), failed, last.Inexact)
				}
				if n := b.asked(); n > tt.limit+120 {
					t.Errorf("%d requests while it was away", n)
				}
				if after := took - time.Hour; after > 3*time.Minute {
					t.Errorf("it took %s after the backend came back", after)
				}
				for key, n := range b.keys {
					if n != 1 {
						t.Errorf("%s was answered %d times", key, n)
					}
				}
			})
		})
	}
}

// TestBackendThatNeverAnswers checks that calls wait for two hours. Then all of them fail, and later ones fail
// immediately until the backend is available again.
func TestBackendThatNeverAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBackend(0, 5*time.Hour, isAway(reply{status: 503}))
		h := client(t, b, Limits{})
		do := func(_ *engine.Session, call *Call) error {
			_, err := h.Do(call, Request{Method: "GET", Target: must(t, "/x")})
			return err
		}
		begin := time.Now()
		rows, last := crowd(t, 50, 50, do)
		for i := range rows {
			if r := &rows[i]; r.Class != engine.Network && r.Class != engine.ServerError || r.Total > breaker.Patience+3*time.Minute {
				t.Errorf("agent %d: %q after %s: %s", r.Agent, r.Class, r.Total, r.Error)
			}
		}
		if took := time.Since(begin); took < time.Hour || took > breaker.Patience+3*time.Minute || last.Inexact == nil {
			t.Errorf("it took %s; inexact: %v", took, last.Inexact)
		}
		if s := h.State(time.Now()); s.Breaker != engine.BreakerOpen || !strings.Contains(s.BreakerWhy, "requests fail immediately") {
			t.Errorf("then it is %v: %s", s.Breaker, s.BreakerWhy)
		}
		begin = time.Now()
		rows, _ = crowd(t, 50, 50, do)
		if took := time.Since(begin); took > 5*time.Minute {
			t.Errorf("the next took %s", took)
		}
		if got, want := rows[49].Error, "shop has been unavailable for "; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "last: status 503") {
			t.Errorf("the error is %q", got)
		}
		time.Sleep(time.Until(b.back) + breaker.MostOpen)
		rows, _ = crowd(t, 50, 1, do)
		for i := range rows {
			if rows[i].Outcome != engine.OK {
				t.Errorf("when it is back: %s", rows[i].Error)
			}
		}
	})
}

// TestCallsThatAlwaysFail checks that calls that a service always answers with an error of its own end, and do not
// delay others.
func TestCallsThatAlwaysFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBackend(0, 0, nil)
		h := client(t, b, Limits{})
		begin := time.Now()
		poison := &script{answers: []reply{{status: 500}}}
		h.transport.base = roundTrip(func(r *http.Request) (*http.Response, error) {
			if strings.Contains(r.URL.Path, "bad") {
				return poison.RoundTrip(r)
			}
			return b.RoundTrip(r)
		})
		rows, _ := crowd(t, 372, 100, func(s *engine.Session, call *Call) error {
			path := "/x"
			if s.Agent%20 == 0 {
				path = "/bad"
			}
			_, err := h.Do(call, Request{Method: "GET", Target: must(t, path)})
			return err
		})
		for i := range rows {
			if r := &rows[i]; (r.Outcome == engine.OK) == (r.Agent%20 == 0) || r.Outcome != engine.OK && r.Steps[0].Attempts != 5 {
				t.Errorf("agent %d: %v after %d attempts", r.Agent, r.Outcome, r.Steps[0].Attempts)
			}
		}
		took := time.Since(begin)
		t.Logf("19 of 372 calls always fail: %s, %d requests of theirs", took, len(poison.requests()))
		if took > 40*time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

// TestStopDuringAnOutage stops a run whose backend is unavailable. Sessions that only wait for it are cut immediately, those that wait
// for a response finish, and a resumed run gets the results of an undisturbed one.
func TestStopDuringAnOutage(t *testing.T) {
	var undisturbed string
	for _, outage := range []time.Duration{0, 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			b := newBackend(350*time.Millisecond, outage, isAway(reply{err: errRefused}))
			h := client(t, b, Limits{})
			journal := &enginetest.Journal{}
			settings := engine.DefaultSettings()
			settings.Metrics, settings.CheckpointEvery, settings.Limit, settings.Ceiling = false, 0, 50, 50
			cfg := run.Config{
				ID: "run", Agents: 500, Settings: settings, Journal: journal, Services: []engine.Service{h},
				Clock: engine.Clock{Start: time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC), Cycle: time.Hour},
				Program: program(func(s *engine.Session) {
					call := callOf(s, "step")
					call.Repeats = Harmless
					method := "POST"
					if s.Agent%7 == 0 {
						method = "GET"
					}
					_, err := h.Do(call, Request{Method: method, Target: must(t, "/x")})
					end(s, call, err)
				}),
			}
			cfg.Settings.Cycles = 1
			start := func() *run.Run {
				r, err := run.Start(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			r := start()
			if outage > 0 {
				time.Sleep(10 * time.Minute)
				if s := h.State(time.Now()); s.Breaker == engine.BreakerClosed || s.Waiting == 0 {
					t.Fatalf("before the stop: %+v", s)
				}
				began := time.Now()
				if err := r.Stop("user", "Ctrl+C"); err != nil {
					t.Fatal(err)
				}
				got := r.Wait()
				s := r.Snapshot()
				if took := time.Since(began); took > time.Second || got.Ending != engine.EndStopped || got.Totals.Bad() > 0 || s.Cut == 0 || s.Begun != s.Ended+s.Cut {
					t.Errorf("it ended as %v (%s) after %s: %d begun, %d ended, %d failed, %d cut", got.Ending, got.Reason, took, s.Begun, s.Ended, got.Totals.Bad(), s.Cut)
				}
				journal = journal.Reopen()
				cfg.Journal, cfg.Resume = journal, journal.Resumption()
				h = client(t, newBackend(0, 0, nil), Limits{})
				cfg.Services = []engine.Service{h}
				r = start()
			}
			if got := r.Wait(); got.Ending != engine.EndFinished || got.Totals.Ended() != 500 {
				t.Errorf("it ended as %v (%s) with %d sessions", got.Ending, got.Reason, got.Totals.Ended())
			}
			if r.Snapshot().Inexact != nil {
				t.Errorf("the run is %s", r.Snapshot().Inexact)
			}
			results := enginetest.Results(journal.Sessions())
			if outage == 0 {
				undisturbed = results
			} else if results != undisturbed {
				t.Errorf("results differ; undisturbed:\n%s\nstopped and resumed:\n%s", undisturbed, results)
			}
		})
	}
}

// TestWhatIsNotSpared checks which attempts count although the service is unavailable.
func TestWhatIsNotSpared(t *testing.T) {
	for _, tt := range []struct {
		name     string
		answer   reply
		change   func(*Call)
		attempts int
	}{
		{"what must not happen twice", reply{status: 503}, once, 1},
		{"what is tried once only", reply{status: 503}, func(c *Call) { c.Retry.Attempts = 1 }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := client(t, &script{answers: []reply{tt.answer}}, Limits{})
				trip(t, h.transport.breaker)
				row := stage{}.play(t, func(s *engine.Session) {
					c := callOf(s, "step")
					if tt.change != nil {
						tt.change(c)
					}
					_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/x")})
					end(s, c, err)
				})
				if got := row.Steps[0]; row.Outcome != engine.Failed || got.Attempts != tt.attempts || got.Waits[engine.ThrottledByBreaker] < breaker.FirstOpen {
					t.Errorf("%v after %d attempts, held %s; want %d", row.Outcome, got.Attempts, got.Waits[engine.ThrottledByBreaker], tt.attempts)
				}
			})
		})
	}
}

// TestWaitsForTheBreakerEnd checks that a waiting call ends with its session, and leaves no hole.
func TestWaitsForTheBreakerEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := client(t, &script{answers: []reply{ok200("x")}}, Limits{})
		trip(t, h.transport.breaker)
		ctx, cancel := context.WithCancelCause(t.Context())
		retired := errors.New("retired")
		var group sync.WaitGroup
		var first error
		stage{}.play(t, func(s *engine.Session) {
			for i := range 3 {
				c := callOf(s, fmt.Sprint("step", i))
				group.Go(func() {
					if i == 0 {
						_, first = h.transport.begin(ctx, c)
						return
					}
					if _, err := h.Do(c, Request{Method: "GET", Target: must(t, "/x")}); err != nil {
						t.Error(err)
					}
				})
				synctest.Wait() // so that they wait in order
			}
			cancel(retired)
			group.Wait()
			s.Row.Outcome = engine.OK
		})
		if !errors.Is(first, retired) {
			t.Errorf("the first ended with %v", first)
		}
		if s := h.State(time.Now()); s.Breaker != engine.BreakerClosed || s.InFlight != 0 || s.Waiting != 0 {
			t.Errorf("in the end: %+v", s)
		}
	})
}
