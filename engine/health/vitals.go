package health

import (
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
)

// vitalRows is how many seconds the recent figures open the history.
const vitalRows = 61

// Vitals is what [Judge] has to remember of a run: its last minute, and since when rows wait. The zero value has seen
// nothing. It is for one goroutine.
type Vitals struct {
	// Cores are those of the machine that the run is on; 0 is this one's.
	Cores int

	rows   int       // seen, ever
	last   time.Time // of the newest row
	recent [vitalRows]vitalRow
	// The rows that wait for the remote database, and since when they did not become fewer; zero while none wait.
	unsent  int64
	waiting time.Time
}

// vitalRow is what is kept of a second.
type vitalRow struct {
	sessions    int64
	spent       time.Duration   // by them together
	rateLimited int64           // so far
	writes      float64         // per second
	overhead    engine.Overhead // so far
	late        engine.Late
}

// See takes in a snapshot. It may be called as often as one likes: figures count once a second.
func (v *Vitals) See(s *engine.Snapshot) {
	m := &s.Metrics
	if !m.At.After(v.last) {
		return
	}
	v.last = m.At
	v.recent[v.rows%vitalRows] = vitalRow{m.Total.Count, time.Duration(m.Total.Count) * m.Total.Mean, m.RateLimited, m.WritesPerSec, m.Overhead, m.Late}
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

// ago returns the row so many before the newest.
func (v *Vitals) ago(i int) *vitalRow { return &v.recent[(v.rows-1-i)%vitalRows] }

// sum adds up rows, the newest from of them left out, as far back as to.
func (v *Vitals) sum(from, to int) (sessions int64, spent time.Duration) {
	for i := from; i < min(v.rows, to, vitalRows); i++ {
		r := v.ago(i)
		sessions += r.sessions
		spent += r.spent
	}
	return sessions, spent
}

func (v *Vitals) sessions(from, to int) int64 {
	n, _ := v.sum(from, to)
	return n
}

// latency is the mean of the sessions that ended in these seconds; 0 when none did.
func (v *Vitals) latency(from, to int) time.Duration {
	sessions, spent := v.sum(from, to)
	if sessions == 0 {
		return 0
	}
	return spent / time.Duration(sessions)
}

// writes are the rows per second of the last half minute: they are written in batches.
func (v *Vitals) writes() float64 {
	n := min(v.rows, 30)
	sum := 0.
	for i := range n {
		sum += v.ago(i).writes
	}
	return sum / float64(max(n, 1))
}

// refused are the 429s of the newest half minute, and of the one before.
func (v *Vitals) refused() (now, before int64) {
	if v.rows == 0 {
		return 0, 0
	}
	last := min(v.rows, vitalRows) - 1
	middle := min(last, vitalRows/2)
	return v.ago(0).rateLimited - v.ago(middle).rateLimited, v.ago(middle).rateLimited - v.ago(last).rateLimited
}

// Overhead is that of the newest half minute, as far as rows of the same process say, with how late things were at worst;
// of the whole run where that is over.
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

// Bottleneck is what keeps the run from going faster now, or kept it.
func (v *Vitals) Bottleneck(s *engine.Snapshot) Bottleneck {
	o, _ := v.Overhead(s)
	return FindBottleneck(&o, s.Limit, s.Binds)
}

// unsentSince is for how long rows wait that did not become fewer.
func (v *Vitals) unsentSince(s *engine.Snapshot) time.Duration {
	if v.waiting.IsZero() {
		return 0
	}
	return max(s.At.Sub(v.waiting), 0)
}
