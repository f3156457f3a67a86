package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

const waits = "CPU ms/s"

// waitingShown are the figures of waiting sessions.
var waitingShown = []string{"all wait after ms", "KB/session", waits, "pause ms", "cut ms", "µs/session"}

func waitingCrowdRow() row {
	few, many := 10_000, 100_000
	of := func(name string, n int, run func(context.Context, env, int) (figures, error)) side {
		return side{name: figure(float64(n)) + " " + name, run: func(ctx context.Context, e env) (figures, error) { return run(ctx, e, n) }}
	}
	return row{
		name: "S2",
		what: "A hundred thousand sessions that wait concurrently",
		sides: []side{
			of("of a bare program", few, bareWaiting), of("of a bare program", many, bareWaiting),
			of("at a wait step", few, stepWaiting), of("at a wait step", many, stepWaiting),
		},
		shown: waitingShown,
		ratios: []ratio{
			growth("KB/session", linear), growth("µs/session", 1.5),
			{name: "KB/session of steps, of many over few", must: linear, less: true, of: over(3, "KB/session", 2, "KB/session")},
			{name: "µs/session of steps, of many over few", must: 1.5, less: true, of: over(3, "µs/session", 2, "µs/session")},
		},
		note: "A µs is CPU time until all sessions wait and while they are canceled. Pausing is until the run is paused; waiting sessions continue. " +
			"A second stop cancels all sessions, until the run has ended and everything is journaled.",
	}
}

func requestsRow() row {
	most := 18_000
	if files, ok := mostFiles(); ok {
		most = int(min(files, 19_000)) - 1000
	}
	most -= most % 1000
	return row{
		name: "S2h",
		what: fmt.Sprintf("%s sessions that wait for a service, as many as the limit of open files allows", figure(float64(most))),
		sides: sized("requests", most/10, most, func(ctx context.Context, e env, n int) (figures, error) {
			late, err := e.startPart(ctx, "S2h/late")
			if err != nil {
				return nil, err
			}
			f, err := waiting(ctx, e, n, fmt.Sprintf(`
services:
  late: {kind: http, url: "%s", limits: {connections: %d, keepalive: 1, timeout: 1h}}
chain c:
  timeout: 1h
  step s: {kind: http, service: late, get: /}
`, late.said, n))
			return f, errors.Join(err, late.end())
		}),
		parts:  []side{{name: "late", run: serveLate}},
		shown:  waitingShown,
		ratios: []ratio{growth("KB/session", linear)},
		note:   "The service is another process and never answers. The time is mostly that of the system, which searches longer for a free port if many are taken.",
	}
}

func wavesRow() row {
	return row{
		name:   "S2w",
		what:   "Sessions that wait for 0.2 s and then compute, a hundred thousand concurrent, in waves",
		sides:  sized("concurrent", 10_000, 100_000, waves),
		shown:  []string{"CPU µs/session", "s", "peak MB"},
		ratios: []ratio{growth("CPU µs/session", 2)},
		note: "300,000 agents in two cycles, journaled. All workers of a wave reach shared data at about the same time; the additional time of " +
			"many sessions is memory outside of caches, and the garbage collector scanning each stack.",
	}
}

// waves runs n concurrent sessions that wait for a short time.
func waves(ctx context.Context, e env, n int) (figures, error) {
	const agents, cycles = 300_000, 2
	t := trial{
		dir: e.dir, cycles: cycles, text: fmt.Sprintf(`
title: Waves
population: {count: %d}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
chain c:
  step s: {kind: wait, for: 0.2}
  step p: {kind: python, call: "agent.index + 1"}
  step r: {kind: remember, set: {at: "${session.cycle}"}}
`, agents),
		with: func(s *engine.Settings) { s.Limit = n },
	}
	began, used := time.Now(), ownTime()
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.finish(job, agents*cycles); err != nil {
		return nil, err
	}
	return figures{
		"s": time.Since(began).Seconds(), "CPU µs/session": (ownTime() - used).Seconds() * 1e6 / (agents * cycles), "peak MB": ownPeak(),
	}, nil
}

// bareProgram waits until it is canceled.
type bareProgram struct{}

func (bareProgram) Session(s *engine.Session) {
	<-s.Clock().Context().Done()
	s.Row.Outcome = engine.Cut
}

func bareWaiting(ctx context.Context, _ env, n int) (figures, error) {
	settings := engine.DefaultSettings()
	settings.Limit, settings.SessionTimeout = n, time.Hour
	before, used := resident(), ownTime()
	began := time.Now()
	r, err := run.Start(ctx, run.Config{ID: "bench", Program: bareProgram{}, Agents: n, Clock: engine.Clock{Cycle: time.Hour}, Settings: settings})
	if err != nil {
		return nil, err
	}
	return held(r, n, before, used, began)
}

// stepWaiting measures sessions at a wait step.
func stepWaiting(ctx context.Context, e env, n int) (figures, error) {
	return waiting(ctx, e, n, `
chain c:
  timeout: 1h
  step s: {kind: wait, for: 3000}
`)
}

// waiting runs n concurrent sessions of a chain.
func waiting(ctx context.Context, e env, n int, chain string) (figures, error) {
	t := trial{
		dir: e.dir, cycles: 1,
		text: fmt.Sprintf("title: Waiting\npopulation: {count: %d}\nclock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}\n%s", n, chain),
		with: func(s *engine.Settings) { s.Limit, s.SessionTimeout, s.ChainTimeout = n, time.Hour, time.Hour },
	}
	before, used := resident(), ownTime()
	began := time.Now()
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	f, err := held(job.Run, n, before, used, began)
	if err != nil {
		return nil, err
	}
	return f, t.end(job)
}

// held measures a run while n sessions wait, and cancels it.
func held(r *run.Run, n int, before float64, used time.Duration, began time.Time) (figures, error) {
	const while = 2 * time.Second
	const quiet = while / 10 / 4 // CPU time: all sessions wait
	if err := until(r, func(s *engine.Snapshot) bool { return s.InFlight == n }); err != nil {
		return nil, err
	}
	for calm := 0; calm < 3; calm++ {
		was := ownTime()
		time.Sleep(while / 10)
		if ownTime()-was > quiet {
			calm = -1
		}
	}
	f := figures{"all wait after ms": time.Since(began).Seconds() * 1e3, "µs/session": (ownTime() - used).Seconds() * 1e6 / float64(n)}
	debug.FreeOSMemory()
	f["KB/session"] = (resident() - before) * 1e3 / float64(n)
	idle := ownTime()
	time.Sleep(while)
	f[waits] = (ownTime() - idle).Seconds() * 1e3 / while.Seconds()
	var err error
	f["pause ms"] = milliseconds(func() error { return r.Pause("bench", "") }, &err)
	used = ownTime()
	f["cut ms"] = milliseconds(func() error {
		for range 2 {
			if err := r.Stop("bench", ""); err != nil {
				return err
			}
		}
		r.Wait()
		return nil
	}, &err)
	f["µs/session"] += (ownTime() - used).Seconds() * 1e6 / float64(n)
	return f, err
}
