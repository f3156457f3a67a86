package storage

import (
	"context"
	"io"

	"github.com/throng-sim/throng/engine"
)

// exportCycles writes one row for each closed cycle of a run: the outcomes of its sessions, its steps and its speedup.
// Durations differ from run to run, so the file does too.
func exportCycles(ctx context.Context, w io.Writer, f Format, r Reader, run engine.RunID) error {
	barriers, err := r.Barriers(ctx, run)
	if err != nil {
		return err
	}
	t, err := newTable(f, w, columns("cycle:int time:time took_seconds:float lag_seconds:float agents:int ok:int failed:int timeouts:int "+
		"parallel_steps:int sequential_steps:int failed_steps:int timed_out_steps:int busy_seconds:float speedup:float"))
	if err != nil {
		return err
	}
	for i := range barriers {
		b := &barriers[i]
		work := &b.Work
		t.int(int64(b.Cycle))
		t.time(b.At)
		t.plain(number(b.Took.Seconds()))
		t.plain(number(b.Lag.Seconds()))
		for _, n := range []int64{
			int64(b.Active), work.OK, work.Failed, work.TimedOut, work.Flow.Parallel, work.Flow.Sequential, work.Flow.Failed, work.Flow.TimedOut,
		} {
			t.int(n)
		}
		t.plain(number(work.Busy.Seconds()))
		t.plain(number(work.Speedup(b.Took)))
		if err := t.next(); err != nil {
			return err
		}
	}
	return t.flush()
}
