package breaker

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// tell makes attempts with these verdicts, one at a time, and reports whether the breaker is open then.
func tell(t *testing.T, b *Breaker, verdicts ...Verdict) bool {
	t.Helper()
	for _, v := range verdicts {
		p, ok, err := b.admit(time.Now())
		if !ok || err != nil {
			t.Fatalf("not admitted: %v", err)
		}
		b.Done(p, v, "status 503")
	}
	return b.state == engine.BreakerOpen
}

// pass passes a breaker without a call around it.
func pass(ctx context.Context, b *Breaker) (Pass, error) {
	return b.Pass(func(wait func(ctx context.Context) error) error { return wait(ctx) })
}

func TestBreakerOpens(t *testing.T) {
	many := func(n int, v ...Verdict) []Verdict { return slices.Repeat(v, n) }
	for _, tt := range []struct {
		name string
		says []Verdict
		open bool
		why  string
	}{
		{"nine in a row", many(9, Unavailable), false, ""},
		{"ten in a row", many(10, Unavailable), true, "10 requests in a row failed"},
		{"ten 500 s of ten calls", many(10, Failing), true, "10 requests in a row failed"},
		{"hundred of the same call", many(100, Repeated), false, ""},
		{"verdicts that say nothing do not interrupt", append(many(5, Unavailable, SaysNothing, WantsLess, Repeated), many(5, Unavailable)...), true, "10 requests in a row failed"},
		{"a 404 interrupts", append(append(many(9, Unavailable), Answered), many(9, Unavailable)...), false, ""},
		{"canceled", many(50, SaysNothing), false, ""},
		{"429", many(50, WantsLess), false, ""},
		{"half of nineteen", append(many(9, Answered, Unavailable), Answered), false, ""},
		{"half of twenty", many(10, Answered, Unavailable), true, "10 of 20 requests failed in 10 s"},
		{"less than half", many(40, Answered, Unavailable, Answered), false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := New("shop", false)
				if open := tell(t, b, tt.says...); open != tt.open || b.reason != tt.why {
					t.Errorf("open: %v, %q; want %v, %q", open, b.reason, tt.open, tt.why)
				}
				b.Close()
				off := New("shop", true)
				if tell(t, off, tt.says...) {
					t.Error("a breaker that is off opened")
				}
			})
		})
	}
}

// TestFailuresComeFirst checks that a few failures of many requests that left together do not open the breaker, although they return
// first.
func TestFailuresComeFirst(t *testing.T) {
	for _, tt := range []struct {
		bad  int
		open bool
	}{{18, false}, {180, false}, {190, true}, {372, true}} {
		synctest.Test(t, func(t *testing.T) {
			b := New("shop", false)
			var all []Pass
			for range 372 {
				p, ok, _ := b.admit(time.Now())
				if !ok || !b.Leave(&p) {
					t.Fatal("not admitted")
				}
				all = append(all, p)
			}
			for i, p := range all {
				v := Answered
				if i < tt.bad {
					v = Unavailable
				}
				b.Done(p, v, "status 503")
			}
			if open := b.state == engine.BreakerOpen; open != tt.open || b.under != 0 {
				t.Errorf("%d of 372 failed: open: %v, %d under way; want %v", tt.bad, open, b.under, tt.open)
			}
			b.Close()
		})
	}
}

// TestBreakerForgets checks that failure rates cover only the last ten seconds, while consecutive failures may be any
// time apart.
func TestBreakerForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("shop", false)
		for range 50 {
			if tell(t, b, Unavailable, Answered) {
				t.Fatal("opened by old failures")
			}
			time.Sleep(2 * time.Second)
		}
		for range 9 {
			tell(t, b, Failing)
			time.Sleep(time.Minute)
		}
		if !tell(t, b, Failing) {
			t.Error("ten in a row do not open the breaker")
		}
		b.Close()
	})
}

// TestProbes checks that one call at a time is a probe, in the order of arrival, after waits that double up to a minute, and that all
// calls continue after a probe is answered.
func TestProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("shop", false)
		tell(t, b, slices.Repeat([]Verdict{Unavailable}, 10)...)
		begin := time.Now()
		var mu sync.Mutex
		var at []time.Duration
		var who []int
		var under, through atomic.Int64
		var group sync.WaitGroup
		const good = 8 // this many probes fail
		for i := range 12 {
			group.Go(func() {
				for {
					p, err := pass(t.Context(), b)
					if err != nil {
						t.Error(err)
						return
					}
					if !p.Probe {
						through.Add(1)
						b.Done(p, Answered, "")
						return
					}
					if n := under.Add(1); n != 1 {
						t.Errorf("%d probes at the same time", n)
					}
					mu.Lock()
					at, who = append(at, time.Since(begin)), append(who, i)
					begin = time.Now().Add(100 * time.Millisecond) // when it ends
					n := len(at)
					mu.Unlock()
					time.Sleep(100 * time.Millisecond)
					under.Add(-1)
					if n > good {
						b.Done(p, Answered, "")
						return
					}
					if !b.Done(p, []Verdict{Unavailable, Failing, Repeated}[n%3], "status 503") {
						t.Error("a failed probe counts as an attempt")
					}
				}
			})
			synctest.Wait() // so that they wait in this order
		}
		group.Wait()
		want := []time.Duration{5, 10, 20, 40, 60, 60, 60, 60, 60}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(at, want) || !slices.Equal(who, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}) || through.Load() != 11 {
			t.Errorf("probes after %v by %v, then %d passed; want after %v in turn, and 11", at, who, through.Load(), want)
		}
	})
}

// TestCanceledProbe checks that the next call is a probe if the one before was canceled, and that a 429 closes the breaker.
func TestCanceledProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("shop", false)
		tell(t, b, slices.Repeat([]Verdict{Unavailable}, 10)...)
		first, err := pass(t.Context(), b)
		if err != nil || !first.Probe {
			t.Fatalf("%+v, %v", first, err)
		}
		begin := time.Now()
		waits := make(chan Pass, 1)
		go func() {
			p, err := pass(t.Context(), b)
			if err != nil {
				t.Error(err)
			}
			waits <- p
		}()
		synctest.Wait()
		b.Done(first, SaysNothing, "")
		second := <-waits
		if !second.Probe || time.Since(begin) != 0 {
			t.Errorf("then %+v after %s", second, time.Since(begin))
		}
		b.Done(first, Answered, "") // too late to mean anything
		if b.state != engine.BreakerHalfOpen {
			t.Errorf("it is %v", b.state)
		}
		b.Done(second, WantsLess, "")
		if b.state != engine.BreakerClosed {
			t.Errorf("after a 429 it is %v", b.state)
		}
	})
}

// TestBreakerInWords checks the texts that are shown and journaled.
func TestBreakerInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New("shop", false)
		tell(t, b, slices.Repeat([]Verdict{Answered, Unavailable, Unavailable}, 7)[:20]...)
		at := time.Now().Local().Format("15:04")
		shows := func(state engine.BreakerState, why string, next time.Duration) {
			t.Helper()
			var s engine.ServiceState
			b.Fill(&s, time.Now())
			if left := time.Until(s.NextProbe); s.Breaker != state || s.BreakerWhy != why || next > 0 && left != next || next == 0 && !s.NextProbe.IsZero() {
				t.Errorf("%v, next in %s: %s\nwant %v, %s: %s", s.Breaker, left, s.BreakerWhy, state, next, why)
			}
		}
		time.Sleep(2 * time.Second)
		shows(engine.BreakerOpen, "unavailable since "+at+": 13 of 20 requests failed in 10 s, last: status 503; next probe in 3 s", 3*time.Second)
		time.Sleep(4 * time.Second)
		shows(engine.BreakerOpen, "unavailable since "+at+": 13 of 20 requests failed in 10 s, last: status 503; the next request is a probe", 0)
		p, _, _ := b.admit(time.Now())
		shows(engine.BreakerHalfOpen, "unavailable since "+at+": 13 of 20 requests failed in 10 s, last: status 503; a probe is under way", 0)
		b.Done(p, Unavailable, "connection refused")
		shows(engine.BreakerOpen, "unavailable since "+at+": 13 of 20 requests failed in 10 s and a probe, last: connection refused; next probe in 10 s", 10*time.Second)
		time.Sleep(7 * time.Second)
		b.ProbeNow()
		b.ProbeNow() // a second one changes nothing
		shows(engine.BreakerOpen, "unavailable since "+at+": 13 of 20 requests failed in 10 s and a probe, last: connection refused; the next request is a probe", 0)
		time.Sleep(3 * time.Second)
		synctest.Wait()
		p, _, _ = b.admit(time.Now())
		b.Done(p, Answered, "")
		shows(engine.BreakerClosed, "", 0)
		if n := b.failed.Load(); n != 14 {
			t.Errorf("%d failures, want 14", n)
		}
		var got []string
		for _, m := range b.Moves() {
			got = append(got, strings.Join([]string{m.What, m.Old, m.New, m.Who, m.Why}, "|"))
		}
		want := []string{
			"shop breaker|closed|open|breaker|13 of 20 requests failed in 10 s, last: status 503",
			"shop breaker|open|closed|breaker|it answers again, after 16 s and a probe",
		}
		if !slices.Equal(got, want) || len(b.Moves()) > 0 {
			t.Errorf("moves\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
