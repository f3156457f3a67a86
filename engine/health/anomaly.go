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
// the time of a cycle. It is not safe for concurrent use.
type Anomalies struct {
	criteria []engine.Criterion
	changes  []engine.ChangeRow // later ones than the last row
	governor string             // in force
	chosen   string             // the governor while the limit is automatic
	judged   time.Time          // the end of the grace period; zero before the first row

	vitals Vitals
	found  [len(vitals)]Anomaly
	worst  [len(vitals)]float64
	last   engine.MetricsRow
	// Gaps is the total time without metrics: the machine slept, or Throng was not running.
	Gaps     time.Duration
	GapSince time.Time // the start of the first gap
}

// NewAnomalies begins to look for anomalies in a run. changes are those of its settings, oldest first.
func NewAnomalies(r *engine.RunRecord, changes []engine.ChangeRow) *Anomalies {
	a := &Anomalies{changes: changes, governor: r.Settings.Governor, chosen: r.Settings.Governor}
	for i := range r.Verdict {
		a.criteria = append(a.criteria, r.Verdict[i].Criterion)
	}
	return a
}

// follow applies the changes until a time to the governor.
func (a *Anomalies) follow(until time.Time) {
	for ; len(a.changes) > 0 && !a.changes[0].At.After(until); a.changes = a.changes[1:] {
		switch c := &a.changes[0]; {
		case c.What == engine.LimitSetting && c.New == engine.Automatic:
			a.governor = a.chosen
		case c.What == engine.LimitSetting:
			a.governor = engine.Manual
		case c.What == engine.GovernorSetting:
			a.governor, a.chosen = c.New, c.New
		}
	}
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
	a.follow(m.At)
	s := &engine.Snapshot{At: m.At, Phase: m.Phase, Metrics: *m, Criteria: a.criteria, LimitState: engine.LimitState{Governor: a.governor}}
	a.vitals.Cores = m.Host.Cores
	a.vitals.See(s)
	if a.judged.IsZero() {
		a.judged = m.At.Add(gracePeriod)
	}
	if m.Phase == engine.Ended || m.At.Before(a.judged) {
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
		found.Metric, found.Since, found.Advice = t.metric, e.s.At, t.help(e)
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
