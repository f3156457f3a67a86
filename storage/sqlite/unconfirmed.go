package sqlite

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// Unconfirmed returns the first most changing requests of a run that may have been executed twice, in the order in which
// they were sent again.
func (s *history) Unconfirmed(ctx context.Context, run engine.RunID, most int) (u engine.UnconfirmedList, err error) {
	fail := func(err error) (engine.UnconfirmedList, error) {
		return engine.UnconfirmedList{}, fmt.Errorf("unconfirmed requests of run %s: %w", run, file.Translate(err))
	}
	key, err := s.key(ctx, run)
	if err != nil {
		return fail(err)
	}
	if err := s.file.Row(ctx, `SELECT count(*) FROM unconfirmed WHERE run = ?`, key).Scan(&u.All); err != nil {
		return fail(err)
	}
	for rows, err := range s.file.Query(ctx, `SELECT pos, at, cycle, agent, take, path, request FROM unconfirmed WHERE run = ? ORDER BY pos LIMIT ?`, key, most) {
		if err != nil {
			return fail(err)
		}
		var j journaled
		if err := scanUnconfirmed(rows, &j); err != nil {
			return fail(err)
		}
		u.First = append(u.First, j.row.(engine.UnconfirmedRow))
	}
	return u, nil
}

// unconfirmed adds unconfirmed requests that made the run inexact, although their sessions may not have ended.
func (r *resuming) unconfirmed(ctx context.Context) error {
	for rows, err := range r.store.file.Query(ctx, `SELECT pos, at, cycle, agent, take, path, request FROM unconfirmed WHERE run = ? ORDER BY cycle, agent LIMIT 1`, r.key) {
		if err != nil {
			return err
		}
		var j journaled
		if err := scanUnconfirmed(rows, &j); err != nil {
			return err
		}
		row := j.row.(engine.UnconfirmedRow)
		r.State.Totals.Inexact = earliest(r.State.Totals.Inexact, row.Inexact())
		if row.Cycle < r.Cycle {
			r.AtBarrier.Inexact = earliest(r.AtBarrier.Inexact, row.Inexact())
		}
	}
	return nil
}

func scanUnconfirmed(rows *sql.Rows, j *journaled) error {
	var r engine.UnconfirmedRow
	var at int64
	err := rows.Scan(&j.pos, &at, &r.Cycle, &r.Agent, &r.Take, &r.Path, &r.Request)
	r.At = timeOf(at)
	j.row = r
	return err
}
