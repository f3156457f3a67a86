package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
)

// Metrics yields the metrics of a run after a time, in order of time. The row is reused.
func (s *history) Metrics(ctx context.Context, run engine.RunID, after time.Time) iter.Seq2[*engine.MetricsRow, error] {
	return func(yield func(*engine.MetricsRow, error) bool) {
		key, err := s.key(ctx, run)
		if err != nil {
			yield(nil, err)
			return
		}
		at, pos := micros(after), int64(1<<62)
		for {
			page, err := s.metricsPage(ctx, key, at, pos)
			if err == nil && len(page) < pageRows {
				err = s.still(ctx, key)
			}
			if err != nil {
				yield(nil, fmt.Errorf("metrics of run %s: %w", run, err))
				return
			}
			for i := range page {
				at, pos = micros(page[i].At), page[i].pos
				if !yield(&page[i].MetricsRow, nil) {
					return
				}
			}
			if len(page) < pageRows {
				return
			}
		}
	}
}

type metricsRow struct {
	engine.MetricsRow
	pos int64
}

func (s *history) metricsPage(ctx context.Context, key, at, pos int64) (page []metricsRow, err error) {
	for rows, err := range s.file.Query(ctx, `SELECT pos, at, data FROM metrics WHERE run = ? AND (at, pos) > (?, ?) ORDER BY at, pos LIMIT ?`, key, at, pos, pageRows) {
		if err != nil {
			return nil, err
		}
		var r metricsRow
		var at int64
		var data sql.RawBytes
		if err := rows.Scan(&r.pos, &at, &data); err != nil {
			return nil, err
		}
		if err := blob.Unmarshal(data, &r.MetricsRow); err != nil {
			return nil, err
		}
		r.At = timeOf(at)
		page = append(page, r)
	}
	return page, nil
}

// Changes returns the changes of a run in the order of the journal.
func (s *history) Changes(ctx context.Context, run engine.RunID) (all []engine.ChangeRow, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	for rows, err := range s.file.Query(ctx, `SELECT at, cycle, what, old, new, who, why, inexact FROM changes WHERE run = ? ORDER BY pos`, key) {
		if err != nil {
			return nil, fmt.Errorf("changes of run %s: %w", run, err)
		}
		var c engine.ChangeRow
		var at int64
		var inexact sql.NullString
		if err := rows.Scan(&at, &c.Cycle, &c.What, &c.Old, &c.New, &c.Who, &c.Why, &inexact); err != nil {
			return nil, fmt.Errorf("changes of run %s: %w", run, err)
		}
		c.At = timeOf(at)
		if c.Inexact, err = inexactOfText(inexact); err != nil {
			return nil, fmt.Errorf("changes of run %s: %w", run, err)
		}
		all = append(all, c)
	}
	return all, nil
}

// Barriers returns the closed cycles of a run, in order.
func (s *history) Barriers(ctx context.Context, run engine.RunID) (all []engine.BarrierRow, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	for rows, err := range s.file.Query(ctx, `SELECT cycle, at, active, took, lag, sessions, work, mock FROM barriers WHERE run = ? ORDER BY cycle, pos`, key) {
		if err != nil {
			return nil, fmt.Errorf("barriers of run %s: %w", run, err)
		}
		var b engine.BarrierRow
		var at int64
		var work []byte
		if err := rows.Scan(&b.Cycle, &at, &b.Active, (*int64)(&b.Took), (*int64)(&b.Lag), &b.Sessions, &work, &b.Mock); err != nil {
			return nil, fmt.Errorf("barriers of run %s: %w", run, err)
		}
		if err := decodeWork(work, &b.Work); err != nil {
			return nil, fmt.Errorf("barriers of run %s: %w", run, err)
		}
		b.At = timeOf(at)
		all = append(all, b)
	}
	return all, nil
}

// decodeWork decodes the totals of a cycle's sessions, which older versions did not store.
func decodeWork(data []byte, w *engine.CycleWork) error {
	if len(data) == 0 {
		return nil
	}
	return blob.Unmarshal(data, w)
}

// Starts returns when processes started to execute a run, in order.
func (s *history) Starts(ctx context.Context, run engine.RunID) (all []engine.StartRow, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	for rows, err := range s.file.Query(ctx, `SELECT at, cycle, resumed FROM starts WHERE run = ? ORDER BY pos`, key) {
		if err != nil {
			return nil, fmt.Errorf("starts of run %s: %w", run, err)
		}
		var r engine.StartRow
		var at int64
		if err := rows.Scan(&at, &r.Cycle, &r.Resumed); err != nil {
			return nil, fmt.Errorf("starts of run %s: %w", run, err)
		}
		r.At = timeOf(at)
		all = append(all, r)
	}
	return all, nil
}

// Requests returns the stored requests of an agent's session: all while its cycle is the current one; of closed cycles those
// of failed sessions and of a sample. Answers of private steps are left out.
func (s *history) Requests(ctx context.Context, run engine.RunID, cycle, agent int) (all []storage.Request, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	found := map[engine.Place]map[string]int{} // path to index in all
	put := func(p engine.Place, e *engine.Entry, answered bool) {
		if found[p] == nil {
			found[p] = map[string]int{}
		}
		if i, ok := found[p][e.Path]; ok {
			if answered {
				all[i].Entry, all[i].Answered = *e, true
			}
			return
		}
		found[p][e.Path] = len(all)
		all = append(all, storage.Request{Place: p, Entry: *e, Answered: answered})
	}
	err = s.eachRequest(ctx, key, cycle, func(r *codec.Request) {
		if r.Agent != agent {
			return
		}
		r.Conceal()
		for i := range r.Earlier {
			put(r.Place, &r.Earlier[i], true)
		}
		put(r.Place, &r.Entry, r.Kind == codec.AnswerKind)
	})
	if err != nil {
		return nil, fmt.Errorf("requests of run %s: %w", run, err)
	}
	return all, nil
}

// OpenRequests calls f with the journaled changing requests of a run's current cycle, of all takes: intents, with path and
// hash only, and answers. Requests without an intent are left out, unless the run records.
func (s *history) OpenRequests(ctx context.Context, run engine.RunID, cycle int, f func(p engine.Place, e *engine.Entry)) error {
	key, err := s.key(ctx, run)
	if err == nil {
		err = s.eachRequest(ctx, key, cycle, func(r *codec.Request) { f(r.Place, &r.Entry) })
	}
	if err != nil {
		return fmt.Errorf("requests of run %s: %w", run, err)
	}
	return nil
}

// eachRequest calls f with the intents and answers of a cycle, in the order of the journal.
func (s *core) eachRequest(ctx context.Context, key int64, cycle int, f func(r *codec.Request)) error {
	for pos := int64(0); ; {
		page := 0
		for rows, err := range s.file.Query(ctx, `SELECT pos, data FROM requests WHERE run = ? AND kept IN (0, 1) AND cycle = ? AND pos > ? ORDER BY pos LIMIT ?`, key, cycle, pos, pageRows) {
			if err != nil {
				return err
			}
			page++
			var data []byte
			if err := rows.Scan(&pos, &data); err != nil {
				return err
			}
			if err := blob.Rows(data, func(c codec.Cursor, _ int64) error {
				r, err := codec.ReadRequest(c, cycle)
				if err == nil {
					f(&r)
				}
				return err
			}); err != nil {
				return err
			}
		}
		if page < pageRows {
			return nil
		}
	}
}
