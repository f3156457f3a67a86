package storage

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// changeCells are the columns of changes: what changed, the old and new value, who changed it and why.
var changeCells = []cell[*engine.ChangeRow]{
	{column{"time", timeCells, "", "When it changed."}, func(t *table, c *engine.ChangeRow) { t.time(c.At) }},
	{column{"cycle", intCells, "", "Current cycle at that time."}, func(t *table, c *engine.ChangeRow) { t.int(int64(c.Cycle)) }},
	{column{"what", wordCells, "", "What changed: a setting such as max-concurrent, the phase, or inject for a message from a person."}, func(t *table, c *engine.ChangeRow) { t.text(c.What) }},
	{column{"old", textCells, "", "Value before; the recipient of a message."}, func(t *table, c *engine.ChangeRow) { t.text(c.Old) }},
	{column{"new", textCells, "", "Value since then; the message."}, func(t *table, c *engine.ChangeRow) { t.text(c.New) }},
	{column{"who", wordCells, "", "user, a governor, or another part of Throng."}, func(t *table, c *engine.ChangeRow) { t.text(c.Who) }},
	{column{"why", textCells, "", "Reason."}, func(t *table, c *engine.ChangeRow) { t.text(c.Why) }},
}

// exportChanges writes the changes of a run, in order of time.
func exportChanges(ctx context.Context, t *table, r Reader, run engine.RunID) error {
	changes, err := r.Changes(ctx, run)
	if err != nil {
		return err
	}
	return writeRows(t, changeCells, changes)
}
