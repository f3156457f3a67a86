package live

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/ui/internal/chart"
)

const (
	keptRows  = 3600 // for the charts
	keptMarks = 200
	gap       = 5 * time.Second // breaks the lines
	asleep    = time.Hour       // a run that nobody worked on for so long begins its charts anew
	near      = 2 * time.Second // limits that follow each other so closely are marked as one
)

// The series of a feed's history.
const (
	seriesCPU = iota
	seriesOwnCPU
	seriesMemory
	seriesP50
	seriesP95
	seriesP99
	seriesMean
	seriesConnections
	seriesServer
	seriesInUse
	seriesWaiting
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
	count   int       // rows added, ever
	last    time.Time // of the newest row
	end     time.Time // of the newest row of a run that has ended; zero while it goes on
	limit   int       // of the newest row
	marks   []mark    // oldest first
	busy    busy
	changed time.Time     // of the newest change that was seen
	saved   time.Time     // the newest checkpoint that was marked
	every   time.Duration // between checkpoints
	vitals  health.Vitals
	health  []health.Finding
	most    float64 // connections that the server takes; NaN where that is not known
	earlier []piece // before nobody worked on the run for long

	past, idle bool          // it is as of a moment that a person looks back on; nobody worked on the run then
	crowd      *engine.Crowd // of that moment
	whole      int64         // sessions that the figures of steps are of, where that is another time's
}

// sessions is how many the figures of steps are of.
func (f *feed) sessions() int64 {
	if f.past {
		return f.whole
	}
	return f.snap.Ended
}

// piece is what the charts show of a run between two long times in which nobody worked on it.
type piece struct {
	history *chart.History
	marks   []mark
	last    time.Time
}

func newFeed(job *Job) *feed {
	s := job.Snapshot()
	f := &feed{snap: s, history: chart.NewHistory(numSeries, keptRows, gap), every: job.Settings.CheckpointEvery}
	f.vitals.See(s)
	for i := range job.History {
		m := &job.History[i]
		if f.count > 0 && m.Limit != f.limit {
			f.mark(&engine.ChangeRow{What: engine.LimitSetting, Old: fmt.Sprint(f.limit), New: fmt.Sprint(m.Limit), At: m.At})
		}
		f.add(m)
	}
	if len(job.History) == 0 || s.LastCheckpoint.Before(job.History[0].At) {
		f.saved = s.LastCheckpoint // there is no place for it
	}
	return f
}

// collect takes in a snapshot.
func (f *feed) collect(s *engine.Snapshot) {
	f.snap = s
	f.vitals.See(s)
	f.health = health.Judge(s, &f.vitals, f.every)
	for i := range s.Changes {
		c := &s.Changes[i]
		if c.At.After(f.changed) {
			f.changed = c.At
			f.mark(c)
		}
	}
	f.markCheckpoint(s)
	if f.add(&s.Metrics) {
		f.busy.add(s.Services)
	}
	if s.Phase == engine.Ended {
		f.end = f.last
	}
}

// add takes in a second, and reports whether it is a new one.
func (f *feed) add(m *engine.MetricsRow) bool {
	if !m.At.After(f.last) {
		return false
	}
	if !f.last.IsZero() && m.At.Sub(f.last) > asleep {
		f.earlier = append(f.earlier, piece{f.history, f.marks, f.last})
		f.history, f.marks = chart.NewHistory(numSeries, keptRows, gap), nil
	}
	f.last, f.limit = m.At, m.Limit
	if f.most = math.NaN(); m.ServerMax > 0 {
		f.most = float64(m.ServerMax)
	}
	f.count++
	p50, p95, p99, mean := math.NaN(), math.NaN(), math.NaN(), math.NaN()
	if m.Total.Count > 0 {
		p50, p95, p99, mean = m.Total.P50.Seconds(), m.Total.P95.Seconds(), m.Total.P99.Seconds(), m.Total.Mean.Seconds()
	}
	f.history.Add(m.At,
		m.Host.CPU, ownCPU(m), float64(m.Host.Memory), p50, p95, p99, mean, gauge(m.Connections), gauge(m.ServerConnections), pooled(m, m.Pool.InUse), pooled(m, m.Pool.Waiting),
		m.SessionsPerSec, m.RequestsPerSec, float64(m.Limit), float64(m.InFlight))
	return true
}

// ownCPU is Throng's share of the machine, in percent.
func ownCPU(m *engine.MetricsRow) float64 {
	return min(m.Host.ProcessCPU/float64(runtime.NumCPU()), 100)
}

// pooled is NaN where there is no pool.
func pooled(m *engine.MetricsRow, n int) float64 {
	if m.Pool.Size == 0 {
		return math.NaN()
	}
	return float64(n)
}

// gauge is NaN where a count is not known.
func gauge(n int) float64 {
	if n < 0 {
		return math.NaN()
	}
	return float64(n)
}

// rows are what the charts show: of a moment that is past what was before it.
func (f *feed) rows() (times []float64, values [][]float64) {
	times, values = f.history.Rows()
	if !f.past {
		return times, values
	}
	n, _ := slices.BinarySearch(times, chart.Seconds(f.last.Add(time.Microsecond)))
	until := make([][]float64, len(values))
	for i := range values {
		until[i] = values[i][:n]
	}
	return times[:n], until
}

// blank clears charts of what came after a moment before the first figures.
func blank(all []curves, f *feed) {
	if !f.past {
		return
	}
	for _, one := range all {
		one.Set(chart.Data{From: f.last.Local(), To: f.last.Local().Add(time.Minute)})
	}
}

// as is the feed as of a moment that is past.
func (f *feed) as(m *engine.Moment) *feed {
	s := *m.Snapshot
	s.Steps = f.snap.Steps // which are kept of the whole run only
	then := &feed{
		snap: &s, history: f.history, count: f.count, last: s.At, end: f.end, limit: s.Limit, marks: f.marks, every: f.every, most: math.NaN(),
		past: true, idle: m.Idle, crowd: m.Crowd, whole: f.snap.Ended,
	}
	for _, p := range slices.Backward(f.earlier) {
		if !s.At.After(p.last) {
			then.history, then.marks = p.history, p.marks
		}
	}
	then.marks = slices.DeleteFunc(slices.Clone(then.marks), func(m mark) bool { return m.At.After(s.At) })
	for i := range m.Recent {
		then.vitals.See(&engine.Snapshot{Metrics: m.Recent[i]})
	}
	then.health = health.Judge(&s, &then.vitals, f.every)
	if s.Metrics.ServerMax > 0 {
		then.most = float64(s.Metrics.ServerMax)
	}
	return then
}

func bad(s *engine.Snapshot) int64 { return s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut] }
