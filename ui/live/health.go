package live

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/widgets"
)

// health is how a figure stands to its thresholds.
type health uint8

const (
	unknown health = iota
	healthy
	warning
	critical
)

var healthWords = [...]string{unknown: "", healthy: "healthy", warning: "warning", critical: "critical"}

func (h health) String() string { return healthWords[h] }

func (h health) tone() widgets.Tone {
	return [...]widgets.Tone{unknown: widgets.Quiet, healthy: widgets.Good, warning: widgets.Warning, critical: widgets.Bad}[h]
}

// check is a line of the table of thresholds: value grows with the trouble and is NaN where it is not known; above
// warn and crit it is a warning and critical.
type check struct {
	name       string
	value      func(job *Job, f *feed) float64
	warn, crit float64
	advice     string
}

// Indexes into checks.
const (
	checkCPU = iota
	checkOwnMemory
	checkMemoryLeft
	checkLatency
	checkFailed
	checkRefused
	checkConnections
	checkSaved
)

// checks is the one table of thresholds. Those of memory and connections scale with what the machine and the server
// have.
var checks = [...]check{
	checkCPU:         {"CPU", cpu, 70, 90, "lower the limit; something else may be using it"},
	checkOwnMemory:   {"Throng's memory", ownMemory, 8. / 16, 12. / 16, "lower the limit; look for growing agent memory"},
	checkMemoryLeft:  {"memory left", memoryLeft, 1, 2, "lower the limit; look for growing agent memory"},
	checkLatency:     {"latency", latency, 1, 2, "look at the slowest step: queries, network"},
	checkFailed:      {"failed sessions", failed, 5 - 1, 20, "look at the errors by class"},
	checkRefused:     {"429s", refused, 0, 1, "requests wait and are sent again; lower the limit, or get a larger plan"},
	checkConnections: {"connections", connections, 50. / 60, 55. / 60, "lower the limit, use the pooler, see who holds them"},
	checkSaved:       {"last checkpoint", sinceSaved, 1.5, 2, "disk full or slow?"},
}

func (c *check) judge(job *Job, f *feed) health {
	v := c.value(job, f)
	switch {
	case math.IsNaN(v) || f.snap.Phase == engine.Ended || f.count == 0:
		return unknown
	case v > c.crit:
		return critical
	case v > c.warn:
		return warning
	default:
		return healthy
	}
}

func cpu(_ *Job, f *feed) float64 { return f.snap.Metrics.Host.CPU }

func ownMemory(_ *Job, f *feed) float64 {
	h := &f.snap.Metrics.Host
	return ratio(float64(h.Memory), float64(h.MemoryTotal))
}

// memoryLeft compares 4 GB, or a quarter of a small machine's memory, with what is left.
func memoryLeft(_ *Job, f *feed) float64 {
	h := &f.snap.Metrics.Host
	if h.MemoryTotal == 0 {
		return math.NaN()
	}
	return ratio(min(4e9, float64(h.MemoryTotal)/4), float64(h.Available))
}

func latency(_ *Job, f *feed) float64 {
	if mean := f.latency(); mean > 0 {
		return mean.Seconds()
	}
	return math.NaN()
}

// failed counts failures per cycle; many for a small population count as critical, too.
func failed(_ *Job, f *feed) float64 {
	n, share := f.cycles.worst()
	if n >= 5 && share > 0.10 {
		return math.Inf(1)
	}
	return float64(n)
}

// refused is 1 when there were 429s lately, and 2 when they grow.
func refused(_ *Job, f *feed) float64 {
	now, before := f.refused()
	switch {
	case now == 0:
		return 0
	case before > 0 && now > before:
		return 2
	default:
		return 1
	}
}

func connections(_ *Job, f *feed) float64 {
	m := &f.snap.Metrics
	if m.ServerConnections < 0 || m.ServerMax <= 0 {
		return math.NaN()
	}
	return float64(m.ServerConnections) / float64(m.ServerMax)
}

// sinceSaved is the time since the last checkpoint, in intervals.
func sinceSaved(job *Job, f *feed) float64 {
	s := f.snap
	if s.LastCheckpoint.IsZero() || s.Phase != engine.Running {
		return math.NaN()
	}
	return ratio(s.At.Sub(s.LastCheckpoint).Seconds(), job.Settings.CheckpointEvery.Seconds())
}

func ratio(part, whole float64) float64 {
	if whole <= 0 {
		return math.NaN()
	}
	return part / whole
}

// advice says what to do about what is not healthy, the worst first.
func advice(job *Job, f *feed) (text string, worst health) {
	for level := critical; level >= warning; level-- {
		for i := range checks {
			if c := &checks[i]; c.judge(job, f) == level {
				if text != "" {
					text += "  ·  "
				}
				text += c.name + " " + level.String() + ": " + c.advice
				worst = max(worst, level)
			}
		}
	}
	switch {
	case f.snap.Phase == engine.Ended:
		return "figures as of the run's end, " + f.snap.At.Local().Format(time.TimeOnly), unknown
	case worst > healthy:
		return text, worst
	case f.count == 0:
		return "the first figures come within a second", unknown
	default:
		return "no figure is beyond its threshold", healthy
	}
}
