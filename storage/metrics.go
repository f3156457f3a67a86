package storage

import (
	"context"
	"io"
	"time"

	"github.com/throng-sim/throng/engine"
)

// metricsWriter writes one row per second.
type metricsWriter struct{ t *table }

func newMetricsWriter(f Format, w io.Writer) (*metricsWriter, error) {
	all := []column{{"timestamp", timeCells}}
	for i := range metricColumns {
		all = append(all, column{metricColumns[i].Name, metricColumns[i].kind()})
	}
	t, err := newTable(f, w, all)
	return &metricsWriter{t}, err
}

func (w *metricsWriter) add(m *engine.MetricsRow) error {
	w.t.time(m.At)
	for i := range metricColumns {
		w.t.plain(metricColumns[i].cell(m))
	}
	return w.t.next()
}

// exportMetrics writes metrics, one row per second.
func exportMetrics(ctx context.Context, w io.Writer, f Format, r Reader, run engine.RunID) error {
	out, err := newMetricsWriter(f, w)
	if err != nil {
		return err
	}
	for m, err := range r.Metrics(ctx, run, time.Time{}) {
		if err != nil {
			return err
		}
		if err := out.add(m); err != nil {
			return err
		}
	}
	return out.t.flush()
}

// followInterval is how often Follow reads new rows. One row is added per second.
const followInterval = time.Second

// Follow writes the metrics as CSV or JSONL and appends rows as they are committed. It returns nil when no process
// executes the run any longer, and the cause of ctx when ctx ends.
func Follow(ctx context.Context, w io.Writer, f Format, r Reader, run engine.RunID) error {
	out, err := newMetricsWriter(f, w)
	if err != nil {
		return err
	}
	tick := time.NewTicker(followInterval)
	defer tick.Stop()
	for last := (time.Time{}); ; {
		// The run is read before its rows: all rows of a run that has ended are committed.
		record, err := r.Run(ctx, run)
		if err != nil {
			return err
		}
		for m, err := range r.Metrics(ctx, run, last) {
			if err != nil {
				return err
			}
			if err := out.add(m); err != nil {
				return err
			}
			last = m.At
		}
		if err := out.t.flush(); err != nil {
			return err
		}
		if !record.InProgress {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
