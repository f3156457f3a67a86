package health

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Anomaly is a while of a run in which a figure was beyond its threshold.
type Anomaly struct {
	Metric    Metric
	Level     Level     // the gravest
	Worst     string    // value
	Threshold string    // as it was at the worst
	Seconds   int       // in all
	Since     time.Time // the first of them
	Advice    string
}

// Anomalies finds in the metrics of a run, by the table of [Judge], what was out of the ordinary. What only a snapshot
// tells, such as the time of a cycle, is not looked at. The zero value has seen nothing; it is for one goroutine.
type Anomalies struct {
	vitals Vitals
	found  [len(vitals)]Anomaly
	worst  [len(vitals)]float64
	last   engine.MetricsRow
	// Gaps is for how long there were no figures although the run went on: the machine slept, or nobody worked on it.
	Gaps     time.Duration
	GapSince time.Time // the first
}

// What is no anomaly: a peak of a few seconds, and a figure that comes late.
const (
	leastAnomaly = 5
	longestGap   = 10 * time.Second
)

// See takes in the next second.
func (a *Anomalies) See(m *engine.MetricsRow) {
	if gap := m.At.Sub(a.last.At); !a.last.At.IsZero() && a.last.Phase == engine.Running && gap >= longestGap {
		a.Gaps += gap
		if a.GapSince.IsZero() {
			a.GapSince = a.last.At
		}
	}
	a.last = *m
	s := &engine.Snapshot{At: m.At, Phase: m.Phase, Metrics: *m}
	a.vitals.See(s)
	if m.Phase == engine.Ended {
		return
	}
	e := &evaluation{s, &a.vitals, 0}
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

// All returns what was found, in the order of the metrics.
func (a *Anomalies) All() (all []Anomaly) {
	for i := range a.found {
		if a.found[i].Seconds >= leastAnomaly {
			all = append(all, a.found[i])
		}
	}
	return all
}
