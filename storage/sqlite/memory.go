package sqlite

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// Memory returns what the agents of a run remember at its end, or at the start of its open cycle.
func (s *history) Memory(ctx context.Context, run engine.RunID) (map[int]*engine.Memory, error) {
	return s.remember(ctx, run, nil)
}

// remember is Memory of all agents or, if only is set, of that one.
func (s *history) remember(ctx context.Context, run engine.RunID, only *int) (map[int]*engine.Memory, error) {
	for {
		r := &resuming{store: s.core, run: run, only: only}
		number, err := r.remember(ctx)
		if err != nil {
			return nil, fmt.Errorf("memory of run %s: %w", run, err)
		}
		var newest int
		if err := s.file.Row(ctx, `SELECT coalesce(max(number), 0) FROM checkpoints WHERE run = ?`, r.key).Scan(&newest); err != nil {
			return nil, fmt.Errorf("memory of run %s: %w", run, file.Translate(err))
		}
		if newest == number { // else what was read may have gone meanwhile, into the newer one
			return r.Memory, nil
		}
	}
}

// remember reads the memory at the start of the open cycle, and which checkpoint it goes by.
func (r *resuming) remember(ctx context.Context) (number int, err error) {
	if err := r.start(ctx); err != nil {
		return 0, err
	}
	if number, err = r.checkpoint(ctx); err != nil {
		return 0, err
	}
	if r.only != nil {
		r.Memory, err = r.store.memoryOf(ctx, r.key, number, *r.only)
	} else {
		r.Memory, err = r.store.memory(ctx, r.key, number)
	}
	if err != nil {
		return 0, err
	}
	return number, r.deltas(ctx, nil)
}
