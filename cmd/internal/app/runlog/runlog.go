// Package runlog writes the log of a run.
package runlog

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// pollEvery is the interval between snapshots for the log.
const pollEvery = time.Second

// Follow logs the events of a run until it ends: phases, changes by users and governors, breakers, checkpoints, new errors,
// and the end. The returned function waits until all events are logged.
func (c *Log) Follow(run *run.Run) (wait func() error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(pollEvery)
		defer tick.Stop()
		for {
			c.see(run.Snapshot())
			select {
			case <-tick.C:
			case <-run.Done():
				c.see(run.Snapshot())
				return
			}
		}
	}()
	return func() error { <-done; return nil }
}

// Log logs the events of one run. It holds what it has already logged.
type Log struct {
	log      *slog.Logger
	phase    engine.Phase
	changed  time.Time
	breaker  engine.BreakerState
	services map[string]engine.BreakerState
	saved    time.Time
	errors   map[engine.Class]int64
	stall    time.Time
	short    string
}

// New returns a Log that writes the events of a run to log.
func New(log *slog.Logger) *Log {
	return &Log{log: log, services: map[string]engine.BreakerState{}, errors: map[engine.Class]int64{}}
}

// Start logs the start of a run with its settings.
func (c *Log) Start(r *engine.RunRecord, agents int, target string, s *engine.Settings) {
	var settings []any
	for _, setting := range config.RunSettings() {
		settings = append(settings, slog.String(setting.Name, setting.Show(s)))
	}
	c.log.Info("run started", "throng", about.Version(), "scenario", r.Title, "source", r.Source.Hash, "agents", agents, "parent", string(r.Parent),
		"database", target, slog.Group("settings", settings...))
}

// see logs what is new in a snapshot.
func (c *Log) see(s *engine.Snapshot) {
	for i := range s.Changes {
		if one := &s.Changes[i]; one.At.After(c.changed) {
			c.log.Info("changed", "what", one.What, "old", one.Old, "new", one.New, "who", one.Who, "why", one.Why, "cycle", one.Cycle)
		}
	}
	if n := len(s.Changes); n > 0 {
		c.changed = s.Changes[n-1].At
	}
	if s.Breaker != c.breaker {
		c.breaker = s.Breaker
		c.log.Warn("breaker of the run", "state", s.Breaker.String(), "why", s.BreakerWhy)
	}
	for i := range s.Services {
		one := &s.Services[i]
		if one.Breaker != c.services[one.Name] {
			c.services[one.Name] = one.Breaker
			c.log.Warn("breaker of a service", "service", one.Name, "state", one.Breaker.String(), "why", one.BreakerWhy)
		}
	}
	if s.Stall != nil && !s.Stall.Since.Equal(c.stall) {
		c.stall = s.Stall.Since
		c.log.Warn("no session ends", "since", s.Stall.Since, "why", s.Stall.Why)
	}
	if s.Budget.Short != "" && s.Budget.Short != c.short {
		c.log.Warn("budget", "short", s.Budget.Short)
	}
	c.short = s.Budget.Short
	if s.LastCheckpoint.After(c.saved) {
		c.saved = s.LastCheckpoint
		c.log.Info("checkpoint", "number", s.Checkpoints, "cycle", s.Cycle, "done", s.Ended, "took", s.CheckpointTook.String())
	}
	c.failed(s)
	if s.Phase != c.phase {
		c.phase = s.Phase
		c.logPhase(s)
	}
}

// failed logs error classes whose count has doubled since they were logged.
func (c *Log) failed(s *engine.Snapshot) {
	for i := range s.Errors {
		e := &s.Errors[i]
		if e.Count < max(2*c.errors[e.Class], 1) {
			continue
		}
		c.errors[e.Class] = e.Count
		c.log.Warn("sessions fail", "class", e.Class.String(), "count", e.Count, "cycle", e.Cycle, "agent", e.AgentName(), "step", e.Path, "error", e.Message)
	}
}

// logPhase logs a new phase, or the end of the run.
func (c *Log) logPhase(s *engine.Snapshot) {
	if s.Phase != engine.Ended {
		c.log.Info("phase", "phase", s.Phase.String(), "why", s.Reason)
		return
	}
	level := slog.LevelInfo
	if slices.Contains([]engine.Ending{engine.EndFailed, engine.EndOutOfBudget, engine.EndHopeless}, s.Ending) {
		level = slog.LevelError
	}
	c.log.Log(context.Background(), level, "ended", "ending", s.Ending.String(), "why", s.Reason, "sessions", s.Ended, "requests", s.Requests, "refused", s.RateLimited,
		"took", s.Elapsed.String(), "result", s.Inexact.String())
}
