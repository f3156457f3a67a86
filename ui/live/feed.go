package live

import (
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/internal/chart"
)

const (
	keptRows  = 3600 // for the charts
	keptMarks = 200
	gap       = 5 * time.Second // breaks the lines, unless the history is thinned out
	asleep    = time.Hour       // after such a pause, the charts start again
	near      = 2 * time.Second // limit changes closer than this are marked as one
)

// Indices of the series in a feed.
const (
	seriesCPU = iota
	seriesOwnCPU
	seriesMemory
	seriesP50
	seriesP95
	seriesP99
	seriesMean
	seriesAllP50 // of all sessions; the four before are of those that did something
	seriesAllP95
	seriesAllP99
	seriesAllMean
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

// feed collects the history of a run from its snapshots.
type feed struct {
	snap    *engine.Snapshot
	history *chart.History
	gap     time.Duration       // between rows without Throng
	fine    []engine.MetricsRow // the fine rows in history, if it ends with them
	newest  []engine.MetricsRow // the last three
	count   int                 // rows ever added
	last    time.Time           // time of the newest row
	second  time.Time           // time of the newest second
	end     time.Time           // time of the newest row of a run that has ended; zero before
	limit   int                 // of the newest row
	marks   []mark              // oldest first
	busy    busy
	changed time.Time     // time of the newest change
	saved   time.Time     // the newest checkpoint with a mark
	every   time.Duration // checkpoint interval
	vitals  health.Vitals
	health  []health.Finding
	workers []workers.State // of a fleet
	most    float64         // the server's maximum of connections; NaN if unknown
	acts    bool            // some session did something
	earlier []piece         // before long pauses without Throng

	past, idle bool          // shows a moment of the history; idle: Throng was not running then
	crowd      *engine.Crowd // at that moment
	whole      int64         // number of sessions behind the figures of steps, if they are from another time
}

// sessions returns how many sessions are behind the figures of steps.
func (f *feed) sessions() int64 {
	if f.past {
		return f.whole
	}
	return f.snap.Ended
}

// until returns the shown moment of the history, or the zero time.
func (f *feed) until() time.Time {
	if f.past {
		return f.snap.At
	}
	return time.Time{}
}

// piece is a part of a run between two long pauses without Throng.
type piece struct {
	history *chart.History
	marks   []mark
	last    time.Time
}

func newFeed(job *Job) *feed {
	s := job.Snapshot()
	f := &feed{snap: s, gap: breakAfter(job.History), every: job.Settings.CheckpointEvery}
	f.history = chart.NewHistory(numSeries, keptRows, f.gap)
	f.vitals.See(s)
	changes := job.Changes
	for i := range job.History {
		m := &job.History[i]
		for ; len(changes) > 0 && !changes[0].At.After(m.At); changes = changes[1:] {
			f.mark(&changes[0])
			f.changed = changes[0].At
		}
		f.see(m)
	}
	if len(job.History) == 0 || s.LastCheckpoint.Before(job.History[0].At) {
		f.saved = s.LastCheckpoint // it is before the first row
	}
	return f
}

// fewRows is the length of a history that is not thinned out.
const fewRows = 1000

// breakAfter returns the time between two rows from which on Throng was not running. A long history has a row every few seconds.
func breakAfter(history []engine.MetricsRow) time.Duration {
	var apart []time.Duration
	for i := 1; i < len(history); i++ {
		apart = append(apart, history[i].At.Sub(history[i-1].At))
	}
	if len(apart) < fewRows {
		return gap
	}
	slices.Sort(apart)
	return max(gap, 3*apart[len(apart)/2])
}

// collect adds a snapshot.
func (f *feed) collect(s *engine.Snapshot) {
	f.snap = s
	f.vitals.See(s)
	f.health = health.Judge(s, &f.vitals, f.every)
	if s.Phase != engine.Ended {
		f.health = append(health.JudgeWorkers(f.workers, s.At), f.health...) // a lost worker may be why the others are bad
	}
	for i := range s.Changes {
		c := &s.Changes[i]
		if c.At.After(f.changed) {
			f.changed = c.At
			f.mark(c)
		}
	}
	f.markCheckpoint(s)
	for i := range s.Early {
		f.see(&s.Early[i])
	}
	f.see(&s.Metrics)
	if s.Metrics.At.After(f.second) {
		f.second = s.Metrics.At
		f.busy.add(s.Services)
	}
	if s.Phase == engine.Ended && f.end.IsZero() {
		f.end = f.last
		f.joinLast()
	}
}

// joinLast joins the last row of a run with the one before if it covers a small part of its interval: its rates mean nothing.
func (f *feed) joinLast() {
	if rows := f.newest; len(rows) == 3 && seconds.Stub(rows[1].At, &rows[2]) {
		m := seconds.Merge(rows[0].At, rows[1:])
		f.history.Cut(rows[1].At)
		f.add(&m)
	}
}

// see adds a row if it is new. The first row of a second replaces the fine rows before it by seconds.
func (f *feed) see(m *engine.MetricsRow) {
	if !m.At.After(f.last) {
		return
	}
	switch {
	case m.Fine:
		f.fine = append(f.fine, *m)
	case len(f.fine) > 0:
		f.history.Cut(f.fine[0].At)
		whole := seconds.WholeOf(f.fine)
		for i := range whole {
			f.add(&whole[i])
		}
		f.fine = nil
	}
	f.newest = append(f.newest[max(len(f.newest)-2, 0):], *m)
	f.add(m)
}

// add adds a row.
func (f *feed) add(m *engine.MetricsRow) {
	if !f.last.IsZero() && m.At.Sub(f.last) > asleep {
		f.earlier = append(f.earlier, piece{f.history, f.marks, f.last})
		f.history, f.marks = chart.NewHistory(numSeries, keptRows, f.gap), nil
	}
	f.markOutage(m)
	f.last, f.limit = m.At, m.Limit
	if f.most = math.NaN(); m.ServerMax > 0 {
		f.most = float64(m.ServerMax)
	}
	f.count++
	f.acts = f.acts || m.Active.Count > 0
	active, every := inSeconds(&m.Active), inSeconds(&m.Total)
	f.history.Add(m.At,
		m.Host.CPU, ownCPU(m), float64(m.Host.Memory), active[0], active[1], active[2], active[3], every[0], every[1], every[2], every[3], gauge(m.Connections), gauge(m.ServerConnections), pooled(m, m.Pool.InUse), pooled(m, m.Pool.Waiting),
		m.SessionsPerSec, m.RequestsPerSec, float64(m.Limit), float64(m.InFlight))
}

// inSeconds returns the median, p95, p99 and mean, or NaN if no session ended.
func inSeconds(q *engine.Quantiles) [4]float64 {
	if q.Count == 0 {
		return [4]float64{math.NaN(), math.NaN(), math.NaN(), math.NaN()}
	}
	return [4]float64{q.P50.Seconds(), q.P95.Seconds(), q.P99.Seconds(), q.Mean.Seconds()}
}

// ownCPU returns Throng's share of the machine in percent.
func ownCPU(m *engine.MetricsRow) float64 {
	return min(m.Host.ProcessCPU/float64(runtime.NumCPU()), 100)
}

// pooled returns n, or NaN without a connection pool.
func pooled(m *engine.MetricsRow, n int) float64 {
	if m.Pool.Size == 0 {
		return math.NaN()
	}
	return float64(n)
}

// gauge returns n, or NaN if it is unknown.
func gauge(n int) float64 {
	if n < 0 {
		return math.NaN()
	}
	return float64(n)
}

// rows returns what the charts show; at a moment of the history, the rows before it.
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

// blank clears the charts for a moment before the first row.
func blank(all []curves, f *feed) {
	if !f.past {
		return
	}
	for _, one := range all {
		one.Set(chart.Data{From: f.last.Local(), To: f.last.Local().Add(time.Minute)})
	}
}

// as returns a feed that shows a moment of the history.
func (f *feed) as(m *engine.Moment) *feed {
	s := *m.Snapshot
	s.Steps = f.snap.Steps // the history has them of the whole run only
	s.Active = s.Metrics.Active
	then := &feed{
		snap: &s, history: f.history, count: f.count, last: s.At, end: f.end, limit: s.Limit, marks: f.marks, every: f.every, most: math.NaN(), acts: f.acts,
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

// markers returns the marks for a chart.
func (f *feed) markers() (all []chart.Marker) {
	for i := range f.marks {
		all = append(all, f.marks[i].Marker)
	}
	return all
}

func bad(s *engine.Snapshot) int64 { return s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut] }
