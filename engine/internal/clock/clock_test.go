package clock

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

var errOut = errors.New("out of time")

// endedAfter reports whether the clock's context has ended, and how long after start.
func endedAfter(t *testing.T, c *Clock, start time.Time, want time.Duration) {
	t.Helper()
	<-c.Context().Done()
	if got := time.Since(start); got != want {
		t.Errorf("ended after %v, want %v", got, want)
	}
	if got := context.Cause(c.Context()); !errors.Is(got, errOut) {
		t.Errorf("cause = %v, want %v", got, errOut)
	}
}

func TestClockEndsItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := New(t.Context(), 5*time.Second, errOut)
		defer c.Stop()
		endedAfter(t, c, start, 5*time.Second)
	})
}

func TestPausedClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		session := New(t.Context(), 10*time.Second, errOut)
		defer session.Stop()
		step := session.Child(4*time.Second, errors.New("step"))
		time.Sleep(3 * time.Second) // used: session 3, step 3
		step.Hold()
		time.Sleep(time.Hour)
		step.Release()
		time.Sleep(500 * time.Millisecond)
		if err := step.Context().Err(); err != nil {
			t.Fatalf("the step ended while it had time left: %v", err)
		}
		step.Stop()
		endedAfter(t, session, start, time.Hour+10*time.Second)
	})
}

func TestParentRunsWhileOneChildDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		chain := New(t.Context(), 10*time.Second, errOut)
		defer chain.Stop()
		a, b := chain.Child(0, nil), chain.Child(0, nil)
		a.Hold()
		time.Sleep(2 * time.Second) // b works: 2 used
		b.Hold()
		time.Sleep(time.Minute) // both held
		a.Release()
		time.Sleep(3 * time.Second) // a works: 5 used
		a.Stop()
		time.Sleep(time.Minute) // only b is left, and held
		b.Stop()
		endedAfter(t, chain, start, 2*time.Minute+10*time.Second)
	})
}

// TestUsedTimeIsWhatIsNotHeld pauses a clock and its children at random, nested, and compares the used time with a
// model.
func TestUsedTimeIsWhatIsNotHeld(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		moves := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 30).Draw(r, "moves")
		synctest.Test(t, func(t *testing.T) {
			const limit = 20 * time.Second
			start := time.Now()
			c := New(t.Context(), limit, errOut)
			defer c.Stop()
			child := c.Child(0, nil)
			used, holds := time.Duration(0), 0
			for _, m := range moves {
				switch m {
				case 0:
					child.Hold()
					holds++
				case 1:
					if holds > 0 {
						child.Release()
						holds--
					}
				default:
					time.Sleep(time.Second)
					if holds == 0 {
						used += time.Second
					}
				}
				synctest.Wait()
				if got, want := c.Context().Err() != nil, used >= limit; got != want {
					t.Fatalf("ended = %v after %v used of %v", got, used, limit)
				}
			}
			for ; holds > 0; holds-- {
				child.Release()
			}
			spent := time.Since(start)
			if used < limit {
				endedAfter(t, c, start, spent+limit-used)
			}
		})
	})
}

// TestClockIsUsedAgain rests a clock between pieces of work. It checks that each piece has the whole limit, that rest
// does not count, and that a clock whose time is over is not used again.
func TestClockIsUsedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(t.Context(), 10*time.Second, errOut)
		defer c.Stop()
		for range 3 {
			time.Sleep(9 * time.Second)
			if !c.Rest() {
				t.Fatal("a clock in order cannot rest")
			}
			time.Sleep(time.Hour)
			c.Again()
		}
		c.Hold()
		if c.Rest() {
			t.Error("a paused clock rests")
		}
		c.Release()
		child := c.Child(0, nil)
		if c.Rest() {
			t.Error("a clock rests while work under it continues")
		}
		child.Stop()
		start := time.Now()
		endedAfter(t, c, start, 10*time.Second)
		if c.Rest() {
			t.Error("a clock whose time is over rests")
		}
	})
}

// TestBranchesAreCanceledAlone cancels one of two branches. Its context and those of its children end with the cause, while its
// sibling and the parent continue. It counts as working until it is stopped.
func TestBranchesAreCanceledAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		c := New(t.Context(), 10*time.Second, errOut)
		defer c.Stop()
		a, b := c.Branch(), c.Branch()
		step := a.Child(time.Minute, nil)
		sibling := errors.New("sibling")
		b.Hold()
		a.Cancel(sibling)
		a.Cancel(errOut)
		for _, k := range []*Clock{a, step} {
			if got := context.Cause(k.Context()); !errors.Is(got, sibling) {
				t.Errorf("cause = %v, want %v", got, sibling)
			}
		}
		if c.Context().Err() != nil || b.Context().Err() != nil {
			t.Error("the cancel reached more than the branch")
		}
		time.Sleep(time.Second) // a still works: 1 used
		step.Stop()
		a.Stop()
		time.Sleep(time.Hour) // b is held
		b.Stop()
		if got := context.Cause(b.Context()); !errors.Is(got, context.Canceled) {
			t.Errorf("a stopped branch ends with %v", got)
		}
		endedAfter(t, c, start, time.Hour+10*time.Second)
	})
}

// TestSuspensionIsNotCounted checks that a timer that fires far too late counts as a standstill of the process, and
// that the work gets this time again. A little lateness does not count.
func TestSuspensionIsNotCounted(t *testing.T) {
	for late, ends := range map[time.Duration]bool{time.Hour: false, 4 * time.Second: true} {
		synctest.Test(t, func(t *testing.T) {
			over := errors.New("over")
			c := New(t.Context(), 10*time.Second, over)
			defer c.Stop()
			time.Sleep(3 * time.Second)
			c.mu.Lock()
			c.since = c.since.Add(-late) // as if the timer was due that much earlier
			c.mu.Unlock()
			time.Sleep(7 * time.Second)
			synctest.Wait()
			if got := c.Context().Err() != nil; got != ends {
				t.Errorf("%v late, its context has ended: %v, want %v", late, got, ends)
			}
			time.Sleep(11 * time.Second)
			if got := context.Cause(c.Context()); !errors.Is(got, over) {
				t.Errorf("once it had its time: %v", got)
			}
		})
	}
}

func TestSuspensionAfterAPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(t.Context(), 10*time.Second, errors.New("over"))
		defer c.Stop()
		time.Sleep(3 * time.Second)
		c.mu.Lock()
		c.since = c.since.Add(-time.Hour)
		c.mu.Unlock()
		c.Hold()
		time.Sleep(time.Minute)
		c.Release()
		time.Sleep(9 * time.Second)
		if c.Context().Err() != nil {
			t.Error("the standstill was counted")
		}
		time.Sleep(2 * time.Second)
		if c.Context().Err() == nil {
			t.Error("it never ends")
		}
	})
}

// TestCancel cancels a root clock, with and without a limit.
func TestCancel(t *testing.T) {
	for _, limit := range []time.Duration{0, time.Hour} {
		gone := errors.New("gone")
		c := New(t.Context(), limit, errors.New("over"))
		c.Cancel(gone)
		if got := context.Cause(c.Context()); !errors.Is(got, gone) || c.Rest() {
			t.Errorf("limit %v: %v", limit, got)
		}
		c.Stop()
	}
}
