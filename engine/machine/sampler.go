// Package machine reads what the computer and this process use: CPU, memory, network, disk.
package machine

import (
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine"
)

// patience is how long a sample waits for the system. Linux answers within a fraction of it. macOS reports on its
// network only through a program, which takes longer.
const patience = 5 * time.Millisecond

// Host returns an [engine.Probe.Host] for this machine, this process, and the disk that holds dataDir. Values that cannot be read
// are 0.
func Host(dataDir string) func() engine.HostMetrics {
	s := newSampler(dataDir)
	s.sample() // the first rates count from here
	return s.sample
}

// sampler takes samples. Only one goroutine may use it.
type sampler struct {
	dataDir string
	own     *self
	was     reading
	shown   engine.HostMetrics
	busy    bool // a reading is in progress
	ready   chan reading
	measure func() reading
}

func newSampler(dataDir string) *sampler {
	s := &sampler{dataDir: dataDir, own: thisProcess(), ready: make(chan reading, 1)}
	s.shown.Cores = runtime.NumCPU()
	s.measure = s.read
	return s
}

// sample reads the machine. If that takes longer than a few milliseconds it returns the previous figures, and the next
// call returns the ones being read.
func (s *sampler) sample() engine.HostMetrics {
	if !s.busy {
		s.busy = true
		go func() { s.ready <- s.measure() }()
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case now := <-s.ready:
		s.busy = false
		s.shown = now.since(&s.was)
		s.was = now
	case <-timer.C:
	}
	return s.shown
}

// reading holds the system's counters at one moment; they only grow.
type reading struct {
	at         time.Time
	busy, all  float64 // CPU seconds of the machine
	own        float64 // CPU seconds of this process
	ownCounted bool    // own could be read
	in, out    uint64  // bytes
	counted    bool    // in and out could be read
	scheduler  scheduler
	now        engine.HostMetrics // figures that are not rates
}

func (s *sampler) read() reading {
	r := reading{at: time.Now(), scheduler: readScheduler()}
	r.now.Cores = runtime.NumCPU()
	r.busy, r.all, _ = cpuSeconds()
	r.own, r.ownCounted = s.own.cpuSeconds()
	r.now.Memory = s.own.resident()
	if m, ok := readMemory(); ok {
		r.now.Available, r.now.MemoryTotal = m.allocatable(pressed()), m.total
	}
	r.in, r.out, r.counted = networkBytes()
	if free, err := FreeDisk(s.dataDir); err == nil {
		r.now.DiskFree = uint64(free)
	}
	return r
}

// since turns counters into rates since an earlier reading. There are none since the zero reading.
func (r *reading) since(was *reading) engine.HostMetrics {
	f := r.now
	span := r.at.Sub(was.at).Seconds()
	if was.at.IsZero() || span <= 0 {
		return f
	}
	if all := r.all - was.all; all > 0 {
		f.CPU = min(max(100*(r.busy-was.busy)/all, 0), 100)
	}
	if r.ownCounted && was.ownCounted {
		f.ProcessCPU = max(100*(r.own-was.own)/span, 0)
	}
	f.Collector = max(100*(r.scheduler.collector-was.scheduler.collector)/span, 0)
	f.CoreWait = r.scheduler.wait(&was.scheduler, 0.99)
	if r.counted && was.counted {
		f.NetIn, f.NetOut = rate(r.in, was.in, span), rate(r.out, was.out, span)
	}
	return f
}

// rate returns 0 if a counter went back, because an interface disappeared.
func rate(now, was uint64, span float64) float64 {
	if now < was {
		return 0
	}
	return float64(now-was) / span
}
