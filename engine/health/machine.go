package health

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine"
)

// machineFigures are the figures of the machine and of this process.
type machineFigures struct{ *input }

// cpu returns the machine's CPU load. Up to 80% is good if most of it is Throng's own. While a governor moves the limit, only the load
// of other programs is a warning: the user can close them, and the governor does the rest.
func (f *machineFigures) cpu() float64 {
	h := &f.s.Metrics.Host
	switch {
	case f.wellUsedCPU() != "":
		return 0
	case !f.automatic():
		return h.CPU
	case h.ProcessCPU/float64(f.v.cores()) < h.CPU/2:
		return min(h.CPU, leastCriticalCPU)
	}
	return 0
}

// leastCriticalCPU is the load above which the CPU is critical.
const leastCriticalCPU = 90

// cpuText names other programs if they use most of a busy machine.
func (f *machineFigures) cpuText() string {
	h := &f.s.Metrics.Host
	text := fmt.Sprintf("%.0f%%", h.CPU)
	if own := h.ProcessCPU / float64(f.v.cores()); h.CPU >= 70 && own > 0 && own < h.CPU/2 {
		text += fmt.Sprintf(", %.0f%% by other programs", h.CPU-own)
	}
	return text
}

func (f *machineFigures) wellUsedCPU() string {
	h := &f.s.Metrics.Host
	own := h.ProcessCPU / float64(f.v.cores()) // percent of the machine
	if h.CPU < 60 || h.CPU > 80 || h.CPU >= 70 && own < h.CPU/2 {
		return ""
	}
	return "well used"
}

// lost returns 1 while this machine is the bottleneck. Otherwise engine overhead does not matter.
func (f *machineFigures) lost() float64 {
	o, _ := f.v.Overhead(f.s)
	switch {
	case FindBottleneck(&o, f.s.Limit, f.s.Binds).Kind.IsHere():
		return 1
	case math.IsNaN(o.Times.Lost()):
		return math.NaN()
	}
	return 0
}

func (f *machineFigures) lostText() string {
	o, _ := f.v.Overhead(f.s)
	text := percent(o.Times.Lost())
	if b := FindBottleneck(&o, f.s.Limit, f.s.Binds); b.Kind.IsHere() {
		text += ", limited by " + b.Kind.String()
	}
	return text
}

func (f *machineFigures) ownMemory() float64 {
	h := &f.s.Metrics.Host
	return ratio(float64(h.Memory), float64(h.MemoryTotal))
}

func (f *machineFigures) ownMemoryText() string { return bytes(f.s.Metrics.Host.Memory) }

func (f *machineFigures) ownMemoryThreshold() string {
	total := f.s.Metrics.Host.MemoryTotal
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("from %s, critical above %s", bytes(total/16*8), bytes(total/16*12))
}

// EnoughMemory returns the memory that should stay available, in bytes: 4 GB, or a quarter of a small machine's.
func EnoughMemory(h *engine.HostMetrics) uint64 { return min(4e9, h.MemoryTotal/4) }

// memoryLeft compares the memory that should be available with what is. The share in use means little.
func (f *machineFigures) memoryLeft() float64 {
	h := &f.s.Metrics.Host
	switch {
	case h.MemoryTotal == 0:
		return math.NaN()
	case h.Available == 0:
		return math.Inf(1)
	}
	return float64(EnoughMemory(h)) / float64(h.Available)
}

func (f *machineFigures) memoryLeftText() string { return bytes(f.s.Metrics.Host.Available) }

func (f *machineFigures) memoryLeftThreshold() string {
	enough := EnoughMemory(&f.s.Metrics.Host)
	if enough == 0 {
		return ""
	}
	return fmt.Sprintf("up to %s, critical below %s", bytes(enough), bytes(enough/2))
}

func (f *machineFigures) wellUsedMemory() string {
	h := &f.s.Metrics.Host
	if used := 1 - float64(h.Available)/float64(h.MemoryTotal); used < 0.70 || used > 0.85 {
		return ""
	}
	return "well used"
}

func bytes(n uint64) string { return engine.FormatBytes(int64(min(n, math.MaxInt64))) }
