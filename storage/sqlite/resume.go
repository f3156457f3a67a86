package sqlite

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/memories"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
	"github.com/throng-sim/throng/storage/sqlite/internal/spans"
)

// Resume returns where a run resumes: its newest checkpoint, and everything that was journaled after it. The caller should
// have claimed the run.
func (s *history) Resume(ctx context.Context, run engine.RunID) (*engine.Resumption, error) {
	r := &resuming{store: s.core, run: run, Resumption: engine.Resumption{
		Deltas: map[int]engine.Delta{}, Memory: map[int]*engine.Memory{}, Prefixes: map[int]engine.Prefix{}, Takes: map[int]int{},
		Bad: map[int]engine.SessionEnd{},
	}}
	if err := r.read(ctx); err != nil {
		return nil, fmt.Errorf("resume run %s: %w", run, err)
	}
	return &r.Resumption, nil
}

// Totals returns the totals of a run up to the end of the journal.
func (s *history) Totals(ctx context.Context, run engine.RunID) (engine.Totals, error) {
	r := &resuming{store: s.core, run: run}
	err := r.start(ctx)
	if err == nil && r.endTotals != nil {
		var t engine.Totals
		if err := blob.Unmarshal(r.endTotals, &t); err == nil {
			t.Shared, err = s.asked(ctx, r.key) // a shared request may have ended after the run
			return t, err
		}
	}
	if err == nil {
		_, err = r.checkpoint(ctx)
	}
	if err == nil {
		err = r.figures(ctx)
	}
	if err != nil {
		return engine.Totals{}, fmt.Errorf("totals of run %s: %w", run, err)
	}
	return r.State.Totals, nil
}

// resuming builds a resumption.
type resuming struct {
	engine.Resumption
	store     *core
	run       engine.RunID
	key       int64
	settings  engine.Settings
	from      int   // first cycle that the checkpoint does not include
	after     int64 // position of the checkpoint; its peaks are of that moment, its other totals of the start of cycle from
	endTotals []byte
	only      *int // the agent whose memory is read; nil for all
	spans     spans.Spans
	changes   []change
}

func (r *resuming) read(ctx context.Context) error {
	if err := r.start(ctx); err != nil {
		return err
	}
	number, err := r.checkpoint(ctx)
	if err != nil {
		return err
	}
	if number > 0 {
		if r.Memory, err = r.store.memory(ctx, r.key, number); err != nil {
			return err
		}
	}
	if err := r.figures(ctx); err != nil {
		return err
	}
	outcomes, err := r.openSessions(ctx)
	if err != nil {
		return err
	}
	if err := r.deltas(ctx, outcomes); err != nil {
		return err
	}
	return r.prefixes(ctx, outcomes)
}

// start finds the run and its current cycle.
func (r *resuming) start(ctx context.Context) (err error) {
	if r.key, err = r.store.key(ctx, r.run); err != nil {
		return err
	}
	var settings string
	err = r.store.file.Row(ctx, `SELECT fork_cycle, max(fork_cycle, coalesce((SELECT max(cycle) + 1 FROM barriers WHERE run = key), 0)), settings, totals,
		parent <> '' AND NOT EXISTS (SELECT 1 FROM starts WHERE run = key) FROM runs WHERE key = ?`, r.key).Scan(&r.from, &r.Cycle, &settings, &r.endTotals, &r.Unbegun)
	if err != nil {
		return file.Translate(err)
	}
	if err := r.lost(ctx); err != nil {
		return err
	}
	r.settings = engine.DefaultSettings() // for settings that an older version did not know
	return json.Unmarshal([]byte(settings), &r.settings)
}

// lost compares the last barrier with the sessions in the journal. The barriers of a fork also count sessions of its parent.
func (r *resuming) lost(ctx context.Context) error {
	for rows, err := range r.store.file.Query(ctx, `SELECT b.mock, CASE WHEN r.parent <> '' THEN 0 ELSE
			b.sessions - coalesce((SELECT sum(s.count) FROM sessions s WHERE s.run = b.run AND s.pos < b.pos), 0) END
		FROM barriers b JOIN runs r ON r.key = b.run WHERE b.run = ? ORDER BY b.cycle DESC, b.pos DESC LIMIT 1`, r.key) {
		if err != nil {
			return err
		}
		if err := rows.Scan(&r.Mock, &r.Lost); err != nil {
			return err
		}
	}
	return nil
}

// checkpoint reads the state of the newest checkpoint.
func (r *resuming) checkpoint(ctx context.Context) (number int, err error) {
	for rows, err := range r.store.file.Query(ctx, `SELECT pos, number, cycle, at, state FROM checkpoints WHERE run = ? ORDER BY number DESC LIMIT 1`, r.key) {
		if err != nil {
			return 0, err
		}
		var at int64
		var state []byte
		if err := rows.Scan(&r.after, &number, &r.from, &at, &state); err != nil {
			return 0, err
		}
		if err := blob.Unmarshal(state, &r.State); err != nil {
			return 0, err
		}
		r.Checkpoints, r.Checkpoint, r.Injected, r.Retired = number, timeOf(at), r.State.Injected, r.State.Retired
		r.Tuned = slices.Clone(r.State.Tuned)
	}
	return number, nil
}

// figures computes the totals at the start of the current cycle, and at the end of the journal.
func (r *resuming) figures(ctx context.Context) error {
	if err := r.findSpans(ctx); err != nil {
		return err
	}
	if err := r.readChanges(ctx); err != nil {
		return err
	}
	t := &r.State.Totals // before the first session of the current cycle, a copy becomes AtBarrier
	behind := false
	leave := func() {
		if !behind {
			r.AtBarrier, behind = t.Clone(), true
		}
	}
	then, thenOf := engine.Totals{}, -1 // totals at the start of a cycle with requeued sessions
	requeued := map[int]bool{}
	for p := range r.Requeued {
		requeued[p.Cycle] = true
	}
	var reader codec.SessionReader
	var before int64 // position before the first session that the checkpoint does not include
	if err := r.store.file.Row(ctx, `SELECT coalesce(min(pos) - 1, 9223372036854775807) FROM sessions WHERE run = ? AND cycle >= ?`, r.key, r.from).Scan(&before); err != nil {
		return file.Translate(err)
	}
	// The index would order them by agent; positions are in the order of the journal, by cycle.
	err := r.eachPack(ctx, `SELECT pos, cycle, data FROM sessions NOT INDEXED WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, before, func(p pack) error {
		if p.cycle >= r.Cycle {
			leave()
		}
		if requeued[p.cycle] && thenOf != p.cycle {
			then, thenOf = t.Clone(), p.cycle
		}
		return blob.Rows(p.data, func(c codec.Cursor, base int64) error {
			row, err := reader.Read(c, p.cycle, base)
			if err == nil {
				r.Count(t, row, &then)
				r.spans.Ended(p.pos, row.Started.Add(row.Total))
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	leave()
	if err := r.shared(ctx); err != nil {
		return err
	}
	if err := r.findInexact(ctx); err != nil {
		return err
	}
	if err := r.peaks(ctx); err != nil {
		return err
	}
	t.Peaks.Elapsed += r.spans.Total()
	r.AtBarrier.Peaks = t.Peaks
	return nil
}

// findSpans lists the processes that executed the run since the checkpoint.
func (r *resuming) findSpans(ctx context.Context) error {
	if r.after > 0 {
		r.spans.Begin(r.after, r.Checkpoint)
	}
	for rows, err := range r.store.file.Query(ctx, `SELECT pos, at FROM starts WHERE run = ? AND pos > ? ORDER BY pos`, r.key, r.after) {
		if err != nil {
			return err
		}
		var pos, at int64
		if err := rows.Scan(&pos, &at); err != nil {
			return err
		}
		r.spans.Begin(pos, timeOf(at))
	}
	return nil
}

// peaks updates the peaks with the barriers and metrics up to the end of the journal.
func (r *resuming) peaks(ctx context.Context) error {
	p := &r.State.Totals.Peaks
	for rows, err := range r.store.file.Query(ctx, `SELECT pos, at, took, lag FROM barriers WHERE run = ? AND pos > ?`, r.key, r.after) {
		if err != nil {
			return err
		}
		var pos, at int64
		var took, lag time.Duration
		if err := rows.Scan(&pos, &at, (*int64)(&took), (*int64)(&lag)); err != nil {
			return err
		}
		p.Cycle, p.Lag = max(p.Cycle, took), max(p.Lag, lag)
		p.Worked += took
		p.Open = 0
		r.spans.Seen(pos, timeOf(at))
	}
	return r.eachPack(ctx, `SELECT pos, at, data FROM metrics NOT INDEXED WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, r.after, func(m pack) error {
		var row engine.MetricsRow
		if err := blob.Unmarshal(m.data, &row); err != nil {
			return err
		}
		p.Memory, p.Stored = max(p.Memory, row.Host.Memory), max(p.Stored, row.Stored)
		p.Connections = max(p.Connections, row.Connections)
		p.ServerConnections = max(p.ServerConnections, row.ServerConnections)
		p.Lag = max(p.Lag, row.Lag)
		if row.Overhead.Span >= p.Overhead.Span {
			p.Overhead = row.Overhead
		}
		p.Late = row.Late.Worse(p.Late)
		p.Unrecorded = row.Unrecorded
		r.spans.Seen(m.pos, timeOf(int64(m.cycle)))
		return nil
	})
}

// eachPack calls f with the rows of a query in pages. The query takes the run, a position and a limit.
func (r *resuming) eachPack(ctx context.Context, query string, after int64, f func(p pack) error) error {
	for {
		n := 0
		for rows, err := range r.store.file.Query(ctx, query, r.key, after, pageRows) {
			if err != nil {
				return err
			}
			var p pack
			if err := rows.Scan(&p.pos, &p.cycle, &p.data); err != nil {
				return err
			}
			if err := f(p); err != nil {
				return err
			}
			after = p.pos
			n++
		}
		if n < pageRows {
			return nil
		}
	}
}

// lastTake is the last session of an agent in the current cycle.
type lastTake struct {
	take    int
	outcome engine.Outcome
}

// openSessions returns the sessions of the current cycle that ended.
func (r *resuming) openSessions(ctx context.Context) (map[int]lastTake, error) {
	last := map[int]lastTake{}
	var reader codec.SessionReader
	for rows, err := range r.store.file.Query(ctx, `SELECT data FROM sessions WHERE run = ? AND cycle = ? ORDER BY pos`, r.key, r.Cycle) {
		if err != nil {
			return nil, err
		}
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		err := blob.Rows(data, func(c codec.Cursor, base int64) error {
			place, outcome, err := codec.OutcomeOf(c, r.Cycle)
			if l, ok := last[place.Agent]; err != nil || ok && place.Take < l.take {
				return err
			}
			last[place.Agent] = lastTake{place.Take, outcome}
			delete(r.Bad, place.Agent)
			if outcome == engine.Failed || outcome == engine.TimedOut {
				row, err := reader.Read(c, r.Cycle, base)
				if err != nil {
					return err
				}
				r.Bad[place.Agent] = engine.EndOf(row)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return last, nil
}

// deltas applies the memory changes of the cycles that were closed since the checkpoint, and collects those of the current
// cycle.
func (r *resuming) deltas(ctx context.Context, outcomes map[int]lastTake) error {
	cycle := -1
	type change struct {
		take  int
		delta engine.Delta
	}
	changes, changed := map[int]change{}, map[int]bool{} // of the cycle; since the checkpoint
	defer func() { r.Changed = slices.Sorted(maps.Keys(changed)) }()
	apply := func() {
		deltas := make(map[int]engine.Delta, len(changes))
		for agent, c := range changes {
			deltas[agent] = c.delta
		}
		touched, _ := memories.CommitCycle(&r.settings, memories.Map(r.Memory), memories.Of(deltas), cycle)
		for _, agent := range touched {
			changed[agent] = true
		}
		clear(changes)
	}
	for rows, err := range r.store.file.Query(ctx, `SELECT cycle, data FROM deltas WHERE run = ? AND cycle BETWEEN ? AND ? ORDER BY cycle, pos`, r.key, r.from, r.Cycle) {
		if err != nil {
			return err
		}
		at, data := 0, []byte(nil)
		if err := rows.Scan(&at, &data); err != nil {
			return err
		}
		if at != cycle {
			apply()
			cycle = at
		}
		err := blob.Rows(data, func(c codec.Cursor, _ int64) error {
			place, delta, err := codec.ReadDelta(c, at)
			if r.only != nil {
				delta = about(*r.only, place, delta)
				if _, known := changes[place.Agent]; !known && delta.Empty() {
					return err
				}
			}
			if was, ok := changes[place.Agent]; !ok || place.Take >= was.take {
				changes[place.Agent] = change{place.Take, delta}
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	if cycle < r.Cycle {
		apply()
		return nil
	}
	for agent, c := range changes {
		if last, ok := outcomes[agent]; ok && last.take == c.take && last.outcome.Commits() && !c.delta.Empty() {
			r.Deltas[agent] = c.delta
		}
	}
	return nil
}
