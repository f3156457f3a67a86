package concurrency

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func TestLimitAdmitsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimit(0)
		var order []int
		var mu sync.Mutex
		for i := range 20 {
			go func() {
				if err := l.Acquire(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				l.Release()
			}()
			synctest.Wait() // so that they wait in order
		}
		if _, held, waiting := l.State(); held != 0 || waiting != 20 {
			t.Fatalf("at limit 0: %d held, %d waiting; want 0, 20", held, waiting)
		}
		l.SetLimit(1)
		synctest.Wait()
		for i, got := range order {
			if got != i {
				t.Fatalf("order = %v", order)
			}
		}
		if len(order) != 20 {
			t.Errorf("%d of 20 were admitted", len(order))
		}
	})
}

func TestCanceledWaitHoldsNoSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := NewLimit(1)
		if !l.TryAcquire() {
			t.Fatal("no slot is free")
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		first := make(chan error, 1)
		go func() { first <- l.AcquireN(ctx, 1) }()
		synctest.Wait()
		entered := make(chan struct{})
		go func() {
			if err := l.Acquire(t.Context()); err == nil {
				close(entered)
			}
		}()
		synctest.Wait()
		cancel(gone)
		if err := <-first; !errors.Is(err, gone) {
			t.Errorf("a canceled wait returned %v, want %v", err, gone)
		}
		l.Release()
		<-entered
		if limit, held, waiting := l.State(); limit != 1 || held != 1 || waiting != 0 {
			t.Errorf("state = %d %d %d, want 1 1 0", limit, held, waiting)
		}
	})
}

func TestMoreThanTheLimitIsAdmittedAlone(t *testing.T) {
	l := NewLimit(3)
	if err := l.AcquireN(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if l.TryAcquire() {
		t.Error("a caller was admitted next to one that holds more than the limit")
	}
	l.ReleaseN(5)
	if !l.TryAcquireN(3) {
		t.Error("slots were not released")
	}
}

// TestHoldersNeverExceedTheLimit changes the limit at random while many callers acquire and release.
func TestHoldersNeverExceedTheLimit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limits := rapid.SliceOfN(rapid.IntRange(0, 8), 1, 12).Draw(r, "limits")
		workers := rapid.IntRange(1, 30).Draw(r, "workers")
		synctest.Test(t, func(t *testing.T) {
			l := NewLimit(limits[0])
			var holders, passed atomic.Int64
			for i := range workers {
				go func() {
					for range 3 {
						if err := l.Acquire(t.Context()); err != nil {
							t.Error(err)
							return
						}
						holders.Add(1)
						time.Sleep(time.Duration(1+i%3) * 10 * time.Second)
						holders.Add(-1)
						passed.Add(1)
						l.Release()
					}
				}()
			}
			for _, limit := range limits {
				l.SetLimit(limit)
				time.Sleep(31 * time.Second) // all holders have released their slots
				if n := holders.Load(); n > int64(limit) {
					t.Errorf("%d holders with a limit of %d", n, limit)
				}
			}
			l.SetLimit(workers)
			time.Sleep(time.Hour)
			if n := passed.Load(); n != int64(3*workers) {
				t.Errorf("%d of %d passed", n, 3*workers)
			}
		})
	})
}

func TestSlotsAboveALoweredLimitAreReleased(t *testing.T) {
	var s Slots
	s.SetLimit(8)
	for range 8 {
		if !s.TryAcquire() {
			t.Fatal("no slot is free below the limit")
		}
	}
	if s.TryAcquire() {
		t.Error("a ninth slot of 8")
	}
	s.SetLimit(5)
	kept := 0
	for range 8 {
		if s.Keep() {
			kept++
		}
	}
	if kept != 5 || s.Held() != 5 {
		t.Errorf("%d kept, %d held; want 5, 5", kept, s.Held())
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	l := NewLimit(1)
	for b.Loop() {
		if err := l.Acquire(b.Context()); err != nil {
			b.Fatal(err)
		}
		l.Release()
	}
}

func BenchmarkKeep(b *testing.B) {
	var s Slots
	s.SetLimit(50)
	s.TryAcquire()
	for b.Loop() {
		s.Keep()
	}
}
