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
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/storage/sqlite"
)

const (
	minuteRows      = 61 // metrics rows that health needs
	cachedCycles    = 2  // cycles whose sessions are cached; 1 for large populations
	largePopulation = 200_000
	timelineTime    = time.Second // how long the timeline of a run in progress is valid
)

// History reads the state of a run at any moment. It caches the sessions of the last cycles, so further moments of these are
// fast. Its methods read the store, and are safe for concurrent use.
type History struct {
	store   *sqlite.Store
	run     engine.RunID
	program *scenario.Program
	clock   engine.Clock
	agents  int
	success []engine.Criterion

	mu       sync.Mutex
	settings engine.Settings
	record   engine.RunRecord
	timeline *engine.RunTimeline
	read     time.Time // when timeline was
	chosen   []int
	chose    bool
	turns    []*turns // the last one was used last
}

// New returns the history of a run. s is the scenario stored with the run.
func New(store *sqlite.Store, record *engine.RunRecord, s *scenario.Scenario) *History {
	return &History{
		store: store, run: record.ID, record: *record, settings: record.Settings,
		program: s.Program(record.Settings.Seed), clock: s.Clock, agents: s.Agents, success: s.Success,
	}
}

// Agents returns the size of the population.
func (l *History) Agents() int { return l.agents }

// Timeline returns an outline of the run over wall time.
func (l *History) Timeline(ctx context.Context) (*engine.RunTimeline, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outline(ctx)
}

// Outline returns an outline of a run over wall time.
func Outline(ctx context.Context, store *sqlite.Store, run engine.RunID) (*engine.RunTimeline, error) {
	return (&History{store: store, run: run}).outline(ctx)
}

// outline reads the timeline, unless it is cached.
func (l *History) outline(ctx context.Context) (*engine.RunTimeline, error) {
	if l.timeline != nil && (l.over() || time.Since(l.read) < timelineTime) {
		return l.timeline, nil
	}
	record, err := l.store.Standing(ctx, l.run)
	if err != nil {
		return nil, err
	}
	c := &engine.RunTimeline{}
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
			if s.To, err = l.lastRecorded(ctx, c, s); err != nil {
				return nil, err
			}
		}
		c.Stretches = append(c.Stretches, s)
	}
	l.timeline, l.read = c, time.Now()
	return c, nil
}

// over reports whether the run has ended, according to the cached record.
func (l *History) over() bool { return l.record.Ending != engine.NotEnded }

// lastRecorded returns the time of the last row that a process wrote before the next process resumed the run.
func (l *History) lastRecorded(ctx context.Context, c *engine.RunTimeline, s engine.Stretch) (time.Time, error) {
	last := s.From
	note := func(at time.Time) {
		if at.After(last) && !at.After(s.To) {
			last = at
		}
	}
	for i := range c.Barriers {
		note(c.Barriers[i].At)
	}
	for i := range c.Changes {
		note(c.Changes[i].At)
	}
	for i := range c.Checkpoints {
		note(c.Checkpoints[i].At)
	}
	note(l.record.Ended)
	rows, err := l.store.LastMetrics(ctx, l.run, s.To, 1)
	if err == nil && len(rows) > 0 {
		note(rows[0].At)
	}
	return last, err
}

// Moment returns the state of the run at a moment.
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
	m.Crowd = t.crowd(at, run.Inactive(&l.settings, l.agents, l.chosen, cycle), o)
	if m.Recent, err = l.recent(ctx, at); err != nil {
		return nil, err
	}
	m.Snapshot = l.snapshot(c, t, m)
	return m, nil
}

// recent returns the metrics of the minute before a moment, a row for each second.
func (l *History) recent(ctx context.Context, at time.Time) ([]engine.MetricsRow, error) {
	const fine = int(seconds.Fine / seconds.Each)
	rows, err := l.store.LastMetrics(ctx, l.run, at, minuteRows+fine)
	whole := seconds.WholeOf(rows)
	return whole[max(len(whole)-minuteRows, 0):], err
}

// sessions reads the sessions of a cycle. For a cycle that was in progress at the last call, it reads the new ones.
func (l *History) sessions(ctx context.Context, c *engine.RunTimeline, cycle int) (*turns, error) {
	i := slices.IndexFunc(l.turns, func(t *turns) bool { return t.cycle == cycle })
	if i < 0 {
		l.turns = append(l.turns, newTurns(cycle, l.agents))
		if len(l.turns) > cachedCycles || l.agents >= largePopulation && len(l.turns) > 1 {
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
