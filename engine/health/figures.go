package health

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// The figures of the table of health, and what is said of them.

func (e *evaluation) latency() float64 {
	if mean := e.v.latency(0, 30); mean > 0 {
		return mean.Seconds()
	}
	return math.NaN()
}

func (e *evaluation) latencyText() string { return engine.FormatDuration(e.v.latency(0, 30)) }

// leastSteady is how many sessions in half a minute say that completion times are steady.
const leastSteady = 10

// steady compares the mean of the newest half minute with that of the half before.
func (e *evaluation) steady() string {
	now, before := e.v.latency(0, 30), e.v.latency(30, 60)
	if e.v.sessions(0, 30) < leastSteady || e.v.sessions(30, 60) < leastSteady || (now-before).Abs() > before/10 {
		return ""
	}
	return "steady completion times"
}

// enoughWrites is how many rows per second a sink takes that is no bottleneck.
const enoughWrites = 100

// scarceWrites is how far the writes fall short, where a cycle has work and rows wait: fewer are no trouble where there
// is nothing more to be written.
func (e *evaluation) scarceWrites() float64 {
	s := e.s
	waits := s.Metrics.Unsent > waitingRows && e.v.unsentSince(s) >= waitingFor
	switch writes := e.v.writes(); {
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

// What is taken for rows that wait, and not for a batch that fills: a batch has 500 rows, or those of 5 seconds.
const (
	waitingRows = 500
	waitingFor  = 10 * time.Second
)

func (e *evaluation) writesText() string { return fmt.Sprintf("%.0f/s", e.v.writes()) }

// cpu is what the machine is at. Up to 80 % are well used where most of it is Throng's own.
func (e *evaluation) cpu() float64 {
	if e.wellUsedCPU() != "" {
		return 0
	}
	return e.s.Metrics.Host.CPU
}

// cpuText names other programs where they use the most of a busy machine.
func (e *evaluation) cpuText() string {
	h := &e.s.Metrics.Host
	text := fmt.Sprintf("%.0f %%", h.CPU)
	if own := h.ProcessCPU / float64(e.v.cores()); h.CPU >= 70 && own > 0 && own < h.CPU/2 {
		text += fmt.Sprintf(", %.0f %% by other programs", h.CPU-own)
	}
	return text
}

func (e *evaluation) wellUsedCPU() string {
	h := &e.s.Metrics.Host
	own := h.ProcessCPU / float64(e.v.cores()) // percent of the machine
	if h.CPU < 60 || h.CPU > 80 || h.CPU >= 70 && own < h.CPU/2 {
		return ""
	}
	return "well used"
}

// lost is 1 while this machine is the limit: what is lost matters where nothing else is.
func (e *evaluation) lost() float64 {
	o, _ := e.v.Overhead(e.s)
	switch {
	case FindBottleneck(&o, e.s.Limit, e.s.Binds).Kind.IsHere():
		return 1
	case math.IsNaN(o.Times.Lost()):
		return math.NaN()
	}
	return 0
}

func (e *evaluation) lostText() string {
	o, _ := e.v.Overhead(e.s)
	text := percent(o.Times.Lost())
	if b := FindBottleneck(&o, e.s.Limit, e.s.Binds); b.Kind.IsHere() {
		text += ", limited by " + b.Kind.String()
	}
	return text
}

func (e *evaluation) ownMemory() float64 {
	h := &e.s.Metrics.Host
	return ratio(float64(h.Memory), float64(h.MemoryTotal))
}

func (e *evaluation) ownMemoryText() string { return bytes(e.s.Metrics.Host.Memory) }

func (e *evaluation) ownMemoryThreshold() string {
	total := e.s.Metrics.Host.MemoryTotal
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("from %s, critical above %s", bytes(total/16*8), bytes(total/16*12))
}

// EnoughMemory is how much of the machine's memory should be left, in bytes: 4 GB, or a quarter of a small machine's.
func EnoughMemory(h *engine.HostMetrics) uint64 { return min(4e9, h.MemoryTotal/4) }

// memoryLeft compares what should be left with what the system can still give; the share in use says little.
func (e *evaluation) memoryLeft() float64 {
	h := &e.s.Metrics.Host
	switch {
	case h.MemoryTotal == 0:
		return math.NaN()
	case h.Available == 0:
		return math.Inf(1)
	}
	return float64(EnoughMemory(h)) / float64(h.Available)
}

func (e *evaluation) memoryLeftText() string { return bytes(e.s.Metrics.Host.Available) }

func (e *evaluation) memoryLeftThreshold() string {
	enough := EnoughMemory(&e.s.Metrics.Host)
	if enough == 0 {
		return ""
	}
	return fmt.Sprintf("up to %s, critical below %s", bytes(enough), bytes(enough/2))
}

func (e *evaluation) wellUsedMemory() string {
	h := &e.s.Metrics.Host
	if used := 1 - float64(h.Available)/float64(h.MemoryTotal); used < 0.70 || used > 0.85 {
		return ""
	}
	return "well used"
}

func bytes(n uint64) string { return engine.FormatBytes(int64(min(n, math.MaxInt64))) }

func (e *evaluation) connections() float64 {
	m := &e.s.Metrics
	if m.ServerConnections < 0 || m.ServerMax <= 0 {
		return math.NaN()
	}
	return float64(m.ServerConnections) / float64(m.ServerMax)
}

func (e *evaluation) connectionsText() string {
	m := &e.s.Metrics
	return fmt.Sprintf("%d of %d", m.ServerConnections, m.ServerMax)
}

func (e *evaluation) connectionsThreshold() string {
	if m := &e.s.Metrics; m.ServerMax > 0 {
		return fmt.Sprintf("from %.0f, critical above %.0f of %d", math.Ceil(float64(m.ServerMax)*50/60), math.Floor(float64(m.ServerMax)*55/60), m.ServerMax)
	}
	return ""
}

// failures are those of the open cycle or of the one before, whichever has more.
func (e *evaluation) failures() (n int64, share float64) {
	n, total := e.s.CycleFailed, max(e.s.CycleTotal, e.s.LastCycle.Sessions)
	n = max(n, e.s.LastCycle.Failed)
	if total > 0 {
		share = float64(n) / float64(total)
	}
	return n, share
}

// failedSessions counts failures per cycle; many of a small population are critical, too.
func (e *evaluation) failedSessions() float64 {
	n, share := e.failures()
	if n >= 5 && share > 0.10 {
		return math.Inf(1)
	}
	return float64(n)
}

func (e *evaluation) failedText() string {
	n, _ := e.failures()
	return fmt.Sprintf("%s a cycle", engine.FormatCount(n))
}

func (e *evaluation) fewFail() string {
	if _, share := e.failures(); e.s.Ended == 0 || share >= 0.05 {
		return ""
	}
	return "under 5 % fail"
}

// refused is 1 when there were 429s in the last half minute, and 2 when they grow.
func (e *evaluation) refused() float64 {
	now, before := e.v.refused()
	switch {
	case now == 0:
		return 0
	case before > 0 && now > before:
		return 2
	default:
		return 1
	}
}

func (e *evaluation) refusedText() string {
	now, _ := e.v.refused()
	if now == 0 {
		return "none lately"
	}
	return engine.FormatCount(now) + " in 30s"
}

// unsentAge is for how long rows wait that did not become fewer, in minutes.
func (e *evaluation) unsentAge() float64 {
	if e.s.Metrics.Unsent < 0 {
		return math.NaN()
	}
	return e.v.unsentSince(e.s).Minutes()
}

func (e *evaluation) unsentText() string {
	text := engine.FormatCount(e.s.Metrics.Unsent)
	if since := e.v.unsentSince(e.s); since >= time.Minute {
		text += ", for " + engine.FormatDuration(since.Truncate(time.Second))
	}
	return text
}
