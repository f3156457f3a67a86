package sqlite

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

const (
	// cycleWindow is the number of cycles whose sessions of one agent are read in one query.
	cycleWindow = 64
	// agentPatience is how long more sessions are searched for after the first was found.
	agentPatience = time.Second
	// requestPacks and requestBytes bound the packs that are read for the requests of one session, which precede it closely
	// in the journal.
	requestPacks = 2000
	requestBytes = 8 << 20
)

// Recent returns about most of the newest sessions of an agent in the cycles before before (0: all), newest first, with all
// takes. Older sessions may exist in the cycles before next, unless it is 0. Of Delta only Said is set. Recent only reads packs whose
// range of agents includes the agent, so it is fast in runs of any length.
func (s *history) Recent(ctx context.Context, run engine.RunID, agent, before, most int) (all []engine.SessionRow, next int, err error) {
	all, next, err = s.recent(ctx, run, agent, before, most)
	if err != nil {
		return nil, 0, fmt.Errorf("sessions of agent %d of run %s: %w", agent, run, err)
	}
	return all, next, nil
}

func (s *history) recent(ctx context.Context, run engine.RunID, agent, before, most int) (all []engine.SessionRow, next int, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, 0, err
	}
	if before <= 0 {
		before = math.MaxInt
	}
	var first, last sql.NullInt64
	if err := s.file.Row(ctx, `SELECT (SELECT min(cycle) FROM sessions WHERE run = ?1), (SELECT max(cycle) FROM sessions WHERE run = ?1 AND cycle < ?2)`,
		key, before).Scan(&first, &last); err != nil {
		return nil, 0, file.Translate(err)
	}
	if !last.Valid {
		return nil, 0, nil
	}
	began := time.Now()
	for next = int(last.Int64) + 1; next > int(first.Int64); {
		if len(all) >= most || len(all) > 0 && time.Since(began) > agentPatience {
			return all, next, nil
		}
		found, from, err := s.window(ctx, key, agent, next, most-len(all))
		if err != nil {
			return nil, 0, err
		}
		all, next = append(all, found...), from
	}
	return all, 0, nil
}

// window reads about most sessions of an agent in the cycles from from to before-1, newest first. It chooses from so that it
// reads no more cycles than necessary.
func (s *history) window(ctx context.Context, key int64, agent, before, most int) (all []engine.SessionRow, from int, err error) {
	from = max(before-cycleWindow, 0)
	of := before
	for rows, err := range s.file.Query(ctx, `SELECT cycle, data FROM sessions INDEXED BY sessions_order WHERE run = ? AND cycle >= ? AND cycle < ? AND lo <= ? AND hi >= ? ORDER BY cycle DESC`,
		key, from, before, agent, agent) {
		if err != nil {
			return nil, 0, err
		}
		var cycle int
		var data []byte
		if err := rows.Scan(&cycle, &data); err != nil {
			return nil, 0, err
		}
		if cycle != of && len(all) >= most {
			from = of
			break
		}
		of = cycle
		if all, err = appendSessions(all, data, cycle, agent); err != nil {
			return nil, 0, err
		}
	}
	slices.SortStableFunc(all, func(a, b engine.SessionRow) int {
		return cmp.Or(cmp.Compare(b.Cycle, a.Cycle), cmp.Compare(b.Take, a.Take))
	})
	return all, from, nil
}

// appendSessions appends the sessions of an agent in a pack.
func appendSessions(all []engine.SessionRow, data []byte, cycle, agent int) ([]engine.SessionRow, error) {
	err := blob.Rows(data, func(c codec.Cursor, base int64) error {
		place, _, err := codec.OutcomeOf(c, cycle)
		if err != nil || place.Agent != agent {
			return err
		}
		var own codec.SessionReader // a reader of its own, because the row is kept
		row, err := own.Read(c, cycle, base)
		if err != nil {
			return err
		}
		for i := range row.Events { // without a reference to the whole pack
			row.Events[i].Data = bytes.Clone(row.Events[i].Data)
		}
		all = append(all, *row)
		return nil
	})
	return all, err
}

// Keeps reports whether the requests of a session are stored, as far as that is known: those of the current cycle, and of
// other cycles those of failed sessions, of a sample, and of runs that record.
func Keeps(r *engine.RunRecord, s *engine.SessionRow, open int) bool {
	return s.Cycle >= open || s.Outcome == engine.Failed || s.Outcome == engine.TimedOut || r.Settings.Record ||
		sampled(r.ID, s.Cycle, s.Agent, r.Settings.KeepShare)
}

// RequestsOf returns the same as [Store.Requests] for one take. It reads backward from the end of the take, or of the
// journal if the take has not ended, until enough returns true or some megabytes are read.
func (s *history) RequestsOf(ctx context.Context, run engine.RunID, p engine.Place, enough func([]storage.Request) bool) (all []storage.Request, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	before, err := s.endOf(ctx, key, p)
	if err != nil {
		return nil, fmt.Errorf("requests of agent %d of run %s: %w", p.Agent, run, err)
	}
	packs, bytes := 0, 0
	for rows, err := range s.file.Query(ctx, `SELECT data FROM requests WHERE run = ? AND kept IN (0, 1) AND cycle = ? AND pos < ? ORDER BY pos DESC LIMIT ?`,
		key, p.Cycle, before, requestPacks) {
		if err != nil {
			return nil, fmt.Errorf("requests of agent %d of run %s: %w", p.Agent, run, err)
		}
		var data []byte
		if err := rows.Scan(&data); err != nil {
			return nil, err
		}
		packs, bytes = packs+1, bytes+len(data)
		found, err := requestsIn(data, p)
		if err != nil {
			return nil, fmt.Errorf("requests of agent %d of run %s: %w", p.Agent, run, err)
		}
		all = joined(all, found)
		if bytes > requestBytes || len(found) > 0 && enough(all) {
			break
		}
	}
	return all, nil
}

// endOf returns the position of a session in the journal, which its requests precede.
func (s *history) endOf(ctx context.Context, key int64, p engine.Place) (pos int64, err error) {
	for rows, err := range s.file.Query(ctx, `SELECT pos, data FROM sessions INDEXED BY sessions_order WHERE run = ? AND cycle = ? AND lo <= ? AND hi >= ?`, key, p.Cycle, p.Agent, p.Agent) {
		if err != nil {
			return 0, err
		}
		var data []byte
		if err := rows.Scan(&pos, &data); err != nil {
			return 0, err
		}
		found, err := appendSessions(nil, data, p.Cycle, p.Agent)
		if err != nil {
			return 0, err
		}
		if slices.ContainsFunc(found, func(r engine.SessionRow) bool { return r.Take == p.Take }) {
			return pos, nil
		}
	}
	return math.MaxInt64, nil // it has not ended
}

// requestsIn returns the requests of a take in a pack, in their order.
func requestsIn(data []byte, p engine.Place) (all []storage.Request, err error) {
	err = blob.Rows(data, func(c codec.Cursor, _ int64) error {
		whole := c
		if place := whole.Place(p.Cycle); whole.Bad() || place.Agent != p.Agent || place.Take != p.Take {
			return nil
		}
		r, err := codec.ReadRequest(c, p.Cycle)
		if err != nil {
			return err
		}
		r.Conceal()
		for i := range r.Earlier {
			all = append(all, storage.Request{Place: r.Place, Entry: r.Earlier[i], Answered: true})
		}
		all = append(all, storage.Request{Place: r.Place, Entry: r.Entry, Answered: r.Kind == codec.AnswerKind})
		return nil
	})
	return all, err
}

// joined prepends the requests of an earlier pack to the known ones, one for each path. An answer takes precedence over an
// intent.
func joined(known, earlier []storage.Request) (all []storage.Request) {
	for _, r := range append(slices.Clone(earlier), known...) {
		i := slices.IndexFunc(all, func(s storage.Request) bool { return s.Path == r.Path })
		switch {
		case i < 0:
			all = append(all, r)
		case r.Answered && !all[i].Answered:
			all[i] = r
		}
	}
	return all
}

// MemoryOf returns the same as [Store.Memory] for one agent; nil if it has no memory.
func (s *history) MemoryOf(ctx context.Context, run engine.RunID, agent int) (*engine.Memory, error) {
	memory, err := s.remember(ctx, run, &agent)
	return memory[agent], err
}

// memoryOf returns the memory of an agent at a checkpoint.
func (s *core) memoryOf(ctx context.Context, key int64, number, agent int) (map[int]*engine.Memory, error) {
	var data []byte
	err := s.file.Row(ctx, `SELECT data FROM checkpoint_memory WHERE run = ? AND agent = ? AND number <= ? ORDER BY number DESC LIMIT 1`, key, agent, number).Scan(&data)
	memory := map[int]*engine.Memory{}
	switch {
	case errors.Is(err, sql.ErrNoRows) || err == nil && len(data) == 0:
		return memory, nil
	case err != nil:
		return nil, file.Translate(err)
	}
	memory[agent] = &engine.Memory{}
	return memory, blob.Unmarshal(data, memory[agent])
}

// about returns the changes of a session that affect one agent: its own memory, and messages to it.
func about(agent int, of engine.Place, d engine.Delta) engine.Delta {
	said := d.Said
	if of.Agent != agent {
		d = engine.Delta{}
	}
	d.Said = nil
	for _, m := range said {
		if slices.Contains(m.To, agent) {
			d.Said = append(d.Said, engine.Message{To: []int{agent}, Body: m.Body})
		}
	}
	return d
}
