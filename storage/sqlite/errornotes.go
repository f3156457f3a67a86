package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// ErrorNotes returns the classes of errors that sessions of a run ended with, each with its count and its last
// occurrence, most frequent first; of a session's takes only the last.
func (s *Store) ErrorNotes(ctx context.Context, run engine.RunID) ([]engine.ErrorNote, error) {
	key, err := s.key(ctx, run)
	if err != nil {
		return nil, err
	}
	ordered := &resuming{store: s, key: key}
	if err := ordered.hear(ctx); err != nil {
		return nil, fmt.Errorf("errors of run %s: %w", run, err)
	}
	found := map[engine.Class]engine.ErrorNote{}
	var reader sessionReader
	for pos, page := int64(0), pageRows; page == pageRows; {
		page = 0
		for rows, err := range s.query(ctx, `SELECT pos, cycle, data FROM sessions WHERE run = ? AND pos > ? AND bad > 0 ORDER BY pos LIMIT ?`, key, pos, pageRows) {
			if err != nil {
				return nil, fmt.Errorf("errors of run %s: %w", run, err)
			}
			var cycle int
			var data []byte
			if err := rows.Scan(&pos, &cycle, &data); err != nil {
				return nil, fmt.Errorf("errors of run %s: %w", run, err)
			}
			page++
			err = segments(data, func(c cursor, base int64) error {
				r, err := reader.read(c, cycle, base)
				if err == nil && !ordered.Superseded(r.Place) && (r.Outcome == engine.Failed || r.Outcome == engine.TimedOut) {
					found[r.Class] = engine.ErrorNote{
						Class: r.Class, Count: found[r.Class].Count + 1, Cycle: cycle, Agent: r.Agent, Path: r.Path, Message: r.Error,
					}
				}
				return err
			})
			if err != nil {
				return nil, fmt.Errorf("errors of run %s: %w", run, err)
			}
		}
	}
	all := make([]engine.ErrorNote, 0, len(found))
	for _, n := range found {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b engine.ErrorNote) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	return all, nil
}
