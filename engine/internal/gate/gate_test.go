package gate

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

func TestGateAdmitsInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(0)
		var order []int
		var mu sync.Mutex
		for i := range 20 {
			go func() {
				if err := g.Enter(t.Context()); err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				g.Leave()
			}()
			synctest.Wait() // so that they stand in line in order
		}
		if _, held, waiting := g.State(); held != 0 || waiting != 20 {
			t.Fatalf("at limit 0: %d held, %d waiting; want 0, 20", held, waiting)
		}
		g.SetLimit(1)
		synctest.Wait()
		for i, got := range order {
			if got != i {
				t.Fatalf("order = %v", order)
			}
		}
		if len(order) != 20 {
			t.Errorf("%d of 20 entered", len(order))
		}
	})
}

func TestGateCancelledWaitLeavesNoHole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := New(1)
		if !g.TryEnter() {
			t.Fatal("no place in an empty gate")
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		gone := errors.New("gone")
		first := make(chan error, 1)
		go func() { first <- g.EnterN(ctx, 1) }()
		synctest.Wait()
		entered := make(chan struct{})
		go func() {
			if err := g.Enter(t.Context()); err == nil {
				close(entered)
			}
		}()
		synctest.Wait()
		cancel(gone)
		if err := <-first; !errors.Is(err, gone) {
			t.Errorf("cancelled wait returned %v, want %v", err, gone)
		}
		g.Leave()
		<-entered
		if limit, held, waiting := g.State(); limit != 1 || held != 1 || waiting != 0 {
			t.Errorf("state = %d %d %d, want 1 1 0", limit, held, waiting)
		}
	})
}

func TestGateLargerThanLimitEntersAlone(t *testing.T) {
	g := New(3)
	if err := g.EnterN(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	if g.TryEnter() {
		t.Error("somebody entered beside one who takes more than there is")
	}
	g.LeaveN(5)
	if !g.TryEnterN(3) {
		t.Error("places were not given back")
	}
}

// TestGateNeverExceedsItsLimit moves the limit at random while many enter and leave.
func TestGateNeverExceedsItsLimit(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		limits := rapid.SliceOfN(rapid.IntRange(0, 8), 1, 12).Draw(r, "limits")
		workers := rapid.IntRange(1, 30).Draw(r, "workers")
		synctest.Test(t, func(t *testing.T) {
			g := New(limits[0])
			var inside, passed atomic.Int64
			for i := range workers {
				go func() {
					for range 3 {
						if err := g.Enter(t.Context()); err != nil {
							t.Error(err)
							return
						}
						inside.Add(1)
						time.Sleep(time.Duration(1+i%3) * 10 * time.Second)
						inside.Add(-1)
						passed.Add(1)
						g.Leave()
					}
				}()
			}
			for _, limit := range limits {
				g.SetLimit(limit)
				time.Sleep(31 * time.Second) // all who were inside have left
				if n := inside.Load(); n > int64(limit) {
					t.Errorf("%d inside with a limit of %d", n, limit)
				}
			}
			g.SetLimit(workers)
			time.Sleep(time.Hour)
			if n := passed.Load(); n != int64(3*workers) {
				t.Errorf("%d of %d passed", n, 3*workers)
			}
		})
	})
}

func TestPlacesAreLostOneByOne(t *testing.T) {
	var p Places
	p.SetLimit(8)
	for range 8 {
		if !p.Take() {
			t.Fatal("no place under the limit")
		}
	}
	if p.Take() {
		t.Error("a ninth place of 8")
	}
	p.SetLimit(5)
	kept := 0
	for range 8 {
		if p.Keep() {
			kept++
		}
	}
	if kept != 5 || p.Held() != 5 {
		t.Errorf("%d kept, %d held; want 5, 5", kept, p.Held())
	}
}

func BenchmarkEnterLeave(b *testing.B) {
	g := New(1)
	for b.Loop() {
		if err := g.Enter(b.Context()); err != nil {
			b.Fatal(err)
		}
		g.Leave()
	}
}

func BenchmarkKeep(b *testing.B) {
	var p Places
	p.SetLimit(50)
	p.Take()
	for b.Loop() {
		p.Keep()
	}
}
