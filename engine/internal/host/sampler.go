// Package host reads what the machine and this process use: CPU, memory, network, disk.
package host

import (
	"os"
	"sync"
	"time"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/disk"
	"github.com/shirou/gopsutil/v3/mem"
	"github.com/shirou/gopsutil/v3/net"
	"github.com/shirou/gopsutil/v3/process"
)

// Figures are one sample. What cannot be read is 0. Rates are of the time since the sample before, and 0 in the first.
type Figures struct {
	CPU             float64 // percent of all cores of the machine
	ProcessCPU      float64 // percent of one core
	Memory          uint64  // resident bytes of this process
	MemoryAvailable uint64  // bytes that the system can still give
	MemoryTotal     uint64
	NetIn, NetOut   float64 // bytes per second of all interfaces together, loopback too: the mock is there
	DiskFree        uint64  // bytes that a user may still write on the data folder's disk
	Collector       float64 // percent of one core, for collecting garbage; part of ProcessCPU
	// CoreWait is for how long goroutines that could run waited for a core, at the 99th percentile.
	CoreWait time.Duration
}

// patience is how long a sample waits for the system. Linux answers within a fraction of it; macOS tells about its
// network only through a program that takes longer.
const patience = 5 * time.Millisecond

// bootTimeCache has readings not ask anew when the machine was started; once, as the library reads it without a lock.
var bootTimeCache = sync.OnceFunc(func() { process.EnableBootTimeCache(true) })

// Sampler takes samples. It is for one goroutine.
type Sampler struct {
	dataDir string
	own     *process.Process // nil where the system does not tell
	was     reading
	shown   Figures
	busy    bool // a reading is under way
	ready   chan reading
	measure func() reading
}

// New returns a sampler for the machine, this process, and the disk that dataDir is on.
func New(dataDir string) *Sampler {
	bootTimeCache()
	s := &Sampler{dataDir: dataDir, ready: make(chan reading, 1)}
	if own, err := process.NewProcess(int32(os.Getpid())); err == nil {
		s.own = own
	}
	s.measure = s.read
	return s
}

// Sample reads the machine. If that takes longer than a few milliseconds it returns the figures of the sample before,
// and the next call those that were being read.
func (s *Sampler) Sample() Figures {
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

// reading is what the system says at one moment: counters grow for ever.
type reading struct {
	at         time.Time
	busy, all  float64 // CPU seconds of the machine
	own        float64 // CPU seconds of this process
	ownCounted bool    // own could be read
	in, out    uint64  // bytes
	counted    bool    // in and out could be read
	scheduler  scheduler
	now        Figures // what is no rate
}

func (s *Sampler) read() reading {
	r := reading{at: time.Now(), scheduler: readScheduler()}
	if all, err := cpu.Times(false); err == nil && len(all) > 0 {
		t := &all[0]
		r.busy = t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal // guests are in User and Nice
		r.all = r.busy + t.Idle + t.Iowait
	}
	if s.own != nil {
		if t, err := s.own.Times(); err == nil {
			r.own, r.ownCounted = t.User+t.System, true
		}
		if m, err := s.own.MemoryInfo(); err == nil {
			r.now.Memory = m.RSS
		}
	}
	if m, err := mem.VirtualMemory(); err == nil {
		r.now.MemoryAvailable, r.now.MemoryTotal = available(m, pressed()), m.Total
	}
	if n, err := net.IOCounters(false); err == nil && len(n) > 0 {
		r.in, r.out, r.counted = n[0].BytesRecv, n[0].BytesSent, true
	}
	if d, err := disk.Usage(s.dataDir); err == nil {
		r.now.DiskFree = d.Free
	}
	return r
}

// since turns counters into rates since an earlier reading; the zero reading gives none.
func (r *reading) since(was *reading) Figures {
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

// rate is 0 where a counter went back: an interface has gone.
func rate(now, was uint64, span float64) float64 {
	if now < was {
		return 0
	}
	return float64(now-was) / span
}
