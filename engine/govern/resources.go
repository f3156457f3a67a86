package govern

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Of the machine's CPU, in percent.
const (
	cpuHigh   = 80.
	cpuLow    = 50.
	cpuAim    = 77. // what moves aim at
	cpuRoom   = 74. // above, it does not grow
	cpuExcess = 25. // percent above high, summed over seconds, after which it shrinks
	cpuFair   = 25. // that Throng may use itself, whatever other programs use
)

// memoryFair is the share of the machine's memory that Throng may use, whatever other programs use.
const memoryFair = 1. / 16

const (
	sustained  = 3 * time.Second  // that something must go on
	settles    = 2 * time.Second  // that a move takes to show
	coolDown   = 8 * time.Second  // after it shrank, in which it does not grow
	memoryWait = 15 * time.Second // before memory that was given back shows
)

// resources keeps Throng's own use of the machine to what other programs leave of its CPU and memory. It lowers the limit
// only by as much as Throng's own use justifies: a run that itself uses little would free nothing, and has no limit here
// while other programs fill the machine.
type resources struct {
	want int
	why  string

	since       time.Duration // the limit moved
	calmed      time.Duration // since it shrank
	ended       int64         // sessions since the limit moved
	limit       int
	high, short spell  // of CPU above its bound, and of memory under its own
	own         spell  // of Throng's CPU, in percent of the machine, while that is high
	load        load   // of the last seconds
	cores       int    // of the machine
	top         int    // the limit before it shrank for the CPU for the first time in a row; 0 is that it is reached again
	cpu         spell  // with the limit full, since a move showed
	least       uint64 // bytes that the system could give, since the limit moved
}

// load is what the CPU did lately, in percent of the machine, as exponential means.
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

// justified is how much of the CPU Throng may use, in percent of the machine, while all programs use total and Throng own
// of it.
func justified(total, own float64) float64 { return max(cpuAim-(total-own), cpuFair) }

// outside reports whether other programs fill the machine, and Throng uses so little that twice as many sessions are
// justified. An own use of 0 is not known.
func (l *load) outside() bool { return l.total >= cpuRoom && l.own > 0 && 2*l.own <= cpuFair }

// spell is a figure's mean over a time that goes on.
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
		// Of a reading in which the limit was not full all the time, what it would have been: for the rest, half were left.
		m.cpu.add(r.Span, h.CPU*2/(1+min(r.Busy, 1)), r.Limit)
	}
	if m.cpu.lasts > 2*coolDown { // what is long ago counts for less
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

// ownCPU is what Throng uses, in percent of the machine.
func (m *resources) ownCPU(h *engine.HostMetrics) float64 { return h.ProcessCPU / float64(m.cores) }

// typical is how many sessions were in flight during a reading in which the limit was reached: between two bursts of
// short sessions few are seen at its end.
func typical(r *engine.Reading) int {
	if r.Busy > 0 {
		return max(r.InFlight, (r.Limit+1)/2)
	}
	return r.InFlight
}

// giveWay shrinks for the CPU, by as much as Throng's own use is above what is justified. Where other programs use more
// than Throng, a quarter of the sessions stay: part of what it uses is not for sessions.
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
	why := fmt.Sprintf("CPU %.0f %% for %s, above %.0f %%", total, whole(m.high.lasts), cpuHigh)
	if own > 0 {
		why += fmt.Sprintf("; Throng uses %.0f %%", own)
	}
	m.lower(r, &m.high, factor, why)
	m.want = max(m.want, least)
}

// lower shrinks by a factor from what was in flight, which may be less than the limit.
func (m *resources) lower(r *engine.Reading, over *spell, factor float64, why string) {
	m.want, m.why = max(shrunk(min(r.Limit, max(over.peak, 1)), factor), 1), why
	m.afresh()
	m.calmed = 0
}

// higher grows to where the CPU would be at its aim, and the memory not short, if all of it were for the sessions in
// flight: for less of it the way is longer, and never too far.
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
	m.want, m.why = int(to), fmt.Sprintf("CPU %.0f %% at the limit, below %.0f %%", cpu, cpuHigh)
	m.afresh()
}

// memoryBounds are what the machine should have left and must have left, in bytes: 4 GB and 2 GB, and of a small machine
// a quarter and an eighth of what it has.
func memoryBounds(h *engine.HostMetrics) (enough, critical float64) {
	total := float64(h.MemoryTotal)
	return min(4e9, total/4), min(2e9, total/8)
}

func bytes(n float64) string { return engine.FormatBytes(int64(n)) }

func whole(d time.Duration) time.Duration { return d.Round(time.Second) }
