package health

import (
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
)

// vitalRows is the number of seconds that recent figures cover.
const vitalRows = 61

// Vitals is the history that [Judge] needs of a run: its last minute, and how long rows have been waiting. The zero value is empty. It is
// not safe for concurrent use.
type Vitals struct {
	// Cores is the number of cores of the run's machine; 0 is this machine's.
	Cores int

	rows   int       // seen in total
	last   time.Time // of the newest row
	recent [vitalRows]vitalRow
	// The rows waiting for the remote database, and the time since which their number has not gone down; zero without waiting rows.
	unsent  int64
	waiting time.Time
}

// vitalRow is the record of one second.
type vitalRow struct {
	total       engine.Quantiles // of the sessions
	request     engine.Quantiles // of their requests
	rateLimited int64            // total so far
	calls       int64            // of models, total so far
	writes      float64          // per second
	overhead    engine.Overhead  // total so far
	late        engine.Late
	lag         time.Duration // behind the schedule
}

// See adds a snapshot. It may be called at any rate: figures count once a second.
func (v *Vitals) See(s *engine.Snapshot) {
	m := &s.Metrics
	if !m.At.After(v.last) {
		return
	}
	v.last = m.At
	v.recent[v.rows%vitalRows] = vitalRow{m.Total, m.Request, m.RateLimited, m.Usage.Calls, m.WritesPerSec, m.Overhead, m.Late, m.Lag}
	v.rows++
	switch {
	case m.Unsent <= 0:
		v.waiting = time.Time{}
	case v.waiting.IsZero() || m.Unsent < v.unsent:
		v.waiting = m.At
	}
	v.unsent = m.Unsent
}

func (v *Vitals) cores() int {
	if v.Cores > 0 {
		return v.Cores
	}
	return runtime.NumCPU()
}

// ago returns the row i rows before the newest.
func (v *Vitals) ago(i int) *vitalRow { return &v.recent[(v.rows-1-i)%vitalRows] }

// sum adds up rows, counted back from the newest, from row from to row to.
func (v *Vitals) sum(from, to int) (sessions int64, spent time.Duration) {
	for i := from; i < min(v.rows, to, vitalRows); i++ {
		r := v.ago(i)
		sessions += r.total.Count
		spent += time.Duration(r.total.Count) * r.total.Mean
	}
	return sessions, spent
}

func (v *Vitals) sessions(from, to int) int64 {
	n, _ := v.sum(from, to)
	return n
}

// latency returns the mean duration of the sessions that ended in these seconds; 0 without sessions.
func (v *Vitals) latency(from, to int) time.Duration {
	sessions, spent := v.sum(from, to)
	if sessions == 0 {
		return 0
	}
	return spent / time.Duration(sessions)
}

// quantiles returns the quantiles of the last 30 s: the means of the seconds' quantiles, weighted by their counts, and the
// longest time.
func (v *Vitals) quantiles(of func(*vitalRow) *engine.Quantiles) (q engine.Quantiles) {
	var p50, p95, p99 float64
	for i := range min(v.rows, vitalRows/2) {
		r := of(v.ago(i))
		q.Count += r.Count
		p50, p95, p99 = p50+float64(r.Count)*float64(r.P50), p95+float64(r.Count)*float64(r.P95), p99+float64(r.Count)*float64(r.P99)
		q.Max = max(q.Max, r.Max)
	}
	if q.Count > 0 {
		q.P50, q.P95, q.P99 = time.Duration(p50/float64(q.Count)), time.Duration(p95/float64(q.Count)), time.Duration(p99/float64(q.Count))
	}
	return q
}

// asked returns the requests of the last 30 s, and how many of them were calls of models.
func (v *Vitals) asked() (requests, calls int64) {
	if v.rows == 0 {
		return 0, 0
	}
	now, before := v.ago(0), v.ago(min(v.rows-1, vitalRows/2))
	return now.overhead.Requests - before.overhead.Requests, now.calls - before.calls
}

// writes returns the rows per second of the last 30 s, because rows are written in batches.
func (v *Vitals) writes() float64 {
	n := min(v.rows, 30)
	sum := 0.
	for i := range n {
		sum += v.ago(i).writes
	}
	return sum / float64(max(n, 1))
}

// refused returns the 429s of the last 30 s, and of the 30 s before.
func (v *Vitals) refused() (now, before int64) {
	if v.rows == 0 {
		return 0, 0
	}
	last := min(v.rows, vitalRows) - 1
	middle := min(last, vitalRows/2)
	return v.ago(0).rateLimited - v.ago(middle).rateLimited, v.ago(middle).rateLimited - v.ago(last).rateLimited
}

// fallsBack reports whether the run is further behind its schedule than 30 s ago.
func (v *Vitals) fallsBack() bool {
	if v.rows < 2 {
		return false
	}
	before := v.ago(min(v.rows-1, vitalRows/2)).lag
	return v.ago(0).lag > before+before/10
}

// Overhead returns the overhead of the last 30 s, from rows of the same process, and the largest timer lag. After the end of the run it
// covers the whole run.
func (v *Vitals) Overhead(s *engine.Snapshot) (engine.Overhead, engine.Late) {
	if s.Phase == engine.Ended || v.rows < 2 {
		return s.Overhead, s.Late
	}
	var late engine.Late
	now, n := v.ago(0), min(v.rows-1, vitalRows/2)
	for i := range n {
		late = late.Worse(v.ago(i).late)
	}
	return now.overhead.Since(&v.ago(n).overhead), late
}

// Bottleneck returns the current bottleneck of the run, or the last one after its end.
func (v *Vitals) Bottleneck(s *engine.Snapshot) Bottleneck {
	o, _ := v.Overhead(s)
	return FindBottleneck(&o, s.Limit, s.Binds)
}

// unsentSince returns how long the number of waiting rows has not gone down.
func (v *Vitals) unsentSince(s *engine.Snapshot) time.Duration {
	if v.waiting.IsZero() {
		return 0
	}
	return max(s.At.Sub(v.waiting), 0)
}
