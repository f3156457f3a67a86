package service

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
)

// bare is a call of no session, as a test of the parts of a transport needs it.
func bare(t *testing.T) *Call {
	t.Helper()
	timer := clock.New(t.Context(), 0, nil)
	t.Cleanup(timer.Stop)
	return &Call{Clock: timer, Retry: engine.DefaultSettings().Retry}
}

// tell makes attempts one after another with these verdicts, and says whether the breaker is open then.
func tell(t *testing.T, b *breaker, verdicts ...verdict) bool {
	t.Helper()
	for _, v := range verdicts {
		p, ok, err := b.admit(time.Now())
		if !ok || err != nil {
			t.Fatalf("not let through: %v", err)
		}
		b.done(p, v, "status 503")
	}
	return b.state == engine.BreakerOpen
}

// hurry makes a breaker of a test without virtual time try soon.
func (b *breaker) hurry() {
	b.first = 50 * time.Millisecond
}

func TestBreakerOpens(t *testing.T) {
	many := func(n int, v ...verdict) []verdict { return slices.Repeat(v, n) }
	for _, tt := range []struct {
		name string
		says []verdict
		open bool
		why  string
	}{
		{"nine in a row", many(9, away), false, ""},
		{"ten in a row", many(10, away), true, "10 requests in a row failed"},
		{"ten 500s of ten calls", many(10, failing), true, "10 requests in a row failed"},
		{"hundred of the same call", many(100, repeated), false, ""},
		{"what says nothing is not between", append(many(5, away, saysNothing, wantsLess, repeated), many(5, away)...), true, "10 requests in a row failed"},
		{"a 404 is", append(append(many(9, away), answered), many(9, away)...), false, ""},
		{"cancelled", many(50, saysNothing), false, ""},
		{"429", many(50, wantsLess), false, ""},
		{"half of nineteen", append(many(9, answered, away), answered), false, ""},
		{"half of twenty", many(10, answered, away), true, "10 of 20 requests failed in 10s"},
		{"less than half", many(40, answered, away, answered), false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBreaker("shop", false)
				if open := tell(t, b, tt.says...); open != tt.open || b.reason != tt.why {
					t.Errorf("open: %v, %q; want %v, %q", open, b.reason, tt.open, tt.why)
				}
				b.end()
				off := newBreaker("shop", true)
				if tell(t, off, tt.says...) {
					t.Error("it opens although it is off")
				}
			})
		})
	}
}

// TestFailuresComeFirst is that a few failures of many requests that left together do not open the breaker though they
// come back before all others.
func TestFailuresComeFirst(t *testing.T) {
	for _, tt := range []struct {
		bad  int
		open bool
	}{{18, false}, {180, false}, {190, true}, {372, true}} {
		synctest.Test(t, func(t *testing.T) {
			b := newBreaker("shop", false)
			var all []passage
			for range 372 {
				p, ok, _ := b.admit(time.Now())
				if !ok || !b.leave(&p) {
					t.Fatal("not let through")
				}
				all = append(all, p)
			}
			for i, p := range all {
				v := answered
				if i < tt.bad {
					v = away
				}
				b.done(p, v, "status 503")
			}
			if open := b.state == engine.BreakerOpen; open != tt.open || b.under != 0 {
				t.Errorf("%d of 372 failed: open: %v, %d under way; want %v", tt.bad, open, b.under, tt.open)
			}
			b.end()
		})
	}
}

// TestBreakerForgets is that shares are of the last ten seconds, and that failures in a row may be as far apart as they
// like: those of a service that says nothing come when their time is over.
func TestBreakerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker("shop", false)
		for range 50 {
			if tell(t, b, away, answered) {
				t.Fatal("open by what was long ago")
			}
			time.Sleep(2 * time.Second)
		}
		for range 9 {
			tell(t, b, failing)
			time.Sleep(time.Minute)
		}
		if !tell(t, b, failing) {
			t.Error("ten in a row do not open it")
		}
		b.end()
	})
}

// TestBreakerTries is that one call tries at a time, in the order in which they came, after waits that double to a
// minute; and that all go on when one is answered.
func TestBreakerTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker("shop", false)
		tell(t, b, slices.Repeat([]verdict{away}, 10)...)
		begin := time.Now()
		var mu sync.Mutex
		var at []time.Duration
		var who []int
		var under, through atomic.Int64
		var group sync.WaitGroup
		const good = 8 // this many tries fail
		for i := range 12 {
			call := bare(t)
			group.Go(func() {
				for {
					p, err := b.pass(t.Context(), call)
					if err != nil {
						t.Error(err)
						return
					}
					if !p.probe {
						through.Add(1)
						b.done(p, answered, "")
						return
					}
					if n := under.Add(1); n != 1 {
						t.Errorf("%d tries at once", n)
					}
					mu.Lock()
					at, who = append(at, time.Since(begin)), append(who, i)
					begin = time.Now().Add(100 * time.Millisecond) // when it ends
					n := len(at)
					mu.Unlock()
					time.Sleep(100 * time.Millisecond)
					under.Add(-1)
					if n > good {
						b.done(p, answered, "")
						return
					}
					if !b.done(p, []verdict{away, failing, repeated}[n%3], "status 503") {
						t.Error("a try that failed counts as an attempt")
					}
				}
			})
			synctest.Wait() // so that they wait in order
		}
		group.Wait()
		want := []time.Duration{5, 10, 20, 40, 60, 60, 60, 60, 60}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(at, want) || !slices.Equal(who, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}) || through.Load() != 11 {
			t.Errorf("tries after %v each by %v, then %d went through; want after %v by one after another, and 11", at, who, through.Load(), want)
		}
	})
}

// TestTryThatSaysNothing is that the next call tries where the one before was cancelled, and that a 429 will do.
func TestTryThatSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBreaker("shop", false)
		tell(t, b, slices.Repeat([]verdict{away}, 10)...)
		first, err := b.pass(t.Context(), bare(t))
		if err != nil || !first.probe {
			t.Fatalf("%+v, %v", first, err)
		}
		begin := time.Now()
		waits := make(chan passage, 1)
		call := bare(t)
		go func() {
			p, err := b.pass(t.Context(), call)
			if err != nil {
				t.Error(err)
			}
			waits <- p
		}()
		synctest.Wait()
		b.done(first, saysNothing, "")
		second := <-waits
		if !second.probe || time.Since(begin) != 0 {
			t.Errorf("then %+v after %s", second, time.Since(begin))
		}
		b.done(first, answered, "") // too late to mean anything
		if b.state != engine.BreakerHalfOpen {
			t.Errorf("it is %v", b.state)
		}
		b.done(second, wantsLess, "")
		if b.state != engine.BreakerClosed {
			t.Errorf("after a 429 it is %v", b.state)
		}
	})
}

// TestBreakerInWords is what is shown of a breaker, and what is journaled.
func TestBreakerInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := client(t, &script{answers: []reply{ok200("")}}, Limits{})
		b := h.transport.breaker
		tell(t, b, slices.Repeat([]verdict{answered, away, away}, 7)[:20]...)
		at := time.Now().Local().Format("15:04")
		shows := func(state engine.BreakerState, why string, next time.Duration) {
			t.Helper()
			s := h.State(time.Now())
			if left := time.Until(s.NextProbe); s.Breaker != state || s.BreakerWhy != why || next > 0 && left != next || next == 0 && !s.NextProbe.IsZero() {
				t.Errorf("%v, next in %s: %s\nwant %v, %s: %s", s.Breaker, left, s.BreakerWhy, state, next, why)
			}
		}
		time.Sleep(2 * time.Second)
		shows(engine.BreakerOpen, "open since "+at+": 13 of 20 requests failed in 10s, last: status 503; next try in 3.0s", 3*time.Second)
		time.Sleep(4 * time.Second)
		shows(engine.BreakerOpen, "open since "+at+": 13 of 20 requests failed in 10s, last: status 503; the next request is a try", 0)
		p, _, _ := b.admit(time.Now())
		shows(engine.BreakerHalfOpen, "open since "+at+": 13 of 20 requests failed in 10s, last: status 503; a try is under way", 0)
		b.done(p, away, "connection refused")
		shows(engine.BreakerOpen, "open since "+at+": 13 of 20 requests failed in 10s and a try, last: connection refused; next try in 10s", 10*time.Second)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		p, _, _ = b.admit(time.Now())
		b.done(p, answered, "")
		shows(engine.BreakerClosed, "", 0)
		if s := h.State(time.Now()); s.Failures != 14 {
			t.Errorf("%d failures", s.Failures)
		}
		var got []string
		for _, m := range h.Moves() {
			got = append(got, strings.Join([]string{m.What, m.Old, m.New, m.Who, m.Why}, "|"))
		}
		want := []string{
			"shop breaker|closed|open|breaker|13 of 20 requests failed in 10s, last: status 503",
			"shop breaker|open|closed|breaker|it answers again, after 16s and a try",
		}
		if !slices.Equal(got, want) || len(h.Moves()) > 0 {
			t.Errorf("moves\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestVerdicts is what answers and failures say about a service.
func TestVerdicts(t *testing.T) {
	for _, tt := range []struct {
		answer reply
		change func(*Call)
		bad    int64
		open   bool // after ten calls
	}{
		{ok200(""), nil, 0, false},
		{reply{status: 404}, nil, 0, false},
		{reply{status: 401}, nil, 0, false},
		{reply{status: 408}, nil, 0, false},
		{reply{status: 501}, nil, 0, false},
		{reply{status: 503}, func(c *Call) { c.Expect = []int{503} }, 0, false},
		{reply{status: 500}, nil, 10, true},
		{reply{status: 504}, nil, 10, true},
		{reply{err: errReset}, nil, 10, true},
		{reply{err: errRefused}, nil, 10, true},
		{reply{hangs: true}, nil, 10, true},
		{ok200(strings.Repeat("x", maxBody+1)), nil, 0, false},
		{ok200("!"), func(c *Call) { c.Accept = func(*Answer) error { return engine.Fail(engine.BadAnswer, "no") } }, 0, false},
		{ok200("!"), func(c *Call) { c.Accept = func(*Answer) error { return engine.Fail(engine.ServerError, "told") } }, 10, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := client(t, &script{answers: []reply{tt.answer}}, Limits{})
			for range 10 {
				c := bare(t)
				c.Retry.Attempts = 1
				if tt.change != nil {
					tt.change(c)
				}
				_, _ = h.Do(c, Request{Method: http.MethodGet, Target: must(t, "/x")}) // what comes of it is shown
			}
			if s := h.State(time.Now()); s.Failures != tt.bad || (s.Breaker == engine.BreakerOpen) != tt.open {
				t.Errorf("%d %v: %d failures, %v; want %d, open: %v", tt.answer.status, tt.answer.err, s.Failures, s.Breaker, tt.bad, tt.open)
			}
			h.Close()
		})
	}
}
