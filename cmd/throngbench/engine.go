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
	"syscall"
	"time"

	"github.com/throng-sim/throng/engine"
)

//go:embed peers/empty.py
var emptyPy string

// engineRows measure the engine alone: sessions that do nothing or wait.
func engineRows() []row {
	const agents = 1_000_000
	return []row{{
		name: "1",
		what: "A million empty sessions at gate 50, not journaled",
		sides: []side{
			{name: "Throng", run: func(ctx context.Context, _ env) (figures, error) { return empty(ctx, agents) }},
			{name: "asyncio", prepare: python, run: func(ctx context.Context, _ env) (figures, error) {
				return script(ctx, "python3", "-c", emptyPy, fmt.Sprint(agents))
			}},
		},
		shown: []string{"µs/session", "peak MB"},
		ratios: []ratio{
			{name: "times asyncio's speed", must: 20, of: over(1, "µs/session", 0, "µs/session")},
			{name: "µs a session", aim: 0.5, less: true, of: plain("µs/session")},
			{name: "MB at the peak", must: 300, less: true, of: plain("peak MB")},
		},
	}}
}

type emptyProgram struct{}

func (emptyProgram) Session(s *engine.Session) { s.Row.Outcome = engine.OK }

func empty(ctx context.Context, agents int) (figures, error) {
	settings := engine.DefaultSettings()
	settings.Limit = 50
	began := time.Now()
	r, err := engine.Start(ctx, engine.Config{ID: "bench", Program: emptyProgram{}, Agents: agents, Clock: engine.Clock{Cycle: time.Hour}, Settings: settings})
	if err != nil {
		return nil, err
	}
	result := r.Wait()
	if ended := result.Totals.Ended(); ended != int64(agents) {
		return nil, fmt.Errorf("%d of %d sessions ended", ended, agents)
	}
	took := time.Since(began)
	return figures{"µs/session": took.Seconds() * 1e6 / float64(agents), "peak MB": peak(syscall.RUSAGE_SELF)}, nil
}

// peak is the most memory that this process had resident, or its children that ended, in MB (of 10⁶ bytes).
func peak(who int) float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(who, &usage) != nil {
		return 0
	}
	return peakOf(&usage)
}

// peakOf is the same of what a process has used.
func peakOf(usage *syscall.Rusage) float64 {
	unit := int64(1024)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(int64(usage.Maxrss)*unit) / 1e6
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
	f["peak MB"] = peak(syscall.RUSAGE_CHILDREN)
	return f, nil
}
