package storage

import (
	"context"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
)

// metricsWriter writes one row per interval.
type metricsWriter struct {
	t     *table
	cells []cell[*engine.MetricsRow]
}

// metricCells returns the columns of the metrics of a run.
func metricCells(names *Names) []cell[*engine.MetricsRow] {
	all := []cell[*engine.MetricsRow]{{column{"timestamp", timeCells, "", "End of the interval."}, func(t *table, m *engine.MetricsRow) { t.time(m.At) }}}
	for i := range metricColumns {
		c := &metricColumns[i]
		all = append(all, cell[*engine.MetricsRow]{column{c.Name, c.kind(), c.Unit.name(), c.Help}, func(t *table, m *engine.MetricsRow) { t.plain(c.cell(m)) }})
	}
	if names.Clock != (engine.Clock{}) {
		all = append(all, cell[*engine.MetricsRow]{
			column{simulated, timeCells, "", "Simulated time at which the cycle begins."}, func(t *table, m *engine.MetricsRow) { t.time(names.Clock.At(m.Cycle)) },
		})
	}
	if acted := "agents_" + columnName(names.Acted); names.Acted != "" && !slices.ContainsFunc(all, func(c cell[*engine.MetricsRow]) bool { return c.name == acted }) {
		all = append(all, cell[*engine.MetricsRow]{
			column{acted, intCells, "", "Sessions so far with the event " + strconv.Quote(names.Acted) + ", which counts as acted: agents_shopped under the scenario's name."},
			func(t *table, m *engine.MetricsRow) { t.int(m.Acted) },
		})
	}
	return all
}

func newMetricsWriter(f Format, w io.Writer, names *Names) (*metricsWriter, error) {
	cells := metricCells(names)
	t, err := newTable(f, w, columnsOf(cells))
	return &metricsWriter{t, cells}, err
}

// exportMetrics writes metrics, one row per interval.
func exportMetrics(ctx context.Context, out *metricsWriter, r Reader, run engine.RunID) error {
	for m, err := range r.Metrics(ctx, run, time.Time{}) {
		if err != nil {
			return err
		}
		if err := addRow(out.t, out.cells, m); err != nil {
			return err
		}
	}
	return out.t.flush()
}

// followInterval is how often Follow reads new rows. One row is added per second, and more in the first seconds.
const followInterval = time.Second

// Follow writes the metrics as CSV or JSONL and appends rows as they are committed. It returns nil when no process
// executes the run any longer, and the cause of ctx when ctx ends.
func Follow(ctx context.Context, w io.Writer, f Format, r Reader, run engine.RunID, names Names) error {
	out, err := newMetricsWriter(f, w, &names)
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
			if err := addRow(out.t, out.cells, m); err != nil {
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
