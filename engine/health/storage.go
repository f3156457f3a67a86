package health

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// storageFigures are the figures of databases and checkpoints.
type storageFigures struct{ *input }

// enoughWrites is the rows per second of a sink that is not a bottleneck.
const enoughWrites = 100

// scarceWrites returns how far writes fall short while a cycle has work and rows wait. Without waiting rows, few writes are normal.
func (f *storageFigures) scarceWrites() float64 {
	s := f.s
	waits := s.Metrics.Unsent > waitingRows && f.v.unsentSince(s) >= waitingFor
	switch writes := f.v.writes(); {
	case s.Metrics.Unsent < 0 || s.Phase != engine.Running || s.CycleEnded >= s.CycleTotal:
		return math.NaN()
	case !waits:
		return 0
	case writes <= 0:
		return math.Inf(1)
	default:
		return enoughWrites / writes
	}
}

// More rows than a batch count as waiting: a batch has 500 rows, or those of 5 seconds.
const (
	waitingRows = 500
	waitingFor  = 10 * time.Second
)

func (f *storageFigures) writesText() string { return fmt.Sprintf("%.0f/s", f.v.writes()) }

func (f *storageFigures) connections() float64 {
	m := &f.s.Metrics
	if m.ServerConnections < 0 || m.ServerMax <= 0 {
		return math.NaN()
	}
	return float64(m.ServerConnections) / float64(m.ServerMax)
}

func (f *storageFigures) connectionsText() string {
	m := &f.s.Metrics
	return fmt.Sprintf("%d of %d", m.ServerConnections, m.ServerMax)
}

func (f *storageFigures) connectionsThreshold() string {
	if m := &f.s.Metrics; m.ServerMax > 0 {
		return fmt.Sprintf("from %.0f, critical above %.0f of %d", math.Ceil(float64(m.ServerMax)*50/60), math.Floor(float64(m.ServerMax)*55/60), m.ServerMax)
	}
	return ""
}

// unsentAge returns how long the number of waiting rows has not gone down, in minutes.
func (f *storageFigures) unsentAge() float64 {
	if f.s.Metrics.Unsent < 0 {
		return math.NaN()
	}
	return f.v.unsentSince(f.s).Minutes()
}

func (f *storageFigures) unsentText() string {
	text := engine.FormatCount(f.s.Metrics.Unsent)
	if since := f.v.unsentSince(f.s); since >= time.Minute {
		text += ", for " + engine.FormatDuration(since.Truncate(time.Second))
	}
	return text
}

func (f *storageFigures) sinceCheckpoint() float64 {
	if f.s.LastCheckpoint.IsZero() || f.s.Phase != engine.Running {
		return math.NaN()
	}
	return ratio(f.s.At.Sub(f.s.LastCheckpoint).Seconds(), f.every.Seconds())
}

func (f *storageFigures) checkpointText() string {
	return engine.FormatDuration(f.s.At.Sub(f.s.LastCheckpoint).Truncate(time.Second)) + " ago"
}

func (f *storageFigures) checkpointThreshold() string {
	if f.every <= 0 {
		return ""
	}
	return fmt.Sprintf("after %s, critical after %s", engine.FormatDuration(f.every*3/2), engine.FormatDuration(2*f.every))
}
