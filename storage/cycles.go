package storage

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
)

// cycleCells are the columns of cycles: the outcomes of its sessions, its steps and its speedup. Durations differ from run
// to run, so the file does too.
var cycleCells = []cell[*engine.BarrierRow]{
	{column{"cycle", intCells, "", "Cycle, from 0."}, func(t *table, b *engine.BarrierRow) { t.int(int64(b.Cycle)) }},
	{column{"time", timeCells, "", "End of the cycle."}, func(t *table, b *engine.BarrierRow) { t.time(b.At) }},
	secondsCell("took_seconds", "From the start of the cycle to the end of its last session, without pauses.", func(b *engine.BarrierRow) time.Duration { return b.Took }),
	secondsCell("lag_seconds", "How far behind schedule the cycle started.", func(b *engine.BarrierRow) time.Duration { return b.Lag }),
	ofCycle("agents", "Sessions of the cycle.", func(b *engine.BarrierRow) int64 { return int64(b.Active) }),
	ofCycle("ok", "Sessions that completed.", func(b *engine.BarrierRow) int64 { return b.Work.OK }),
	ofCycle("failed", "Sessions that failed.", func(b *engine.BarrierRow) int64 { return b.Work.Failed }),
	ofCycle("timeouts", "Sessions that timed out.", func(b *engine.BarrierRow) int64 { return b.Work.TimedOut }),
	ofCycle("parallel_steps", "Steps that could run at the same time as others of their session.", func(b *engine.BarrierRow) int64 { return b.Work.Flow.Parallel }),
	ofCycle("sequential_steps", "Other steps.", func(b *engine.BarrierRow) int64 { return b.Work.Flow.Sequential }),
	ofCycle("failed_steps", "Steps that failed.", func(b *engine.BarrierRow) int64 { return b.Work.Flow.Failed }),
	ofCycle("timed_out_steps", "Steps that timed out.", func(b *engine.BarrierRow) int64 { return b.Work.Flow.TimedOut }),
	secondsCell("busy_seconds", "Total time of the sessions.", func(b *engine.BarrierRow) time.Duration { return b.Work.Busy }),
	{
		column{"speedup", floatCells, "", "Total time of the sessions divided by the time of the cycle."},
		func(t *table, b *engine.BarrierRow) { t.plain(number(b.Work.Speedup(b.Took))) },
	},
}

func secondsCell(name, help string, of func(b *engine.BarrierRow) time.Duration) cell[*engine.BarrierRow] {
	return cell[*engine.BarrierRow]{column{name, floatCells, "s", help}, func(t *table, b *engine.BarrierRow) { t.plain(number(of(b).Seconds())) }}
}

func ofCycle(name, help string, of func(b *engine.BarrierRow) int64) cell[*engine.BarrierRow] {
	return cell[*engine.BarrierRow]{column{name, intCells, "", help}, func(t *table, b *engine.BarrierRow) { t.int(of(b)) }}
}

// exportCycles writes one row for each closed cycle of a run.
func exportCycles(ctx context.Context, t *table, r Reader, run engine.RunID) error {
	barriers, err := r.Barriers(ctx, run)
	if err != nil {
		return err
	}
	return writeRows(t, cycleCells, barriers)
}

// writeRows writes all rows of a table.
func writeRows[R any](t *table, cells []cell[*R], rows []R) error {
	for i := range rows {
		if err := addRow(t, cells, &rows[i]); err != nil {
			return err
		}
	}
	return t.flush()
}
