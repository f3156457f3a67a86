package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// trial is a run with its own store, like that of a user.
type trial struct {
	dir    string
	text   string // the scenario; "" means that of file
	file   string
	cycles int
	with   func(s *engine.Settings) // may be nil

	app   *app.App
	store *sqlite.Store // of app
	run   engine.RunID  // "" until it has begun
}

// load reads the scenario.
func (t *trial) load() (*scenario.Scenario, error) {
	if t.text == "" {
		return authoring.Load(t.file, nil)
	}
	path := filepath.Join(t.dir, "trial.yaml")
	if err := os.WriteFile(path, []byte(t.text), 0o600); err != nil {
		return nil, err
	}
	return authoring.Load(path, nil)
}

// start starts the run with limit 50, or resumes it.
func (t *trial) start(ctx context.Context) (job *app.Job, err error) {
	s, err := t.load()
	if err != nil {
		return nil, err
	}
	data := filepath.Join(t.dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	if t.app, err = app.Open(app.Options{Data: data, Store: sqlite.Options{Logger: slog.New(slog.DiscardHandler)}}); err != nil {
		return nil, err
	}
	t.store = t.app.Store()
	settings := engine.DefaultSettings()
	settings.Governor, settings.Cycles, settings.KeepAwake = engine.Manual, t.cycles, false
	if t.with != nil {
		t.with(&settings)
	}
	job, err = t.app.Start(ctx, app.Launch{Services: app.Services{Scenario: s, Settings: settings}, Trusted: true, Resume: t.run})
	if err != nil {
		return nil, errors.Join(err, t.app.Close())
	}
	t.run = job.Run.ID()
	return job, nil
}

// end closes the run, which must have ended, and its store.
func (t *trial) end(job *app.Job) error { return errors.Join(job.Close(), t.app.Close()) }

// finish waits until the run has succeeded with this number of sessions, and closes it.
func (t *trial) finish(job *app.Job, sessions int64) error {
	result := job.Run.Wait()
	if err := t.end(job); err != nil {
		return err
	}
	totals := &result.Totals
	if bad := totals.Outcomes[engine.Failed] + totals.Outcomes[engine.TimedOut]; totals.Ended() != sessions || bad > 0 {
		return fmt.Errorf("%d of %d sessions ended, %d failed: %s", totals.Ended(), sessions, bad, result.Reason)
	}
	return nil
}

// bytes returns the size of the store including its write-ahead log.
func (t *trial) bytes(ctx context.Context) (float64, error) {
	db, err := sql.Open("sqlite3", "file:"+filepath.ToSlash(filepath.Join(t.dir, "data", "throng.db"))+"?mode=ro&_busy_timeout=5000")
	if err != nil {
		return 0, err
	}
	var pages, size float64
	err = errors.Join(
		db.QueryRowContext(ctx, "PRAGMA page_count").Scan(&pages),
		db.QueryRowContext(ctx, "PRAGMA page_size").Scan(&size),
		db.Close(),
	)
	return pages * size, err
}

// until waits for a state of a run. The run must not end before it.
func until(run *run.Run, is func(s *engine.Snapshot) bool) error {
	for !is(run.Snapshot()) {
		select {
		case <-run.Done():
			if s := run.Snapshot(); !is(s) {
				return fmt.Errorf("the run ended: %s", s.Reason)
			}
		case <-time.After(2 * time.Millisecond):
		}
	}
	return nil
}

// milliseconds returns how long f took and stores its error.
func milliseconds(f func() error, errs *error) float64 {
	began := time.Now()
	*errs = errors.Join(*errs, f())
	return time.Since(began).Seconds() * 1e3
}

// resident returns the memory of this process in MB.
func resident() float64 { return float64(machine.Resident()) / 1e6 }

// live returns the memory that was reachable at the last garbage collection, in MB.
func live() float64 {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64()) / 1e6
}

// topped returns the maximum additional memory of f, in MB. used receives its CPU time.
func topped(used *time.Duration, f func() error, errs *error) float64 {
	debug.FreeOSMemory()
	before := resident()
	var most atomic.Uint64
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		for {
			most.Store(max(most.Load(), uint64(resident()*1e6)))
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	began := ownTime()
	*errs = errors.Join(*errs, f())
	*used = ownTime() - began
	close(done)
	<-gone
	return max(float64(most.Load())/1e6-before, 0)
}

// export runs sessions of 10,000 agents, exports and audits them.
func export(ctx context.Context, e env, sessions int) (f figures, err error) {
	const agents = 10_000
	t := trial{dir: e.dir, cycles: sessions / agents, text: fmt.Sprintf(`
title: Export
population: {count: %d}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
chain c:
  step s: {kind: emit, event: seen, data: "${agent.index}"}
`, agents)}
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	job.Run.Wait()
	if err := job.Close(); err != nil { // everything is written
		return nil, err
	}
	defer func() { err = errors.Join(err, t.app.Close()) }()
	bytes, err := t.bytes(ctx)
	if err != nil {
		return nil, err
	}
	f = figures{"bytes/session": bytes / float64(sessions)}
	names, err := review.Names(ctx, t.store, t.run)
	if err != nil {
		return nil, err
	}
	var used time.Duration
	f["export MB"] = topped(&used, func() error {
		return storage.ExportAll(ctx, filepath.Join(t.dir, "export"), t.store, t.run, names, "bench")
	}, &err)
	f["CPU µs/session"] = used.Seconds() * 1e6 / float64(sessions)
	f["audit MB"] = topped(&used, func() error {
		r, err := review.Audit(ctx, t.store, t.run)
		if err == nil && !r.Equal() {
			err = errors.New(r.Summary())
		}
		return err
	}, &err)
	f["audit CPU µs/session"] = used.Seconds() * 1e6 / float64(sessions)
	return f, err
}

// probe is a sample of a soak test.
type probe struct {
	cycle                               int
	used                                time.Duration
	rss, live, bytes, files, goroutines float64
}

// soak runs a trial to its end and compares the last tenth of its cycles with the second, after warm-up.
func soak(ctx context.Context, t trial, sessions int64) (figures, error) {
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	var all []probe
	for next := 0; ; next = all[len(all)-1].cycle + max(t.cycles/200, 1) {
		if until(job.Run, func(s *engine.Snapshot) bool { return s.Cycle >= next }) != nil {
			break
		}
		bytes, err := t.bytes(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, probe{
			job.Run.Snapshot().Cycle, ownTime(), resident(), live(), bytes, float64(machine.OpenFiles()), float64(runtime.NumGoroutine()),
		})
	}
	took := time.Since(began)
	peaks := job.Run.Wait().Totals.Peaks
	if err := t.finish(job, sessions); err != nil {
		return nil, err
	}
	tenth := func(n int) []probe { return all[len(all)*n/10 : len(all)*(n+1)/10] }
	warm, end := tenth(1), tenth(9)
	if len(warm) < 2 {
		return nil, fmt.Errorf("%d cycles are too few to compare", t.cycles)
	}
	f := figures{
		"MB": mean(end, func(p probe) float64 { return p.rss }), "live MB": mean(end, func(p probe) float64 { return p.live }),
		"files": mean(end, func(p probe) float64 { return p.files }), "goroutines": mean(end, func(p probe) float64 { return p.goroutines }),
		"KB/cycle": perCycle(end, func(p probe) float64 { return p.bytes / 1e3 }), "CPU ms/cycle": perCycle(end, func(p probe) float64 { return p.used.Seconds() * 1e3 }),
		"lag ms": peaks.Lag.Seconds() * 1e3, "slowest cycle ms": peaks.Cycle.Seconds() * 1e3,
		"peak MB": ownPeak(), "µs/session": took.Seconds() * 1e6 / float64(sessions),
	}
	f["memory growth %"] = percent(mean(warm, func(p probe) float64 { return p.rss }), f["MB"])
	f["live growth %"] = percent(mean(warm, func(p probe) float64 { return p.live }), f["live MB"])
	f["KB growth %"] = percent(perCycle(warm, func(p probe) float64 { return p.bytes / 1e3 }), f["KB/cycle"])
	f["CPU growth %"] = percent(perCycle(warm, func(p probe) float64 { return p.used.Seconds() * 1e3 }), f["CPU ms/cycle"])
	return f, nil
}

func mean(all []probe, of func(p probe) float64) float64 {
	sum := 0.0
	for _, p := range all {
		sum += of(p)
	}
	return sum / float64(len(all))
}

// perCycle returns the growth of a cumulative figure per cycle.
func perCycle(all []probe, of func(p probe) float64) float64 {
	first, last := all[0], all[len(all)-1]
	return (of(last) - of(first)) / float64(last.cycle-first.cycle)
}
