package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/storage/sqlite/internal/blob"
)

// ErrorNotes returns the error classes of a run's sessions with their counts and last occurrences, most frequent first. Only
// the last take of a session counts.
func (s *history) ErrorNotes(ctx context.Context, run engine.RunID) ([]engine.ErrorNote, error) {
	found, err := s.LatestErrors(ctx, run, 1)
	if err != nil {
		return nil, err
	}
	all := make([]engine.ErrorNote, len(found))
	for i, latest := range found {
		all[i] = latest[0]
	}
	return all, nil
}

// LatestErrors is like ErrorNotes, with up to most occurrences of each class, newest first. Each of them has the count of
// its class.
func (s *history) LatestErrors(ctx context.Context, run engine.RunID, most int) ([][]engine.ErrorNote, error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	ordered := &resuming{store: s.core, key: key}
	if err := ordered.readChanges(ctx); err != nil {
		return nil, fmt.Errorf("errors of run %s: %w", run, err)
	}
	found := map[engine.Class]*latestErrors{}
	var reader codec.SessionReader
	for pos, page := int64(0), pageRows; page == pageRows; {
		page = 0
		for rows, err := range s.file.Query(ctx, `SELECT pos, cycle, data FROM sessions WHERE run = ? AND pos > ? AND bad > 0 ORDER BY pos LIMIT ?`, key, pos, pageRows) {
			if err != nil {
				return nil, fmt.Errorf("errors of run %s: %w", run, err)
			}
			var cycle int
			var data []byte
			if err := rows.Scan(&pos, &cycle, &data); err != nil {
				return nil, fmt.Errorf("errors of run %s: %w", run, err)
			}
			page++
			err = blob.Rows(data, func(c codec.Cursor, base int64) error {
				r, err := reader.Read(c, cycle, base)
				if err == nil && !ordered.Superseded(r.Place) && (r.Outcome == engine.Failed || r.Outcome == engine.TimedOut) {
					if found[r.Class] == nil {
						found[r.Class] = &latestErrors{most: most}
					}
					found[r.Class].add(engine.ErrorNote{Class: r.Class, Cycle: cycle, Agent: r.Agent, Path: r.Path, Message: r.Error})
				}
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("errors of run %s: %w", run, err)
			}
		}
	}
	all := make([][]engine.ErrorNote, 0, len(found))
	for _, latest := range found {
		all = append(all, latest.newestFirst())
	}
	slices.SortFunc(all, func(a, b []engine.ErrorNote) int {
		return cmp.Or(cmp.Compare(b[0].Count, a[0].Count), cmp.Compare(a[0].Class, b[0].Class))
	})
	return all, nil
}

// latestErrors keeps the last occurrences of a class.
type latestErrors struct {
	notes []engine.ErrorNote // oldest first
	most  int
	count int64
}

func (l *latestErrors) add(n engine.ErrorNote) {
	if l.count++; len(l.notes) == l.most {
		l.notes = append(l.notes[:0], l.notes[1:]...)
	}
	l.notes = append(l.notes, n)
}

func (l *latestErrors) newestFirst() []engine.ErrorNote {
	slices.Reverse(l.notes)
	for i := range l.notes {
		l.notes[i].Count = l.count
	}
	return l.notes
}
