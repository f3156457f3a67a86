package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

//go:embed peers/empty.py
var emptyPy string

// engineRows measure the engine alone: sessions that do nothing or wait.
func engineRows() []row {
	return []row{emptyRow(), waitingRow(), overnightRow(), besideRow(), sliderRow()}
}

// emptyRow is what an engine costs where sessions do nothing.
func emptyRow() row {
	const agents, each = 1_000_000, "µs/session"
	here := func(work func(ctx context.Context) error) func(context.Context, env) (figures, error) {
		return func(ctx context.Context, _ env) (figures, error) {
			return counted(agents, func() error { return work(ctx) })
		}
	}
	return row{
		name: "1",
		what: "A million empty sessions at gate 50, not journaled",
		note: "The plain loop only counts, in one goroutine; errgroup makes a goroutine for each session.",
		sides: []side{
			{name: "Throng", run: here(func(ctx context.Context) error { return empty(ctx, agents) })},
			{name: "plain loop", run: here(func(context.Context) error { return plainLoop(agents) })},
			{name: "errgroup", run: here(func(ctx context.Context) error { return grouped(ctx, agents) })},
			{name: "asyncio", prepare: python, run: func(ctx context.Context, _ env) (figures, error) {
				return script(ctx, "python3", "-c", emptyPy, fmt.Sprint(agents))
			}},
		},
		shown: []string{each, "allocations/session", "peak MB"},
		ratios: []ratio{
			{name: "times asyncio's speed", must: 20, of: over(3, each, 0, each)},
			{name: "times errgroup's speed", of: over(2, each, 0, each)},
			{name: each, aim: 0.5, less: true, of: plain(each)},
			{name: "MB at the peak", must: 300, less: true, of: plain("peak MB")},
		},
	}
}

// counted is what so many sessions cost in this process.
func counted(sessions int, work func() error) (figures, error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	if err := work(); err != nil {
		return nil, err
	}
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	n := float64(sessions)
	return figures{"µs/session": took.Seconds() * 1e6 / n, "allocations/session": float64(after.Mallocs-before.Mallocs) / n, "peak MB": ownPeak()}, nil
}

// programFunc is a program of one function.
type programFunc func(*engine.Session)

func (f programFunc) Session(s *engine.Session) { f(s) }

// emptyProgram does nothing.
var emptyProgram = programFunc(func(s *engine.Session) { s.Row.Outcome = engine.OK })

// bare is a run of a program with as little beside it as there can be.
func bare(agents, limit int, p engine.Program) run.Config {
	settings := engine.DefaultSettings()
	settings.Limit = limit
	return run.Config{ID: "bench", Program: p, Agents: agents, Clock: engine.Clock{Cycle: time.Hour}, Settings: settings}
}

// toEnd runs all sessions of a run, which must end well.
func toEnd(ctx context.Context, c run.Config) (run.Result, error) {
	r, err := run.Start(ctx, c)
	if err != nil {
		return run.Result{}, err
	}
	result := r.Wait()
	if ok := result.Totals.Outcomes[engine.OK]; ok != int64(c.Agents) {
		return result, fmt.Errorf("%d of %d sessions ended well", ok, c.Agents)
	}
	return result, nil
}

func empty(ctx context.Context, agents int) error {
	_, err := toEnd(ctx, bare(agents, 50, emptyProgram))
	return err
}

// plainLoop has no gate, no goroutine and no record of a session.
func plainLoop(agents int) error {
	var done atomic.Int64
	for range agents {
		done.Add(1)
	}
	return allOf(agents, done.Load())
}

// grouped is what a user of Go would write.
func grouped(ctx context.Context, agents int) error {
	var done atomic.Int64
	g, _ := errgroup.WithContext(ctx)
	g.SetLimit(50)
	for range agents {
		g.Go(func() error { done.Add(1); return nil })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return allOf(agents, done.Load())
}

func allOf(want int, done int64) error {
	if done != int64(want) {
		return fmt.Errorf("%d of %d sessions ended", done, want)
	}
	return nil
}

// python tells the version of the system's Python.
func python(ctx context.Context, _ env) (string, error) {
	out, err := exec.CommandContext(ctx, "python3", "--version").Output()
	if err != nil {
		return "", missingError("python3 is not installed")
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "Python "), nil
}

// script runs a peer whose last line is its figures, a JSON object, and adds its peak of memory.
func script(ctx context.Context, name string, args ...string) (f figures, err error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &f); err != nil {
		return nil, fmt.Errorf("its figures: %w", err)
	}
	f["peak MB"] = childPeak()
	return f, nil
}
