package sqlite

import (
	"context"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// copyShared returns a copy that shares no memory which the caller may reuse.
func copyShared(r engine.SharedRow) engine.SharedRow {
	r.Entry.Output, r.Entry.Statuses = slices.Clone(r.Entry.Output), slices.Clone(r.Entry.Statuses)
	if r.Record != nil {
		record := *r.Record
		record.Statuses = slices.Clone(record.Statuses)
		if record.Usage != nil {
			usage := *record.Usage
			record.Usage = &usage
		}
		r.Record = &record
	}
	return r
}

// shared writes a row about a shared answer. The intents of a request are deleted when it ends.
func (w *transaction) shared(pos int64, r *engine.SharedRow) error {
	run, key, open := w.journal.run, r.Key[:], r.Record == nil
	data, err := blob.Marshal(r, w.journal.encoder)
	if err != nil {
		return err
	}
	if !open {
		if err := w.tx.Exec(`DELETE FROM shared WHERE run = ? AND key = ? AND open`, run, key); err != nil {
			return err
		}
	}
	return w.tx.Exec(`INSERT INTO shared (pos, run, key, open, data) VALUES (?, ?, ?, ?, ?)`, pos, run, key, open, data)
}

// eachShared calls f with the shared rows of a run, in order.
func (s *core) eachShared(ctx context.Context, run int64, f func(r *engine.SharedRow)) error {
	for pos, page := int64(0), pageRows; page == pageRows; {
		page = 0
		for rows, err := range s.file.Query(ctx, `SELECT pos, data FROM shared WHERE run = ? AND pos > ? ORDER BY pos LIMIT ?`, run, pos, pageRows) {
			if err != nil {
				return err
			}
			var data []byte
			if err := rows.Scan(&pos, &data); err != nil {
				return file.Translate(err)
			}
			var r engine.SharedRow
			if err := blob.Unmarshal(data, &r); err != nil {
				return err
			}
			f(&r)
			page++
		}
	}
	return nil
}

// asked adds up the requests of the run itself.
func (s *core) asked(ctx context.Context, run int64) (a engine.RequestCounts, err error) {
	err = s.eachShared(ctx, run, func(r *engine.SharedRow) {
		if r.Record != nil {
			a.Add(r.Record)
		}
	})
	return a, err
}

// Writing adds up the requests that wrote the population of a run.
func (s *history) Writing(ctx context.Context, run engine.RunID) (a engine.RequestCounts, err error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return a, err
	}
	err = s.eachShared(ctx, key, func(r *engine.SharedRow) {
		if r.Record != nil && r.Key == engine.PopulationKey {
			a.Add(r.Record)
		}
	})
	return a, err
}

// shared reads the shared answers. The totals of the checkpoint are replaced, because they would count some requests twice.
func (r *resuming) shared(ctx context.Context) error {
	t := &r.State.Totals
	t.Shared = engine.RequestCounts{}
	err := r.store.eachShared(ctx, r.key, func(row *engine.SharedRow) {
		r.Shared.Add(row)
		r.Writing += row.Took
		if row.Record != nil {
			t.Shared.Add(row.Record)
		}
	})
	r.AtBarrier.Shared = t.Shared
	return err
}
