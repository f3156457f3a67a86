package govern

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
)

// pressure is the policy for resources with bounds that the user chose. It scales the machine's figures so that the chosen bounds
// coincide with the policy's own, and reports the true figures. The zero value uses the policy's own bounds.
type pressure struct {
	policy
	cpuHigh, cpuLow, memoryHigh, memoryLow float64 // percent; 0 is the policy's own
}

// The policy's own bounds of CPU, in percent.
const ownHigh, ownLow = 80., 50.

// use sets the bounds to those of s.
func (p *pressure) use(s *engine.Steering) {
	p.cpuHigh, p.cpuLow, p.memoryHigh, p.memoryLow = s.CPUHigh, s.CPULow, s.MemoryHigh, s.MemoryLow
	if p.cpuHigh == 0 {
		p.cpuHigh = max(ownHigh, p.cpuLow)
	}
	if p.cpuLow == 0 {
		p.cpuLow = min(ownLow, p.cpuHigh*ownLow/ownHigh)
	}
}

func (p *pressure) isOwn() bool {
	return (p.cpuHigh == 0 || p.cpuHigh == ownHigh && p.cpuLow == ownLow) && p.memoryHigh == 0 && p.memoryLow == 0
}

// next implements policy.
func (p *pressure) next(r *engine.Reading, b bounds) (int, string) {
	if p.isOwn() {
		return p.policy.next(r, b)
	}
	shown := *r
	h := &shown.Host
	h.CPU = bent(r.Host.CPU, p.cpuLow, ownLow, p.cpuHigh, ownHigh)
	if r.Host.CPU > 0 {
		h.ProcessCPU *= h.CPU / r.Host.CPU
	}
	if (p.memoryHigh > 0 || p.memoryLow > 0) && h.MemoryTotal > 0 {
		h.Available = p.available(&r.Host)
	}
	limit, why := p.policy.next(&shown, b)
	if why != "" && limit != r.Limit {
		why = p.why(&r.Host, limit < r.Limit)
	}
	return limit, why
}

// why explains a move in true figures.
func (p *pressure) why(h *engine.HostMetrics, lower bool) string {
	used := inUse(h)
	switch {
	case lower && p.memoryHigh > 0 && used > p.memoryHigh && h.CPU <= p.cpuHigh:
		return fmt.Sprintf("memory %.0f%% in use, above %.0f%%", used, p.memoryHigh)
	case lower:
		return fmt.Sprintf("CPU %.0f%%, kept below %.0f%%", h.CPU, p.cpuHigh)
	}
	return fmt.Sprintf("CPU %.0f%% at the limit, below %.0f%%", h.CPU, p.cpuHigh)
}

// inUse returns the machine's memory in use, in percent.
func inUse(h *engine.HostMetrics) float64 {
	if h.MemoryTotal == 0 {
		return 0
	}
	return 100 * (1 - float64(min(h.Available, h.MemoryTotal))/float64(h.MemoryTotal))
}

// available returns the memory that the policy sees as available, in bytes: at the low bound, the memory that should stay free; at the
// high bound, the memory that must stay free.
func (p *pressure) available(h *engine.HostMetrics) uint64 {
	total := float64(h.MemoryTotal)
	enough, critical := memoryBounds(h)
	low, high := 100*(1-enough/total), 100*(1-critical/total) // the policy's bounds, in use
	atHigh := p.memoryHigh
	if atHigh == 0 {
		atHigh = max(high, p.memoryLow)
	}
	atLow := p.memoryLow
	if atLow == 0 {
		atLow = min(low, atHigh*low/high)
	}
	return uint64(total * (1 - bent(inUse(h), atLow, low, atHigh, high)/100))
}

// bent maps percentages: low to toLow, high to toHigh, and linearly between these, 0 and 100.
func bent(v, low, toLow, high, toHigh float64) float64 {
	line := func(from, to, at, until float64) float64 {
		if to <= from {
			return until
		}
		return at + (v-from)/(to-from)*(until-at)
	}
	switch {
	case v <= low:
		return line(0, low, 0, toLow)
	case v <= high:
		return line(low, high, toLow, toHigh)
	}
	return line(high, 100, toHigh, 100)
}
