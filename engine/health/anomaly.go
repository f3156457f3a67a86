package health

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Anomaly is a period of a run in which a figure was beyond its threshold.
type Anomaly struct {
	Metric    Metric
	Level     Level     // the worst
	Worst     string    // the worst value
	Threshold string    // at the worst value
	Seconds   int       // total duration
	Since     time.Time // the first second
	Advice    string
}

// Anomalies finds anomalies in the metrics of a run by the thresholds of [Judge]. It ignores figures that only a snapshot has, such as
// the time of a cycle. The zero value is empty. It is not safe for concurrent use.
type Anomalies struct {
	vitals Vitals
	found  [len(vitals)]Anomaly
	worst  [len(vitals)]float64
	last   engine.MetricsRow
	// Gaps is the total time without metrics: the machine slept, or Throng was not running.
	Gaps     time.Duration
	GapSince time.Time // the start of the first gap
}

// A short peak is not an anomaly, and neither is a late row.
const (
	leastAnomaly = 5
	longestGap   = 10 * time.Second
)

// See adds the next row.
func (a *Anomalies) See(m *engine.MetricsRow) {
	if gap := m.At.Sub(a.last.At); !a.last.At.IsZero() && a.last.Phase == engine.Running && gap >= longestGap {
		a.Gaps += gap
		if a.GapSince.IsZero() {
			a.GapSince = a.last.At
		}
	}
	a.last = *m
	if m.Fine { // a run of a few seconds is not judged
		return
	}
	s := &engine.Snapshot{At: m.At, Phase: m.Phase, Metrics: *m}
	a.vitals.See(s)
	if m.Phase == engine.Ended {
		return
	}
	e := (&input{s, &a.vitals, 0}).evaluation()
	for i := range vitals {
		a.look(i, e)
	}
}

func (a *Anomalies) look(i int, e *evaluation) {
	t, found := &vitals[i], &a.found[i]
	figure := t.figure(e)
	if math.IsNaN(figure) || figure < t.warn {
		return
	}
	if found.Seconds++; found.Seconds == 1 {
		found.Metric, found.Since, found.Advice = t.metric, e.s.At, t.advice
	}
	if found.Seconds == 1 || figure > a.worst[i] {
		a.worst[i], found.Worst, found.Threshold, found.Level = figure, t.value(e), t.threshold(e), Warning
		if figure > t.crit {
			found.Level = Critical
		}
	}
}

// All returns the anomalies, in the order of the metrics.
func (a *Anomalies) All() (all []Anomaly) {
	for i := range a.found {
		if a.found[i].Seconds >= leastAnomaly {
			all = append(all, a.found[i])
		}
	}
	return all
}
