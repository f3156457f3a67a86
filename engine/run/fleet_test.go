package run_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/fleet/fleettest"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service/lending"
	"github.com/throng-sim/throng/engine/workers"
)

// testFleet is a fleet whose workers are in this process. Its transport carries messages as between processes.
type testFleet struct {
	t      *testing.T
	bus    *fleettest.Bus
	of     *fleet.Coordinator
	mu     sync.Mutex
	ends   map[string]func()
	links  map[string]*fleettest.Link
	all    sync.WaitGroup
	closed bool
	apart  bool // each worker has its own copy of the program
	parts  int
	taken  []int  // indexes of the parts that workers prepared for
	over   func() // is called between the end of the run and that of the fleet, unless it is nil
}

func newFleet(t *testing.T, f fleettest.Faults) *testFleet {
	t.Helper()
	bus := fleettest.NewBus(f)
	return &testFleet{t: t, bus: bus, of: fleet.New(bus, fleet.Config{}), ends: map[string]func(){}, links: map[string]*fleettest.Link{}}
}

// pool returns the pool of a run whose program the workers also have.
func (f *testFleet) pool(workers int) func(run.PoolConfig) (run.WorkerPool, error) {
	return func(cfg run.PoolConfig) (run.WorkerPool, error) {
		p, err := f.of.Pool(context.Background(), nil, fleet.PoolConfig{Parts: f.parts})(cfg)
		if err != nil {
			return nil, err
		}
		for i := range workers {
			f.join(fmt.Sprint("w", i), cfg.Program)
		}
		return &closing{p, f}, nil
	}
}

// closing ends the fleet with the pool of its only run.
type closing struct {
	run.WorkerPool
	fleet *testFleet
}

func (c *closing) Close() {
	c.WorkerPool.Close()
	if c.fleet.over != nil {
		c.fleet.over()
	}
	c.fleet.close()
}

// join starts a worker.
func (f *testFleet) join(name string, p engine.Program) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return
	}
	if end, ok := f.ends[name]; ok { // as after a kill
		_ = f.links[name].Close()
		end()
	}
	if c, ok := p.(*enginetest.Crowd); ok && f.apart {
		p = c.Copy()
	}
	ctx, end := context.WithCancel(context.Background())
	link := f.bus.Join(name)
	f.ends[name], f.links[name] = end, link
	f.all.Go(func() {
		_ = fleet.Work(ctx, fleet.WorkerConfig{
			Link: link, Info: fleet.Info{Cores: 1},
			Prepare: func(_ context.Context, _ []byte, _ *lending.Borrower, part fleet.Part) (*fleet.Prepared, error) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.taken = append(f.taken, part.Index)
				return &fleet.Prepared{Program: p}, nil
			},
		})
	})
}

// kill ends a worker as if its process were killed: nothing of it arrives anymore.
func (f *testFleet) kill(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if end, ok := f.ends[name]; ok {
		_ = f.links[name].Close()
		end()
	}
}

// part cuts a worker off, or connects it again.
func (f *testFleet) part(name string, parted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if link, ok := f.links[name]; ok {
		link.Part(parted)
	}
}

func (f *testFleet) close() {
	_ = f.of.Close()
	f.mu.Lock()
	f.closed = true
	for _, end := range f.ends {
		end()
	}
	f.mu.Unlock()
	f.all.Wait()
}

func TestFleetExecutesAllCycles(t *testing.T) {
	for _, workers := range []int{1, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			j, whole := &enginetest.Journal{}, &enginetest.Journal{}
			config := func(j *enginetest.Journal) run.Config {
				cfg := enginetest.Config(60, &enginetest.Crowd{Asks: 4, Work: time.Second, Remember: 0.5, Events: 2, Fail: 0.1}, j)
				cfg.Settings.Limit, cfg.Settings.Cycles = 7, 4
				return cfg
			}
			start(t, config(whole)).Wait()
			cfg := config(j)
			cfg.Pool = newFleet(t, fleettest.Faults{}).pool(workers)
			got := start(t, cfg).Wait()
			if got.Ending != engine.EndFinished {
				t.Fatalf("%d workers: it ended as %v: %s", workers, got.Ending, got.Reason)
			}
			if a, b := enginetest.Results(j.Sessions()), enginetest.Results(whole.Sessions()); a != b {
				t.Errorf("%d workers: results\n%s\nwant\n%s", workers, a, b)
			}
		})
	}
}

// TestResultOverAFleet checks the usual promises for a run whose sessions three workers execute: nothing changes its results, no
// request with a journaled answer is sent again, and the limit holds.
func TestResultOverAFleet(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		l := drawCase(r)
		workers := rapid.IntRange(1, 3).Draw(r, "workers")
		f := fleettest.Faults{Seed: rapid.Uint64().Draw(r, "faults")}
		l.pool = func(cfg run.PoolConfig) (run.WorkerPool, error) { return newFleet(t, f).pool(workers)(cfg) }
		check(r, t, l.check)
	})
}

// TestSlowDiskUnderAFleet checks that a run continues although nothing is durable for a minute, in which its worker sends hundreds of
// reports.
func TestSlowDiskUnderAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, whole := &enginetest.Journal{}, &enginetest.Journal{}
		config := func(j *enginetest.Journal) run.Config {
			cfg := enginetest.Config(10, &enginetest.Crowd{Asks: 4, Work: time.Second}, j)
			cfg.Settings.Limit = 2
			return cfg
		}
		start(t, config(whole)).Wait()
		cfg := config(j)
		cfg.Pool = newFleet(t, fleettest.Faults{}).pool(1)
		r := start(t, cfg)
		time.Sleep(1500 * time.Millisecond)
		j.Stall()
		time.Sleep(time.Minute)
		j.Heal()
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Fatalf("it ended as %v: %s", got.Ending, got.Reason)
		}
		if a, b := enginetest.Results(j.Sessions()), enginetest.Results(whole.Sessions()); a != b {
			t.Errorf("results\n%s\nwant\n%s", a, b)
		}
	})
}

// TestBudgetOverAFleet checks that sessions in other processes claim from the run's single budget. It is used up exactly, and
// the run ends with the same reason as in one process.
func TestBudgetOverAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live := func(pool func(run.PoolConfig) (run.WorkerPool, error)) (run.Result, int64) {
			j := &enginetest.Journal{}
			cfg := enginetest.Config(40, &enginetest.Crowd{Asks: 6, Work: time.Second}, j)
			cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Settings.Budget.Requests, cfg.Pool = 1, 2, 50, pool
			result := start(t, cfg).Wait()
			return result, result.Totals.Spent().Requests
		}
		want, wantSpent := live(nil)
		got, spent := live(newFleet(t, fleettest.Faults{}).pool(2))
		if want.Ending != engine.EndOutOfBudget || got.Ending != want.Ending || got.Reason != want.Reason || spent != wantSpent {
			t.Errorf("got ending %v for %q with %d requests, want %v, %q, %d", got.Ending, got.Reason, spent, want.Ending, want.Reason, wantSpent)
		}
	})
}

// TestHopelessOverAFleet checks that a run learns why sessions in another process fail, and that the failure is permanent.
func TestHopelessOverAFleet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := enginetest.Config(40, &enginetest.Crowd{Fail: 1}, nil)
		cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Pool = 4, 2, newFleet(t, fleettest.Faults{}).pool(2)
		if got := start(t, cfg).Wait(); got.Ending != engine.EndHopeless || !strings.Contains(got.Reason, "as planned") {
			t.Errorf("got ending %v: %s", got.Ending, got.Reason)
		}
	})
}

// TestLostWorker checks that a run whose worker disappears finishes on the others, with the undisturbed results.
func TestLostWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j, whole := &enginetest.Journal{}, &enginetest.Journal{}
		config := func(j *enginetest.Journal) run.Config {
			cfg := enginetest.Config(60, &enginetest.Crowd{Asks: 4, Work: time.Second, Remember: 0.5, Events: 2}, j)
			cfg.Settings.Limit, cfg.Settings.Cycles = 9, 12
			return cfg
		}
		start(t, config(whole)).Wait()
		f := newFleet(t, fleettest.Faults{})
		cfg := config(j)
		cfg.Pool = f.pool(3)
		r := start(t, cfg)
		time.Sleep(5 * time.Second)
		f.kill("w1")
		time.Sleep(20 * time.Second)
		f.join("w3", cfg.Program)
		time.Sleep(3 * time.Second)
		f.kill("w0")
		select {
		case <-r.Done():
			t.Fatal("the run ended before the last worker was lost")
		default:
		}
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Fatalf("it ended as %v: %s", got.Ending, got.Reason)
		}
		if a, b := enginetest.Results(j.Sessions()), enginetest.Results(whole.Sessions()); a != b {
			t.Errorf("results\n%s\nwant\n%s", a, b)
		}
	})
}

// TestSpendingOfLostWorkers checks that what a lost worker spent, also on answers of the run, is counted once.
func TestSpendingOfLostWorkers(t *testing.T) {
	for _, after := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			cfg := enginetest.Config(40, &enginetest.Crowd{Asks: 2, Work: time.Second, Shares: 6}, &enginetest.Journal{})
			f := newFleet(t, fleettest.Faults{})
			cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Pool = 6, 2, f.pool(2)
			r := start(t, cfg)
			time.Sleep(after)
			f.kill("w1")
			got := r.Wait()
			asked, spent := got.Totals.AllRequests(), got.Totals.Peaks.Spent
			if booked := asked.Outlay().Plus(got.Totals.Peaks.Unrecorded); booked.Amount() != spent.Amount() || spent.Requests < 80 {
				t.Errorf("killed after %v: rows and what is outside of them have %+v, but %+v was spent", after, booked.Amount(), spent.Amount())
			}
		})
	}
}

// TestFleetUnderFaults checks that a run has the undisturbed results, each session once, although messages are lost, repeated and
// delayed, leases lapse early, workers are killed, cut off for a while, and join again, and the limit moves.
func TestFleetUnderFaults(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		faults := fleettest.Faults{
			Seed: rapid.Uint64().Draw(r, "seed"), Delay: time.Duration(rapid.IntRange(0, 3).Draw(r, "delay")) * 40 * time.Millisecond,
			Lose: float64(rapid.IntRange(0, 2).Draw(r, "lose")) / 20, Twice: float64(rapid.IntRange(0, 2).Draw(r, "twice")) / 10,
			EarlyLapse: float64(rapid.IntRange(0, 2).Draw(r, "lapse")) / 4,
		}
		crowd := &enginetest.Crowd{Asks: rapid.IntRange(0, 4).Draw(r, "asks"), Work: time.Second, Remember: 0.5, Events: 2, Fail: 0.1, Shares: rapid.IntRange(0, 6).Draw(r, "shares")}
		agents, limit, sequential := rapid.IntRange(1, 40).Draw(r, "agents"), rapid.IntRange(1, 9).Draw(r, "limit"), rapid.IntRange(0, 5).Draw(r, "sequential") == 0
		config := func(j *enginetest.Journal, c *enginetest.Crowd) run.Config {
			cfg := enginetest.Config(agents, c, j)
			cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Settings.Sequential = limit, 4, sequential
			return cfg
		}
		type event struct {
			After time.Duration
			What  string
			N     int
		}
		events := rapid.SliceOfN(rapid.Custom(func(r *rapid.T) event {
			return event{
				time.Duration(rapid.IntRange(1, 4000).Draw(r, "ms")) * time.Millisecond,
				rapid.SampledFrom([]string{"kill", "part", "heal", "join", "limit"}).Draw(r, "what"), rapid.IntRange(0, 3).Draw(r, "n"),
			}
		}), 0, 12).Draw(r, "events")
		check(r, t, func(t *testing.T) error {
			whole, j := &enginetest.Journal{}, &enginetest.Journal{Latency: time.Millisecond}
			start(t, config(whole, crowd.Copy())).Wait()
			f := newFleet(t, faults)
			f.apart = true
			cfg := config(j, crowd.Copy())
			cfg.Pool = f.pool(2)
			r := start(t, cfg)
			for _, e := range events {
				time.Sleep(e.After)
				name := fmt.Sprint("w", e.N)
				switch e.What {
				case "kill":
					f.kill(name)
				case "part", "heal":
					f.part(name, e.What == "part")
				case "join":
					f.join(name, cfg.Program)
				case "limit":
					_ = r.SetLimit(e.N+1, "test", "a move") // it may have ended
				}
			}
			for i := range 4 {
				f.part(fmt.Sprint("w", i), false)
			}
			f.join("last", cfg.Program)
			late := time.AfterFunc(time.Hour, func() { _, _ = r.Stop("test", "it takes forever"), r.Stop("test", "it takes forever") })
			defer late.Stop()
			if got := r.Wait(); got.Ending != engine.EndFinished {
				return fmt.Errorf("it ended as %v: %s, with %d sessions", got.Ending, got.Reason, got.Totals.Ended())
			}
			seen := map[engine.Place]bool{}
			for _, row := range j.Sessions() {
				if seen[row.Place] {
					return fmt.Errorf("session %v is there twice", row.Place)
				}
				seen[row.Place] = true
			}
			if a, b := enginetest.Results(j.Sessions()), enginetest.Results(whole.Sessions()); a != b {
				return fmt.Errorf("results\n%s\nwant\n%s", a, b)
			}
			return nil
		})
	})
}

// TestPartsOfConnections checks that there are never more workers than parts, that a worker waits for the part of a lost one, and that the next run
// may use a worker that had none.
func TestPartsOfConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleettest.Faults{})
		f.parts = 2
		cfg := enginetest.Config(60, &enginetest.Crowd{Asks: 4, Work: time.Second}, &enginetest.Journal{})
		cfg.Settings.Limit, cfg.Settings.Cycles, cfg.Pool = 9, 6, f.pool(2)
		r := start(t, cfg)
		synctest.Wait()
		f.join("w2", cfg.Program)
		synctest.Wait()
		status := func(name string) (workers.Status, string) {
			for _, w := range f.of.Workers() {
				if w.Name == name {
					return w.Status, w.Why
				}
			}
			return 0, "unknown"
		}
		if got, why := status("w2"); got != workers.Refused || !strings.Contains(why, "among 2 workers") {
			t.Errorf("a third worker is %v: %s", got, why)
		}
		f.kill("w0")
		time.Sleep(10 * time.Second)
		if got, why := status("w2"); got != workers.Ready || why != "" {
			t.Errorf("after one of two was lost, the third is %v: %s", got, why)
		}
		f.join("w3", cfg.Program)
		synctest.Wait()
		if got, _ := status("w3"); got != workers.Refused {
			t.Errorf("another one is %v", got)
		}
		f.over = func() {
			if got, why := status("w3"); got != workers.Ready || why != "" {
				t.Errorf("after the run, which has refused it, the worker is %v: %s", got, why)
			}
		}
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Errorf("it ended as %v: %s", got.Ending, got.Reason)
		}
		slices.Sort(f.taken)
		if got, want := slices.Compact(f.taken), []int{0, 1}; !slices.Equal(got, want) {
			t.Errorf("the parts were %v, want %v", got, want)
		}
	})
}

// lasting is a transport that outlives its coordinator.
type lasting struct{ *fleettest.Bus }

func (lasting) Close() error { return nil }

// TestQuickRestartOfACoordinator checks that workers join a coordinator that takes the place of another one so soon that they do not
// notice.
func TestQuickRestartOfACoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, fleettest.Faults{})
		first := fleet.New(lasting{f.bus}, fleet.Config{})
		cfg := enginetest.Config(20, &enginetest.Crowd{}, &enginetest.Journal{})
		f.join("w0", cfg.Program)
		time.Sleep(time.Second)
		if first.Ready() != 1 {
			t.Fatal("the worker has not joined")
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		f.of = fleet.New(f.bus, fleet.Config{})
		time.Sleep(10 * time.Second)
		if all := f.of.Workers(); len(all) != 1 || all[0].Cores != 1 {
			t.Errorf("the workers are %+v", all)
		}
		cfg.Pool = f.pool(0)
		r := start(t, cfg)
		late := time.AfterFunc(time.Hour, func() { _, _ = r.Stop("test", "it takes forever"), r.Stop("test", "it takes forever") })
		defer late.Stop()
		if got := r.Wait(); got.Ending != engine.EndFinished {
			t.Errorf("it ended as %v: %s", got.Ending, got.Reason)
		}
	})
}

// TestBarrierWaitsForRowsOfWorkers checks that a cycle stays open while the row of its last session cannot be journaled, also if other
// orders have the fleet look for free slots meanwhile.
func TestBarrierWaitsForRowsOfWorkers(t *testing.T) {
	for range 20 {
		synctest.Test(t, func(t *testing.T) {
			j := &enginetest.Journal{Room: 1}
			cfg := enginetest.Config(1, &enginetest.Crowd{Work: time.Second}, j)
			cfg.Settings.Cycles, cfg.Pool = 1, newFleet(t, fleettest.Faults{}).pool(1)
			r := start(t, cfg)
			limit := func(after time.Duration, n int) {
				time.Sleep(after)
				go func() { _ = r.SetLimit(n, "test", "a move") }() // it waits for the journal
			}
			time.Sleep(500 * time.Millisecond)
			j.Break(errors.New("the disk is full"))
			limit(100*time.Millisecond, 7) // its row takes the room
			limit(time.Second, 8)
			time.Sleep(time.Second)
			j.Heal()
			r.Wait()
			ended := false
			for _, row := range j.Rows() {
				switch row.(type) {
				case engine.SessionRows:
					ended = true
				case engine.BarrierRow:
					if !ended {
						t.Error("the barrier comes before the session")
					}
				}
			}
		})
	}
}
