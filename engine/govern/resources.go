package govern

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Bounds of the machine's CPU, in percent.
const (
	cpuHigh   = 80.
	cpuLow    = 50.
	cpuAim    = 77. // target of moves
	cpuRoom   = 74. // above, the limit does not grow
	cpuExcess = 25. // percent above high, integrated over seconds, after which the limit shrinks
	cpuFair   = 25. // Throng may always use this much, whatever other programs use
)

// memoryFair is the share of the machine's memory that Throng may always use, whatever other programs use.
const memoryFair = 1. / 16

const (
	sustained  = 3 * time.Second  // minimum duration of a condition
	settles    = 2 * time.Second  // until a move takes effect
	coolDown   = 8 * time.Second  // after a decrease, without growth
	memoryWait = 15 * time.Second // until released memory shows
)

// resources keeps Throng's use of the machine to the CPU and memory that other programs leave. It lowers the limit only as far as
// Throng's own use justifies: a run that uses little could release nothing, so it is not limited here even if other programs fill the
// machine.
type resources struct {
	want int
	why  string

	since       time.Duration // since the limit moved
	calmed      time.Duration // since the last decrease
	ended       int64         // sessions since the limit moved
	limit       int
	high, short spell  // CPU above its bound, and available memory below its bound
	own         spell  // Throng's CPU while that is high, in percent of the machine
	load        load   // of the last seconds
	cores       int    // of the machine
	top         int    // the limit before the first of a series of decreases for the CPU; 0 once it is reached again
	cpu         spell  // with the limit full, after a move has taken effect
	least       uint64 // minimum of the available bytes since the limit moved
}

// load is the recent CPU use, in percent of the machine, as exponential means.
type load struct {
	total, own float64
	known      bool
}

func (l *load) add(d time.Duration, total, own float64) {
	if !l.known {
		*l = load{total, own, true}
		return
	}
	weight := 1 - math.Exp(-d.Seconds()/sustained.Seconds())
	l.total += weight * (total - l.total)
	l.own += weight * (own - l.own)
}

// justified returns the CPU that Throng may use, in percent of the machine, if all programs use total and Throng uses own of it.
func justified(total, own float64) float64 { return max(cpuAim-(total-own), cpuFair) }

// outside reports whether other programs fill the machine while Throng uses so little that twice as many sessions are justified. An own
// use of 0 is unknown.
func (l *load) outside() bool { return l.total >= cpuRoom && l.own > 0 && 2*l.own <= cpuFair }

// spell accumulates the mean of a figure over time.
type spell struct {
	lasts         time.Duration
	sum, inFlight float64 // integrals over seconds
	peak          int     // of the sessions in flight
}

func (s *spell) add(d time.Duration, v float64, inFlight int) {
	s.lasts += d
	s.sum += v * d.Seconds()
	s.inFlight += float64(inFlight) * d.Seconds()
	s.peak = max(s.peak, inFlight)
}

func (s *spell) mean() float64 { return s.sum / s.lasts.Seconds() }

func (m *resources) afresh() {
	m.high, m.own, m.short, m.cpu, m.since, m.ended, m.least = spell{}, spell{}, spell{}, spell{}, 0, 0, math.MaxUint64
}

func (m *resources) restart(limit int) {
	m.afresh()
	m.want, m.why, m.limit, m.calmed, m.top, m.load = limit, "", limit, coolDown, 0, load{}
}

func (m *resources) next(r *engine.Reading, b bounds) (int, string) {
	h := &r.Host
	if h.CPU == 0 && h.MemoryTotal == 0 {
		return silent, ""
	}
	if r.Limit != m.limit {
		m.afresh()
		m.limit = r.Limit
	}
	m.want = max(m.want, r.Limit)
	if m.top = min(m.top, b.ceiling); m.want >= m.top {
		m.top = 0
	}
	m.watch(r)
	enough, critical := memoryBounds(h)
	roomy := h.MemoryTotal == 0 || float64(m.least) >= enough
	switch {
	case m.short.lasts >= sustained && m.since >= memoryWait && float64(h.Memory) >= memoryFair*float64(h.MemoryTotal):
		left := m.short.mean()
		why := fmt.Sprintf("%s of memory left for %s, under %s", bytes(left), whole(m.short.lasts), bytes(critical))
		m.lower(r, &m.short, 0.5+0.5*left/critical, why)
	case m.high.lasts >= sustained && m.high.sum-cpuHigh*m.high.lasts.Seconds() >= cpuExcess:
		m.giveWay(r)
	case r.Limit < m.want || m.ended == 0 && m.top == 0 || m.cpu.lasts < sustained || m.calmed < coolDown:
	case roomy:
		m.higher(r)
	}
	if roomy && m.load.outside() {
		return silent, ""
	}
	return m.want, m.why
}

// watch adds a reading to the spells.
func (m *resources) watch(r *engine.Reading) {
	h := &r.Host
	m.since += r.Span
	m.calmed += r.Span
	m.ended += r.Ended
	m.least = min(m.least, h.Available)
	m.load.add(r.Span, h.CPU, m.ownCPU(h))
	if m.since > settles && r.Busy >= busyEnough {
		// If the limit was not full for the whole reading, estimate the CPU at a full limit: in the rest, half of the sessions were left.
		m.cpu.add(r.Span, h.CPU*2/(1+min(r.Busy, 1)), r.Limit)
	}
	if m.cpu.lasts > 2*coolDown { // old readings count for less
		m.cpu.lasts, m.cpu.sum = m.cpu.lasts/2, m.cpu.sum/2
	}
	if h.CPU > cpuHigh {
		m.high.add(r.Span, h.CPU, typical(r))
		m.own.add(r.Span, m.ownCPU(h), r.InFlight)
	} else {
		m.high, m.own = spell{}, spell{}
	}
	if _, critical := memoryBounds(h); h.MemoryTotal > 0 && float64(h.Available) < critical {
		m.short.add(r.Span, float64(h.Available), typical(r))
	} else {
		m.short = spell{}
	}
}

// ownCPU returns Throng's CPU use, in percent of the machine.
func (m *resources) ownCPU(h *engine.HostMetrics) float64 { return h.ProcessCPU / float64(m.cores) }

// typical returns the number of sessions in flight during a reading that reached the limit. Between two bursts of short sessions, few are
// in flight at its end.
func typical(r *engine.Reading) int {
	if r.Busy > 0 {
		return max(r.InFlight, (r.Limit+1)/2)
	}
	return r.InFlight
}

// giveWay shrinks by the part of Throng's CPU use that is above what is justified. If other programs use more than Throng, at least a
// quarter of the sessions stay, because part of Throng's use is not for sessions.
func (m *resources) giveWay(r *engine.Reading) {
	total, own := m.high.mean(), m.own.mean()
	factor, least := cpuAim/total, 1
	if own > 0 {
		if factor = justified(total, own) / own; factor >= 1 {
			return
		}
		if 2*own < total {
			least = (max(m.top, r.Limit) + 3) / 4
		}
	}
	if r.Limit <= least {
		return
	}
	m.top = max(m.top, r.Limit)
	why := fmt.Sprintf("CPU %.0f%% for %s, above %.0f%%", total, whole(m.high.lasts), cpuHigh)
	if own > 0 {
		why += fmt.Sprintf("; Throng uses %.0f%%", own)
	}
	m.lower(r, &m.high, factor, why)
	m.want = max(m.want, least)
}

// lower shrinks by a factor of the sessions in flight, which may be fewer than the limit.
func (m *resources) lower(r *engine.Reading, over *spell, factor float64, why string) {
	m.want, m.why = max(shrunk(min(r.Limit, max(over.peak, 1)), factor), 1), why
	m.afresh()
	m.calmed = 0
}

// higher grows to the limit at which the CPU would reach its target without a shortage of memory, if all CPU use were for sessions in
// flight. If it is not, growth takes several bounded steps.
func (m *resources) higher(r *engine.Reading) {
	cpu := m.cpu.mean()
	if cpu >= cpuRoom || cpu >= cpuLow && m.cpu.lasts < coolDown {
		return
	}
	most := 1.25
	if cpu < cpuLow {
		most = 2
	}
	n := float64(r.Limit)
	to := n * min(cpuAim/max(cpu, 1), most)
	if h := &r.Host; h.MemoryTotal > 0 && h.Memory > 0 {
		enough, _ := memoryBounds(h)
		to = min(to, n+(float64(m.least)-enough)/(float64(h.Memory)/n))
	}
	if int(to) <= r.Limit {
		return
	}
	m.want, m.why = int(to), fmt.Sprintf("CPU %.0f%% at the limit, below %.0f%%", cpu, cpuHigh)
	m.afresh()
}

// memoryBounds returns the bytes that should and that must stay free: 4 GB and 2 GB, but at most a quarter and an eighth of the machine's
// memory.
func memoryBounds(h *engine.HostMetrics) (enough, critical float64) {
	total := float64(h.MemoryTotal)
	return min(4e9, total/4), min(2e9, total/8)
}

func bytes(n float64) string { return engine.FormatBytes(int64(n)) }

func whole(d time.Duration) string { return engine.FormatDuration(d.Round(time.Second)) }
