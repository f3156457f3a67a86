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
	// cycleWindow is how many cycles are read at once for one agent's sessions.
	cycleWindow = 64
	// agentPatience is how long it is looked for more of them once there is one.
	agentPatience = time.Second
	// requestPacks and requestBytes bound what is read for the requests of one session, which stand before it in the
	// journal, not far away.
	requestPacks = 2000
	requestBytes = 8 << 20
)

// Recent returns the newest sessions of one agent in the cycles below before (0: all), newest first, with all their
// takes: about most of them. In the cycles below next, 0 if there are none, it may have more. Their Delta is not filled
// in. It reads the packs that the agent is in and no others, so that it is quick however long the run is.
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

// window reads an agent's sessions of the cycles from from, which it finds, to before-1, newest first: no more cycles
// than it takes for most of them.
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

// appendSessions appends those of an agent in a pack.
func appendSessions(all []engine.SessionRow, data []byte, cycle, agent int) ([]engine.SessionRow, error) {
	err := blob.Rows(data, func(c codec.Cursor, base int64) error {
		place, _, err := codec.OutcomeOf(c, cycle)
		if err != nil || place.Agent != agent {
			return err
		}
		var own codec.SessionReader // which gives the row away
		row, err := own.Read(c, cycle, base)
		if err != nil {
			return err
		}
		for i := range row.Events { // which would hold on to the whole pack
			row.Events[i].Data = bytes.Clone(row.Events[i].Data)
		}
		all = append(all, *row)
		return nil
	})
	return all, err
}

// Keeps reports whether what services answered in a session is kept, as far as that can be told: all of the open cycle, and
// of the others of failed sessions, of a sample, and of a run that records.
func Keeps(r *engine.RunRecord, s *engine.SessionRow, open int) bool {
	return s.Cycle >= open || s.Outcome == engine.Failed || s.Outcome == engine.TimedOut || r.Settings.Record ||
		sampled(r.ID, s.Cycle, s.Agent, r.Settings.KeepShare)
}

// RequestsOf returns what [Store.Requests] does of one take, reading back from its end in the journal, or from that of all
// if it has not ended, until enough says that nothing is missing; but no more than some megabytes.
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

// endOf is the position before which the requests of a session stand: its row's.
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

// requestsIn are those of a take in a pack, in its order.
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

// joined puts the requests of an earlier pack before those that are known, one for each path: the answer, if there is one.
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

// MemoryOf is what [Store.Memory] returns for one agent; nil where it has none.
func (s *history) MemoryOf(ctx context.Context, run engine.RunID, agent int) (*engine.Memory, error) {
	memory, err := s.remember(ctx, run, &agent)
	return memory[agent], err
}

// memoryOf returns what an agent remembered at a checkpoint.
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

// about is what a session's changes mean for one agent: its own memory, or what was said to it.
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
