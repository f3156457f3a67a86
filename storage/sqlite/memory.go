package sqlite

import (
	"context"
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/internal/file"
)

// Memory returns the memory of the agents of a run at its end, or at the start of its current cycle.
func (s *history) Memory(ctx context.Context, run engine.RunID) (map[int]*engine.Memory, error) {
	return s.remember(ctx, run, nil)
}

// remember returns the memory of all agents or, if only is set, of one agent.
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
		if newest == number { // otherwise rows may have been pruned while they were read
			return r.Memory, s.still(ctx, r.key)
		}
	}
}

// remember reads the memory at the start of the current cycle, and returns the number of the checkpoint that it started
// from.
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
