// Package history shows what a run and its agents were doing at any moment.
package history

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

const (
	minuteRows  = 61 // of metrics: what health looks back on
	keptTurns   = 2  // cycles whose sessions are remembered; one of large populations
	largeCrowd  = 200_000
	freshCourse = time.Second // how long the course of a run in progress is good
)

// History reads what a run was doing at any moment of it. It remembers the cycle that was asked for last, so that
// further moments of that cycle are answered at once. Its methods read the store, and are safe for concurrent use.
type History struct {
	store   *sqlite.Store
	run     engine.RunID
	program *scenario.Program
	clock   engine.Clock
	agents  int

	mu       sync.Mutex
	settings engine.Settings
	record   engine.RunRecord
	course   *engine.Course
	read     time.Time // when course was
	chosen   []int
	chose    bool
	turns    []*turns // the newest used last
}

// New looks back on a run of a scenario: the one that was kept with it.
func New(store *sqlite.Store, record *engine.RunRecord, s *scenario.Scenario) *History {
	return &History{
		store: store, run: record.ID, record: *record, settings: record.Settings,
		program: s.Program(record.Settings.Seed), clock: s.Clock, agents: s.Agents,
	}
}

// Agents is the size of the population.
func (l *History) Agents() int { return l.agents }

// Course returns what the run did over wall time, in outline.
func (l *History) Course(ctx context.Context) (*engine.Course, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outline(ctx)
}

// outline reads the course, unless it is known; that of a run in progress grows.
func (l *History) outline(ctx context.Context) (*engine.Course, error) {
	if l.course != nil && (l.over() || time.Since(l.read) < freshCourse) {
		return l.course, nil
	}
	record, err := l.store.Standing(ctx, l.run)
	if err != nil {
		return nil, err
	}
	c := &engine.Course{}
	if c.Barriers, err = l.store.Barriers(ctx, l.run); err != nil {
		return nil, err
	}
	if c.Changes, err = l.store.Changes(ctx, l.run); err != nil {
		return nil, err
	}
	if c.Checkpoints, err = l.store.Checkpoints(ctx, l.run); err != nil {
		return nil, err
	}
	slices.Reverse(c.Checkpoints)
	starts, err := l.store.Starts(ctx, l.run)
	if err != nil {
		return nil, err
	}
	l.record = record
	for i := range starts {
		until := time.Now().UTC()
		if i+1 < len(starts) {
			until = starts[i+1].At.Add(-time.Microsecond)
		}
		s := engine.Stretch{From: starts[i].At, To: until}
		if i+1 < len(starts) || !record.InProgress || record.Ending != engine.NotEnded {
			if s.To, err = l.lastSign(ctx, c, s); err != nil {
				return nil, err
			}
		}
		c.Stretches = append(c.Stretches, s)
	}
	l.course, l.read = c, time.Now()
	return c, nil
}

// over reports whether nothing more comes of the run, as far as was read last.
func (l *History) over() bool { return l.record.Ending != engine.NotEnded }

// lastSign is when a process that took up the run was last heard of before the next one did.
func (l *History) lastSign(ctx context.Context, c *engine.Course, s engine.Stretch) (time.Time, error) {
	last := s.From
	hear := func(at time.Time) {
		if at.After(last) && !at.After(s.To) {
			last = at
		}
	}
	for i := range c.Barriers {
		hear(c.Barriers[i].At)
	}
	for i := range c.Changes {
		hear(c.Changes[i].At)
	}
	for i := range c.Checkpoints {
		hear(c.Checkpoints[i].At)
	}
	hear(l.record.Ended)
	rows, err := l.store.LastMetrics(ctx, l.run, s.To, 1)
	if err == nil && len(rows) > 0 {
		hear(rows[0].At)
	}
	return last, err
}

// Moment returns what the run was doing at a moment of it.
func (l *History) Moment(ctx context.Context, at time.Time) (*engine.Moment, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	c, err := l.outline(ctx)
	if err != nil {
		return nil, err
	}
	at = at.UTC().Truncate(time.Microsecond)
	cycle := c.Cycle(l.record.ForkCycle, at)
	if n := l.settings.Cycles; n > 0 {
		cycle = min(cycle, n-1)
	}
	t, err := l.sessions(ctx, c, cycle)
	if err != nil {
		return nil, err
	}
	o, err := ordered(c.Changes, cycle, at)
	if err != nil {
		return nil, err
	}
	if !l.chose {
		if l.chosen, err = l.program.Choose(ctx, &l.settings); err != nil {
			return nil, err
		}
		l.chose = true
	}
	m := &engine.Moment{Idle: c.Idle(at)}
	m.Crowd = t.crowd(at, run.Rests(&l.settings, l.agents, l.chosen, cycle), o)
	if m.Recent, err = l.store.LastMetrics(ctx, l.run, at, minuteRows); err != nil {
		return nil, err
	}
	m.Snapshot = l.picture(c, t, m)
	return m, nil
}

// sessions reads those of a cycle, or what came since of one that was open.
func (l *History) sessions(ctx context.Context, c *engine.Course, cycle int) (*turns, error) {
	i := slices.IndexFunc(l.turns, func(t *turns) bool { return t.cycle == cycle })
	if i < 0 {
		l.turns = append(l.turns, newTurns(cycle, l.agents))
		if len(l.turns) > keptTurns || l.agents >= largeCrowd && len(l.turns) > 1 {
			l.turns = slices.Delete(l.turns, 0, 1)
		}
		i = len(l.turns) - 1
	}
	t := l.turns[i]
	l.turns = append(slices.Delete(l.turns, i, i+1), t)
	if t.closed {
		return t, nil
	}
	closed := l.over() || slices.ContainsFunc(c.Barriers, func(b engine.BarrierRow) bool { return b.Cycle == cycle })
	behind, err := l.store.CycleSessions(ctx, l.run, cycle, t.behind, t.add)
	t.behind = behind
	t.closed = closed && err == nil
	return t, err
}
