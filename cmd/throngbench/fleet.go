package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/fleet/bus"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service/lending"
)

// joinVariable holds the join line for the workers that a side starts.
const joinVariable = "THRONGBENCH_JOIN"

// fleetRows measure runs that other processes execute, over NATS on loopback.
func fleetRows() []row {
	return []row{linearRow(), coordinatorRow(), millionRow(), holdingRow()}
}

// fleetWorker is the part that is one worker process.
func fleetWorker() []side { return []side{{name: "worker", run: serveWorker}} }

func linearRow() row {
	const step, rounds, each = 200 * time.Millisecond, 50, 50
	r := row{
		name: "16", what: fmt.Sprintf("Sessions that wait for %v, with a limit of %d for each worker process", step, each), parts: fleetWorker(),
		shown: []string{"sessions/s", "s"},
		note:  fmt.Sprintf("Each worker has %d sessions; the ideal is %v. Everything runs on the cores of this machine. Not journaled.", each*rounds, step*rounds),
	}
	for i, n := range []int{1, 2, 4, 8} {
		r.sides = append(r.sides, side{name: fmt.Sprint(n), run: func(ctx context.Context, e env) (figures, error) {
			took, _, err := overFleet(ctx, e, "16/worker", n, "wait", bare(each*rounds*n, each*n, nil))
			return figures{"s": took.Seconds(), "sessions/s": float64(each*rounds*n) / took.Seconds()}, err
		}})
		if i > 0 {
			r.ratios = append(r.ratios, ratio{
				name: fmt.Sprintf("of linear, with %d workers", n), must: 0.95, aim: 0.99,
				of: func(all []figures) (float64, bool) {
					one, ok := all[0]["sessions/s"]
					return all[i]["sessions/s"] / one / float64(n), ok
				},
			})
		}
	}
	return r
}

func coordinatorRow() row {
	const sessions, intents = 500_000, 10
	journaledBy := func(ctx context.Context, e env, workers int, program string, agents int) (time.Duration, error) {
		settings := engine.DefaultSettings()
		store, journal, err := newRun(ctx, e.dir, settings)
		if err != nil {
			return 0, err
		}
		c := bare(agents, 100, nil)
		c.ID, c.Journal = benchRun, journal
		used := ownTime()
		if workers == 0 {
			c.Program = fleetPrograms[program]
			_, err = toEnd(ctx, c)
		} else {
			_, _, err = overFleet(ctx, e, "17/worker", workers, program, c)
		}
		err = errors.Join(err, journal.Close(ctx), store.Close())
		return ownTime() - used, err
	}
	of := func(workers int) func(ctx context.Context, e env) (figures, error) {
		return func(ctx context.Context, e env) (figures, error) {
			e.dir += "/empty"
			empty, err := journaledBy(ctx, e, workers, "empty", sessions)
			if err != nil {
				return nil, err
			}
			e.dir += "/intents"
			asking, err := journaledBy(ctx, e, workers, "intents", sessions/intents)
			return figures{
				"CPU µs/session": empty.Seconds() * 1e6 / sessions, "CPU µs/intent": asking.Seconds() * 1e6 / sessions,
			}, err
		}
	}
	return row{
		name: "17", what: "CPU time of the coordinator, journaled to SQLite, for a session and for an intent", parts: fleetWorker(),
		sides: []side{{name: "coordinator of 2 workers", run: of(2)}, {name: "one process", run: of(0)}},
		shown: []string{"CPU µs/session", "CPU µs/intent"},
		ratios: []ratio{
			{name: "times one process's CPU time of a session", must: 3, aim: 1.5, less: true, of: over(0, "CPU µs/session", 1, "CPU µs/session")},
			{name: "CPU µs/intent", must: 20, aim: 5, less: true, of: plain("CPU µs/intent")},
		},
		note: fmt.Sprintf("Empty sessions, and sessions of %d intents with their answers. One process also executes the sessions.", intents),
	}
}

func millionRow() row {
	const agents, cycles = 1_000_000, 2
	var digest atomic.Uint64
	measure := func(ctx context.Context, e env, workers int) (figures, error) {
		j := &digestJournal{}
		c := bare(agents, 200, nil)
		c.Settings.Cycles, c.Journal = cycles, j
		began := time.Now()
		var err error
		f := figures{}
		if workers == 0 {
			c.Program = fleetPrograms["remember"]
			var r *run.Run
			if r, err = run.Start(ctx, c); err == nil {
				r.Wait()
			}
		} else {
			_, f["peak MB of a worker"], err = overFleet(ctx, e, "S16/worker", workers, "remember", c)
		}
		f["s"], f["peak MB"] = time.Since(began).Seconds(), ownPeak()
		f["digest"] = float64(j.sum.Load() % (1 << 52))
		if got := j.sessions.Load(); err == nil && got != agents*cycles {
			err = fmt.Errorf("%d of %d sessions", got, agents*cycles)
		}
		digest.Store(j.sum.Load())
		return f, err
	}
	return row{
		name: "S16", what: "A million agents with memory in two cycles, over 4 worker processes", parts: fleetWorker(), scale: true,
		sides: []side{
			{name: "coordinator of 4 workers", run: func(ctx context.Context, e env) (figures, error) { return measure(ctx, e, 4) }},
			{name: "one process", run: func(ctx context.Context, e env) (figures, error) { return measure(ctx, e, 0) }},
		},
		shown: []string{"s", "peak MB", "peak MB of a worker"},
		ratios: []ratio{
			{name: "of the digest of one process", must: 1, of: over(0, "digest", 1, "digest")},
			{name: "times one process's peak memory", less: true, of: over(0, "peak MB", 1, "peak MB")},
		},
		note: "The digest covers place, outcome, events and memory of all sessions. Not journaled on disk.",
	}
}

func holdingRow() row {
	const few, many = 500_000, 4_000_000
	of := func(program string, agents int) side {
		return side{name: figure(float64(agents)) + " agents, " + program, run: func(ctx context.Context, e env) (figures, error) {
			c := bare(agents, 200, nil)
			c.Journal = &digestJournal{}
			took, worker, err := overFleet(ctx, e, "S17/worker", 2, program, c)
			return figures{"s": took.Seconds(), "peak MB": ownPeak(), "peak MB of a worker": worker}, err
		}}
	}
	bytes := func(small, large int) func(all []figures) (float64, bool) {
		return func(all []figures) (float64, bool) {
			a, ok := all[small]["peak MB"]
			b, also := all[large]["peak MB"]
			return (b - a) * 1e6 / (many - few), ok && also
		}
	}
	return row{
		name: "S17", what: "What the coordinator holds for an agent", parts: fleetWorker(), scale: true,
		sides: []side{of("empty", few), of("empty", many), of("remember", few), of("remember", many)},
		shown: []string{"s", "peak MB", "peak MB of a worker"},
		ratios: []ratio{
			{name: "bytes an agent without memory", less: true, of: bytes(0, 1)},
			{name: "bytes an agent if a tenth has memory", less: true, of: bytes(2, 3)},
		},
		note: "Peak resident memory of many agents less that of few, with two workers and one cycle.",
	}
}

// digestJournal adds up a hash of each session, so that their order does not matter.
type digestJournal struct{ sum, sessions atomic.Uint64 }

func (d *digestJournal) Append(rows ...engine.Row) {
	for _, row := range rows {
		batch, ok := row.(engine.SessionRows)
		for i := range batch {
			r := &batch[i]
			h := fnv.New64a()
			fmt.Fprint(h, r.Place, r.Outcome, len(r.Steps))
			for _, e := range r.Events {
				h.Write(e.Data)
			}
			for _, f := range r.Delta.Set {
				h.Write(f.Value)
			}
			d.sum.Add(h.Sum64())
		}
		if ok {
			d.sessions.Add(uint64(len(batch)))
		}
	}
}

func (d *digestJournal) Commit(_ context.Context, rows ...engine.Row) error {
	d.Append(rows...)
	return nil
}

func (d *digestJournal) Trouble() <-chan error { return nil }

// fleetPrograms are the sessions that workers execute, by name.
var fleetPrograms = map[string]engine.Program{
	"empty": emptyProgram,
	"wait": programFunc(func(s *engine.Session) {
		s.Row.Outcome = engine.OK
		if err := s.Sleep(s.Clock().Context(), 200*time.Millisecond); err != nil {
			s.Row.Fail("wait", err)
		}
	}),
	"intents": programFunc(func(s *engine.Session) {
		s.Row.Outcome = engine.OK
		c := s.Clock()
		for i := range 10 {
			path := fmt.Sprint("step", i)
			c.Hold()
			err := s.Intend(c.Context(), path, uint64(i), &engine.Outlay{}, &engine.Outlay{Requests: 1})
			c.Release()
			if err != nil {
				s.Row.Fail(path, err)
				return
			}
			s.Answered(engine.Entry{Path: path, Attempts: 1, Output: []byte(`{"id":"4711"}`)})
		}
	}),
	"remember": programFunc(func(s *engine.Session) {
		s.Row.Outcome = engine.OK
		was := 0
		if s.Memory != nil && len(s.Memory.Fields) > 0 {
			was = len(s.Memory.Fields[0].Value)
		}
		text := fmt.Appendf(nil, "%d", s.Agent*31+s.Cycle+was)
		s.Row.Events = append(s.Row.Events, engine.Event{Path: "a", Name: "seen", Data: text})
		if s.Agent%10 == 0 {
			s.Row.Delta = engine.Delta{Set: []engine.Field{{Name: "n", Value: text}}}
		}
	}),
}

// overFleet executes a run on so many worker processes. It returns how long that took from the moment at which all had joined, and the
// most memory of a worker, in MB.
func overFleet(ctx context.Context, e env, part string, workers int, program string, c run.Config) (took time.Duration, worker float64, err error) {
	server, err := bus.Serve(ctx, bus.Config{})
	if err != nil {
		return 0, 0, err
	}
	joined := make(chan struct{}, 1)
	of := fleet.New(server, fleet.Config{Changed: func() {
		select {
		case joined <- struct{}{}:
		default:
		}
	}})
	defer func() { err = errors.Join(err, of.Close()) }()
	if err := os.Setenv(joinVariable, server.Join()); err != nil {
		return 0, 0, err
	}
	var parts []func() error
	var once sync.Once
	end := func() (err error) {
		once.Do(func() {
			for _, f := range parts {
				err = errors.Join(err, f())
			}
		})
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	for range workers {
		p, err := e.startPart(ctx, part)
		if err != nil {
			return 0, 0, err
		}
		parts = append(parts, p.end)
	}
	for of.Ready() < workers {
		select {
		case <-joined:
		case <-ctx.Done():
			return 0, 0, context.Cause(ctx)
		}
	}
	c.Pool = of.Pool(ctx, []byte(program), fleet.PoolConfig{})
	began := time.Now()
	r, err := run.Start(ctx, c)
	if err != nil {
		return 0, 0, err
	}
	result := r.Wait()
	took = time.Since(began)
	if want := int64(c.Agents * max(c.Settings.Cycles, 1)); result.Totals.Outcomes[engine.OK] != want {
		return took, 0, fmt.Errorf("%d of %d sessions ended well", result.Totals.Outcomes[engine.OK], want)
	}
	err = end()
	return took, childPeak(), err
}

// serveWorker is a worker process until its standard input is closed.
func serveWorker(ctx context.Context, _ env) (figures, error) {
	link, err := bus.Join(ctx, os.Getenv(joinVariable), bus.WorkerConfig{Name: "worker"})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	fmt.Println(link.Name())
	go func() {
		_, _ = os.Stdin.Read(make([]byte, 1))
		cancel()
	}()
	err = fleet.Work(ctx, fleet.WorkerConfig{
		Link: link, Info: fleet.Info{Cores: 1},
		Prepare: func(_ context.Context, bundle []byte, _ *lending.Borrower, _ fleet.Part) (*fleet.Prepared, error) {
			return &fleet.Prepared{Program: fleetPrograms[string(bundle)]}, nil
		},
	})
	return figures{}, errors.Join(err, link.Close())
}
