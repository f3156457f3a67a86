package live

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
)

const (
	keptRows  = 3600 // for the charts
	keptMarks = 200
	gap       = 5 * time.Second // breaks the lines
	asleep    = time.Hour       // a run that nobody worked on for so long begins its charts anew
	near      = 2 * time.Second // limits that follow each other so closely are marked as one
	window    = 60              // rows that the recent figures look back
)

// The series of a feed's history.
const (
	seriesCPU = iota
	seriesOwnCPU
	seriesMemory
	seriesP50
	seriesP95
	seriesP99
	seriesConnections
	seriesServer
	seriesSessions
	seriesRequests
	seriesLimit
	seriesInFlight
	numSeries
)

// feed collects what snapshots show of a run over time.
type feed struct {
	snap    *engine.Snapshot
	history *chart.History
	count   int         // rows added, ever
	last    time.Time   // of the newest row
	limit   int         // of the newest row
	marks   []mark      // oldest first
	changed time.Time   // of the newest change that was seen
	recent  [window]row // the newest seconds, a ring
	cycles  failures
	most    float64 // connections that the server takes; NaN where that is not known
}

// mark is a change on the charts.
type mark struct {
	what, from string
	chart.Marker
}

// row is what the recent figures need of a second.
type row struct {
	sessions    int64
	spent       time.Duration // by them together
	rateLimited int64         // so far
}

// failures counts the sessions that failed in the open cycle and the one before.
type failures struct {
	cycle         int
	start, now    int64 // of the run, as the open cycle began, and as last seen
	before, total int64 // of the cycle before; sessions of a cycle
}

func newFeed(job *Job) *feed {
	s := job.Snapshot()
	f := &feed{snap: s, history: chart.NewHistory(numSeries, keptRows, gap)}
	f.cycles = failures{cycle: s.Cycle, start: bad(s), now: bad(s)}
	for i := range job.History {
		m := &job.History[i]
		if f.count > 0 && m.Limit != f.limit {
			f.mark(&engine.ChangeRow{What: engine.LimitChange, Old: fmt.Sprint(f.limit), New: fmt.Sprint(m.Limit), At: m.At})
		}
		f.add(m)
	}
	return f
}

// collect takes in a snapshot.
func (f *feed) collect(s *engine.Snapshot) {
	f.snap = s
	f.cycles.see(s)
	for i := range s.Changes {
		c := &s.Changes[i]
		if c.At.After(f.changed) {
			f.changed = c.At
			f.mark(c)
		}
	}
	f.add(&s.Metrics)
}

// add takes in a second, if it is a new one.
func (f *feed) add(m *engine.MetricsRow) {
	if !m.At.After(f.last) {
		return
	}
	if !f.last.IsZero() && m.At.Sub(f.last) > asleep {
		f.history, f.marks = chart.NewHistory(numSeries, keptRows, gap), nil
	}
	f.last, f.limit = m.At, m.Limit
	if f.most = math.NaN(); m.ServerMax > 0 {
		f.most = float64(m.ServerMax)
	}
	f.recent[f.count%window] = row{m.Total.Count, time.Duration(m.Total.Count) * m.Total.Mean, m.RateLimited}
	f.count++
	p50, p95, p99 := math.NaN(), math.NaN(), math.NaN()
	if m.Total.Count > 0 {
		p50, p95, p99 = m.Total.P50.Seconds(), m.Total.P95.Seconds(), m.Total.P99.Seconds()
	}
	f.history.Add(m.At,
		m.Host.CPU, ownCPU(m), float64(m.Host.Memory), p50, p95, p99, gauge(m.Connections), gauge(m.ServerConnections),
		m.SessionsPerSec, m.RequestsPerSec, float64(m.Limit), float64(m.InFlight))
}

// ownCPU is Throng's share of the machine, in percent.
func ownCPU(m *engine.MetricsRow) float64 {
	return min(m.Host.ProcessCPU/float64(runtime.NumCPU()), 100)
}

// gauge is NaN where a count is not known.
func gauge(n int) float64 {
	if n < 0 {
		return math.NaN()
	}
	return float64(n)
}

// mark notes a change that has a place on the charts. Limits that follow each other closely, as those of a slider do,
// are one; where a governor moves the limit, its line says so itself.
func (f *feed) mark(c *engine.ChangeRow) {
	if !marked(c) {
		return
	}
	if n := len(f.marks); n > 0 && c.What == engine.LimitChange && f.marks[n-1].what == c.What && c.At.Sub(f.marks[n-1].At) < near {
		f.marks[n-1].Text = markText(c.What, f.marks[n-1].from, c.New)
		return
	}
	if len(f.marks) == keptMarks {
		f.marks = append(f.marks[:0], f.marks[1:]...)
	}
	f.marks = append(f.marks, mark{c.What, c.Old, chart.Marker{At: c.At, Text: markText(c.What, c.Old, c.New)}})
}

func marked(c *engine.ChangeRow) bool {
	if c.What == engine.LimitChange {
		return !slices.ContainsFunc(engine.Governors, func(g engine.Governing) bool { return g.Name == c.Who })
	}
	if strings.HasSuffix(c.What, " rate") { // of a pacer: where it shrank
		var before, now float64
		_, err1 := fmt.Sscan(c.Old, &before)
		_, err2 := fmt.Sscan(c.New, &now)
		return err1 == nil && err2 == nil && now < before
	}
	return c.What != "exactness"
}

func markText(what, from, to string) string {
	switch what {
	case engine.PhaseChange:
		return to
	case engine.InjectChange:
		return "told " + from
	}
	if from == "" {
		return what + " " + to
	}
	return fmt.Sprintf("%s %s to %s", what, from, to)
}

// latency is the mean of the sessions that ended in the last seconds; 0 when none did.
func (f *feed) latency() time.Duration {
	var sessions int64
	var spent time.Duration
	for i := range min(f.count, window/2) {
		r := f.ago(i)
		sessions += r.sessions
		spent += r.spent
	}
	if sessions == 0 {
		return 0
	}
	return spent / time.Duration(sessions)
}

// refused are the 429s of the newest half of the window, and of the half before.
func (f *feed) refused() (now, before int64) {
	if f.count == 0 {
		return 0, 0
	}
	last := min(f.count, window) - 1
	middle := min(last, window/2)
	return f.ago(0).rateLimited - f.ago(middle).rateLimited, f.ago(middle).rateLimited - f.ago(last).rateLimited
}

// ago returns the row so many before the newest.
func (f *feed) ago(i int) row { return f.recent[(f.count-1-i)%window] }

func (c *failures) see(s *engine.Snapshot) {
	if s.Cycle != c.cycle {
		c.before, c.start, c.cycle = c.now-c.start, c.now, s.Cycle
	}
	c.now = bad(s)
	c.total = max(s.CycleTotal, c.total)
}

// worst is how many failed in the open cycle or in the one before, and their share of a cycle's sessions.
func (c *failures) worst() (n int64, share float64) {
	n = max(c.before, c.now-c.start)
	if c.total > 0 {
		share = float64(n) / float64(c.total)
	}
	return n, share
}

func bad(s *engine.Snapshot) int64 { return s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut] }
