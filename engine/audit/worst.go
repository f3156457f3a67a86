package audit

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// worst are the peaks in barriers and metrics, and the times at which Throng was running.
type worst struct {
	cycle, worked, lag  time.Duration
	memory              uint64
	stored              int64
	connections, server int
	rows                int // of metrics

	slept bool
	spans []span
}

// span is a period in which a process was running, according to its rows.
type span struct{ from, to time.Time }

func (w *worst) start(s *engine.StartRow) { w.spans = append(w.spans, span{s.At, s.At}) }

// seen extends the period of the newest process.
func (w *worst) seen(at time.Time) {
	if n := len(w.spans); n > 0 && at.After(w.spans[n-1].to) {
		w.spans[n-1].to = at
	}
}

func (w *worst) barrier(b *engine.BarrierRow) {
	w.cycle, w.lag = max(w.cycle, b.Took), max(w.lag, b.Lag)
	w.worked += b.Took
	w.seen(b.At)
}

// checkpoint uses the checkpoint's own time: a resumed run counts from there.
func (w *worst) checkpoint(c *engine.CheckpointRow) {
	if n := len(w.spans); n > 0 {
		w.spans[n-1].to = c.At
	}
}

func (w *worst) metrics(m *engine.MetricsRow) {
	w.rows++
	w.memory, w.stored = max(w.memory, m.Host.Memory), max(w.stored, m.Stored)
	w.connections, w.server = max(w.connections, m.Connections), max(w.server, m.ServerConnections)
	w.lag = max(w.lag, m.Lag)
	w.seen(m.At)
}

// elapsed returns the total time of all processes.
func (w *worst) elapsed() (sum time.Duration) {
	for _, s := range w.spans {
		sum += s.to.Sub(s.from)
	}
	return sum
}

// clockGrain is the allowed difference between a time that a process measured and its rows, in addition to clockError: the time between
// its last row and its end, and between its start and its first row.
const clockGrain = 500 * time.Millisecond

// compare compares the recorded peaks. A cycle that was open at the end of the run counts although it has no barrier, so peaks are exact
// only if the run closed all its cycles.
func (w *worst) compare(r *Report, record *engine.RunRecord, t *engine.Totals) {
	p := &t.Peaks
	closed := record.Ending == engine.EndFinished
	least := func(name string, recorded, mine time.Duration) {
		r.Check(peaks, name, "", recorded == mine || !closed && recorded >= mine, recorded, mine)
		if !closed {
			r.figure(peaks, name).Bound = "or more: a cycle was left open"
		}
	}
	least("longest cycle", p.Cycle, w.cycle)
	least("time in cycles", p.Worked, w.worked)
	least("largest schedule lag", p.Lag, w.lag)
	if record.Settings.Metrics {
		equal(r, peaks, "memory", "", p.Memory, w.memory)
		equal(r, peaks, "bytes in the store", "", p.Stored, w.stored)
		equal(r, peaks, "connections", "", p.Connections, w.connections)
		equal(r, peaks, "connections of the server", "", p.ServerConnections, w.server)
	}
	if !record.Ended.IsZero() {
		w.seen(record.Ended)
	}
	took := w.elapsed()
	off := max(p.Elapsed-took, took-p.Elapsed)
	bound := time.Duration(clockError*float64(took)) + clockGrain*time.Duration(len(w.spans))
	if w.slept {
		r.alone(peaks, "time of all processes", p.Elapsed)
	} else {
		r.Check(peaks, "time of all processes", "", off <= bound, p.Elapsed, took)
		r.figure(peaks, "time of all processes").Bound = bound.String()
	}
	r.alone(peaks, "longest time between checkpoints", p.CheckpointGap)
	r.alone(peaks, "service time of interrupted cycles", p.Interrupted)
}
