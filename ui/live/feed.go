package live

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/chart"
	"github.com/throng-sim/throng/ui/internal/words"
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
	count   int           // rows added, ever
	last    time.Time     // of the newest row
	limit   int           // of the newest row
	marks   []mark        // oldest first
	changed time.Time     // of the newest change that was seen
	every   time.Duration // between checkpoints
	vitals  engine.Vitals
	health  []engine.Finding
	most    float64 // connections that the server takes; NaN where that is not known
}

// mark is a change on the charts.
type mark struct {
	what, from string
	chart.Marker
}

func newFeed(job *Job) *feed {
	s := job.Snapshot()
	f := &feed{snap: s, history: chart.NewHistory(numSeries, keptRows, gap), every: job.Settings.CheckpointEvery}
	f.vitals.See(s)
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
	f.vitals.See(s)
	f.health = engine.Health(s, &f.vitals, f.every)
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
	if c.Who == "pacer" { // where the rate shrank
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
	if words.OfAgent(what) {
		return what + " " + from
	}
	if from == "" {
		return what + " " + to
	}
	return fmt.Sprintf("%s %s to %s", what, from, to)
}

func bad(s *engine.Snapshot) int64 { return s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut] }
