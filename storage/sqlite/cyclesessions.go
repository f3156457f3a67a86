package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
)

// CycleSessions calls f with the sessions of a cycle after a position, all takes, in the order of the journal, and returns
// the last position: with 0 it reads all sessions, and with the returned position only newer ones. The row is reused, and
// of its Delta only Said is set. Reads are short.
func (s *history) CycleSessions(ctx context.Context, run engine.RunID, cycle int, behind int64, f func(r *engine.SessionRow)) (int64, error) {
	failed := func(err error) (int64, error) {
		return behind, fmt.Errorf("cycle %d of run %s: %w", cycle, run, err)
	}
	key, err := s.key(ctx, run)
	if err != nil {
		return behind, err
	}
	var packs []int64
	for rows, err := range s.file.Query(ctx, `SELECT pos FROM sessions WHERE run = ? AND cycle = ? AND pos > ? ORDER BY pos`, key, cycle, behind) {
		if err != nil {
			return failed(err)
		}
		var pos int64
		if err := rows.Scan(&pos); err != nil {
			return failed(err)
		}
		packs = append(packs, pos)
	}
	var reader codec.SessionReader
	for _, pos := range packs {
		for rows, err := range s.file.Query(ctx, `SELECT data FROM sessions WHERE pos = ?`, pos) {
			if err != nil {
				return failed(err)
			}
			var data []byte
			if err := rows.Scan(&data); err != nil {
				return failed(err)
			}
			err := blob.Rows(data, func(c codec.Cursor, base int64) error {
				r, err := reader.Read(c, cycle, base)
				if err == nil {
					f(r)
				}
				return err
			})
			if err != nil {
				return failed(err)
			}
		}
		behind = pos
	}
	if err := s.still(ctx, key); err != nil {
		return failed(err)
	}
	return behind, nil
}

// LastMetrics returns the most newest metrics of a run up to a moment, oldest first.
func (s *history) LastMetrics(ctx context.Context, run engine.RunID, until time.Time, most int) (all []engine.MetricsRow, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	for rows, err := range s.file.Query(ctx, `SELECT at, data FROM metrics WHERE run = ? AND at <= ? ORDER BY at DESC, pos DESC LIMIT ?`, key, micros(until), most) {
		if err != nil {
			return nil, fmt.Errorf("metrics of run %s: %w", run, err)
		}
		var r engine.MetricsRow
		var at int64
		var data sql.RawBytes
		if err := rows.Scan(&at, &data); err != nil {
			return nil, fmt.Errorf("metrics of run %s: %w", run, err)
		}
		if err := blob.Unmarshal(data, &r); err != nil {
			return nil, fmt.Errorf("metrics of run %s: %w", run, err)
		}
		r.At = timeOf(at)
		all = append(all, r)
	}
	slices.Reverse(all)
	return all, nil
}

// Standing returns a run as in the list of runs, by its full ID. It is cheap enough for polling.
func (s *runs) Standing(ctx context.Context, id engine.RunID) (engine.RunRecord, error) {
	r, _, err := scanRun(s.file.Row(ctx, `SELECT `+runColumns+` FROM runs WHERE id = ? AND NOT hidden`, string(id)).Scan)
	if err != nil {
		return r, fmt.Errorf("run %s: %w", id, err)
	}
	s.stand(&r)
	return r, nil
}
