package alarm

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestNoEarlyWakeUp(t *testing.T) {
	var a Alarm
	defer a.Close()
	var all sync.WaitGroup
	for range 2000 {
		d := rand.N(50 * time.Millisecond)
		all.Go(func() {
			began := time.Now()
			if err := a.Sleep(t.Context(), d); err != nil {
				t.Error(err)
			}
			if slept := time.Since(began); slept < d {
				t.Errorf("slept %v of %v", slept, d)
			}
		})
	}
	all.Wait()
	if len(a.waiting) > 0 {
		t.Errorf("%d are still waited for", len(a.waiting))
	}
}

func TestCanceledSleepLeavesTheOthers(t *testing.T) {
	var a Alarm
	defer a.Close()
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	var all sync.WaitGroup
	var canceled atomic.Int64
	for i := range 1000 {
		all.Go(func() {
			if i%2 > 0 {
				if err := a.Sleep(ctx, rand.N(time.Hour)+time.Minute); errors.Is(err, gone) {
					canceled.Add(1)
				}
			} else if err := a.Sleep(t.Context(), rand.N(20*time.Millisecond)); err != nil {
				t.Error(err)
			}
		})
	}
	cancel(gone)
	all.Wait()
	if n := canceled.Load(); n != 500 || len(a.waiting) > 0 {
		t.Errorf("%d of 500 were canceled, %d are still waited for", n, len(a.waiting))
	}
}

// TestCanceledSleepLeavesNothing checks that no timer keeps an alarm, and so a cut run, in memory until a sleeper would have
// woken.
func TestCanceledSleepLeavesNothing(t *testing.T) {
	var a Alarm
	defer a.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Sleep(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("a canceled sleep returned %v", err)
	}
	if a.late != nil && a.late.Stop() {
		t.Error("a timer is left for a canceled sleeper")
	}
}

func TestSleepersWakeAfterClose(t *testing.T) {
	var a Alarm
	woken := make(chan error, 2)
	sleep := func(d time.Duration) { woken <- a.Sleep(t.Context(), d) }
	go sleep(30 * time.Millisecond)
	for asleep := false; !asleep; {
		a.mu.Lock()
		asleep = len(a.waiting) > 0 || len(woken) > 0
		a.mu.Unlock()
	}
	a.Close()
	go sleep(time.Millisecond)
	for range 2 {
		if err := <-woken; err != nil {
			t.Error(err)
		}
	}
}

func TestCloseWithoutSleep(*testing.T) {
	var a Alarm
	a.Close()
}

func TestVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a Alarm
		defer a.Close()
		began := time.Now()
		if err := a.Sleep(t.Context(), time.Hour); err != nil {
			t.Error(err)
		}
		if slept := time.Since(began); slept != time.Hour {
			t.Errorf("slept %v of virtual time, want an hour", slept)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := a.Sleep(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a canceled sleep returned %v", err)
		}
	})
}

// BenchmarkSleep measures many concurrent sleeps, and for comparison as many timers of the runtime.
func BenchmarkSleep(b *testing.B) {
	crowd := func(b *testing.B, sleep func(d time.Duration)) {
		var all sync.WaitGroup
		for range 10_000 {
			all.Go(func() {
				for range b.N {
					sleep(10 * time.Millisecond)
				}
			})
		}
		all.Wait()
	}
	b.Run("alarm", func(b *testing.B) {
		var a Alarm
		defer a.Close()
		crowd(b, func(d time.Duration) { _ = a.Sleep(context.Background(), d) })
	})
	b.Run("timer", func(b *testing.B) { crowd(b, func(d time.Duration) { <-time.NewTimer(d).C }) })
}
