// Package seconds merges the metrics rows of the first seconds of a run, which cover a tenth of a second each, into rows of a second.
// A short run is shown by the fine rows, and a longer one by whole seconds, so that a peak of a tenth of a second does not scale its
// charts.
package seconds

import (
	"iter"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Fine is how long a run is sampled every [Each].
const (
	Fine = 10 * time.Second
	Each = 100 * time.Millisecond
)

// Merge returns the row of the time that consecutive rows cover, since from. Rates, counts, means and maxima are exact. Quantiles are
// means of the rows' quantiles, weighted by their sessions.
func Merge(from time.Time, rows []engine.MetricsRow) engine.MetricsRow {
	m := rows[len(rows)-1] // counters and gauges
	m.Fine, m.SecondTimes, m.SecondRates, m.Late = false, engine.SecondTimes{}, engine.SecondRates{}, engine.Late{}
	h := &m.Host
	h.CPU, h.ProcessCPU, h.NetIn, h.NetOut, h.Collector = 0, 0, 0, 0, 0
	whole := m.At.Sub(from).Seconds()
	var wait float64
	for i := range rows {
		r := &rows[i]
		share := 1 / float64(len(rows))
		if whole > 0 {
			share = r.At.Sub(from).Seconds() / whole
		}
		from = r.At
		m.SessionsPerSec += r.SessionsPerSec * share
		m.RequestsPerSec += r.RequestsPerSec * share
		m.WritesPerSec += r.WritesPerSec * share
		m.Speedup += r.Speedup * share
		h.CPU += r.Host.CPU * share
		h.ProcessCPU += r.Host.ProcessCPU * share
		h.NetIn += r.Host.NetIn * share
		h.NetOut += r.Host.NetOut * share
		h.Collector += r.Host.Collector * share
		wait += float64(r.Host.CoreWait) * share
		m.Late = m.Late.Worse(r.Late)
	}
	h.CoreWait = time.Duration(wait)
	m.Late.Core = h.CoreWait
	for _, of := range []func(*engine.MetricsRow) *engine.Quantiles{
		func(r *engine.MetricsRow) *engine.Quantiles { return &r.Total },
		func(r *engine.MetricsRow) *engine.Quantiles { return &r.Service },
		func(r *engine.MetricsRow) *engine.Quantiles { return &r.Throttled },
		func(r *engine.MetricsRow) *engine.Quantiles { return &r.Queue },
		func(r *engine.MetricsRow) *engine.Quantiles { return &r.Active },
		func(r *engine.MetricsRow) *engine.Quantiles { return &r.Request },
	} {
		*of(&m) = quantiles(rows, of)
	}
	return m
}

func quantiles(rows []engine.MetricsRow, of func(*engine.MetricsRow) *engine.Quantiles) (q engine.Quantiles) {
	var mean, p50, p95, p99 float64
	for i := range rows {
		r := of(&rows[i])
		n := float64(r.Count)
		q.Count += r.Count
		q.Max = max(q.Max, r.Max)
		mean, p50, p95, p99 = mean+n*float64(r.Mean), p50+n*float64(r.P50), p95+n*float64(r.P95), p99+n*float64(r.P99)
	}
	if q.Count > 0 {
		n := float64(q.Count)
		q.Mean, q.P50, q.P95, q.P99 = time.Duration(mean/n), time.Duration(p50/n), time.Duration(p95/n), time.Duration(p99/n)
	}
	return q
}

// merger collects fine rows.
type merger struct {
	from time.Time // the end of the row before
	rows []engine.MetricsRow
}

// add adds a fine row, and reports whether the rows cover a second.
func (g *merger) add(m *engine.MetricsRow) bool {
	if gap := m.At.Sub(g.from); len(g.rows) == 0 && (g.from.IsZero() || gap > 5*Each) {
		g.from = m.At.Add(-Each) // the first row, or the first after a time without rows
	}
	g.rows = append(g.rows, *m)
	return m.At.Sub(g.from) >= time.Second-Each/2
}

// take returns the merged row and begins the next.
func (g *merger) take() engine.MetricsRow {
	m := Merge(g.from, g.rows)
	g.from, g.rows = m.At, g.rows[:0]
	return m
}

// Whole yields rows of a second: it merges fine rows. The row is reused.
func Whole(all iter.Seq2[*engine.MetricsRow, error]) iter.Seq2[*engine.MetricsRow, error] {
	return func(yield func(*engine.MetricsRow, error) bool) {
		var g merger
		flush := func() bool {
			if len(g.rows) == 0 {
				return true
			}
			m := g.take()
			return yield(&m, nil)
		}
		for m, err := range all {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case m.Fine:
				if n := len(g.rows); n > 0 && m.At.Sub(g.rows[n-1].At) > time.Second && !flush() {
					return
				}
				if g.add(m) && !flush() {
					return
				}
			case !flush() || !yield(m, nil):
				return
			}
		}
		flush()
	}
}

// Shown yields the rows that charts of a run show: the fine rows if there are only such, as of a short run, else rows of a second. A
// last row of a small part of its interval, whose rates mean nothing, becomes part of the row before. The row is reused.
func Shown(all iter.Seq2[*engine.MetricsRow, error]) iter.Seq2[*engine.MetricsRow, error] {
	return joined(func(yield func(*engine.MetricsRow, error) bool) {
		var early []engine.MetricsRow
		held := true
		pass := func(rows iter.Seq2[*engine.MetricsRow, error]) bool {
			for m, err := range rows {
				if !yield(m, err) {
					return false
				}
			}
			return true
		}
		for m, err := range all {
			switch {
			case err != nil:
				yield(nil, err)
				return
			case held && m.Fine:
				early = append(early, *m)
				continue
			case held:
				held = false
				if !pass(Whole(Of(early))) {
					return
				}
			}
			if !yield(m, nil) {
				return
			}
		}
		if held {
			pass(Of(early))
		}
	})
}

// joined joins the last row with the one before if it covers a small part of its interval.
func joined(all iter.Seq2[*engine.MetricsRow, error]) iter.Seq2[*engine.MetricsRow, error] {
	return func(yield func(*engine.MetricsRow, error) bool) {
		var rows []engine.MetricsRow // the last two
		var from time.Time           // the end of the row before them
		for m, err := range all {
			if err != nil {
				yield(nil, err)
				return
			}
			if len(rows) == 2 {
				from = rows[0].At
				if !yield(&rows[0], nil) {
					return
				}
				rows[0] = rows[1]
				rows = rows[:1]
			}
			rows = append(rows, *m)
		}
		if len(rows) == 2 && Stub(rows[0].At, &rows[1]) {
			fine := rows[0].Fine
			if from.IsZero() {
				from = rows[0].At.Add(-Interval(&rows[0]))
			}
			rows[0] = Merge(from, rows)
			rows[0].Fine = fine
			rows = rows[:1]
		}
		for i := range rows {
			if !yield(&rows[i], nil) {
				return
			}
		}
	}
}

// Interval returns the time that a row covers if nothing delayed it and the run continued.
func Interval(m *engine.MetricsRow) time.Duration {
	if m.Fine {
		return Each
	}
	return time.Second
}

// Stub reports whether a row after another covers only a small part of its interval, as the last one of a run may.
func Stub(before time.Time, m *engine.MetricsRow) bool { return m.At.Sub(before) < Interval(m)/2 }

// WholeOf returns rows of a second: it merges fine rows.
func WholeOf(rows []engine.MetricsRow) (whole []engine.MetricsRow) {
	for m, err := range Whole(Of(rows)) {
		if err == nil { // rows in memory have no errors
			whole = append(whole, *m)
		}
	}
	return whole
}

// Of yields rows.
func Of(rows []engine.MetricsRow) iter.Seq2[*engine.MetricsRow, error] {
	return func(yield func(*engine.MetricsRow, error) bool) {
		for i := range rows {
			if !yield(&rows[i], nil) {
				return
			}
		}
	}
}
