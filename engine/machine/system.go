package machine

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"

	"github.com/shirou/gopsutil/v3/cpu"
	"github.com/shirou/gopsutil/v3/disk"
	"github.com/shirou/gopsutil/v3/host"
	"github.com/shirou/gopsutil/v3/mem"
	"github.com/shirou/gopsutil/v3/net"
	"github.com/shirou/gopsutil/v3/process"
)

// This file is the only one that imports the library for system figures. Each function reports in its last result
// whether the system gave an answer.

// cacheBootTime makes the library read the boot time once: it reads its cache without a lock.
var cacheBootTime = sync.OnceFunc(func() { process.EnableBootTimeCache(true) })

// cpuSeconds returns the CPU time of all cores since boot: time spent working, and all time.
func cpuSeconds() (busy, all float64, ok bool) {
	total, err := cpu.Times(false)
	if err != nil || len(total) == 0 {
		return 0, 0, false
	}
	t := &total[0]
	busy = t.User + t.System + t.Nice + t.Irq + t.Softirq + t.Steal // User and Nice include guests
	return busy, busy + t.Idle + t.Iowait, true
}

// ID identifies this machine until it is started again, also inside a container; "" if it is unknown.
func ID() string {
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		return string(bytes.TrimSpace(boot))
	}
	id, _ := host.HostID() // "" with an error
	return id
}

// memory is the machine's memory in bytes.
type memory struct{ total, available, free uint64 }

func readMemory() (m memory, ok bool) {
	v, err := mem.VirtualMemory()
	if err != nil {
		return m, false
	}
	return memory{total: v.Total, available: v.Available, free: v.Free}, true
}

// networkBytes returns the bytes received and sent since boot by all interfaces together.
func networkBytes() (in, out uint64, ok bool) {
	n, err := net.IOCounters(false)
	if err != nil || len(n) == 0 {
		return 0, 0, false
	}
	return n[0].BytesRecv, n[0].BytesSent, true
}

// FreeDisk returns the bytes a user may still write on the disk that holds dir.
func FreeDisk(dir string) (int64, error) {
	u, err := disk.Usage(dir)
	if err != nil {
		return 0, err
	}
	return int64(u.Free), nil
}

// self is this process, or nil where the system does not report on processes.
type self struct{ *process.Process }

func thisProcess() *self {
	cacheBootTime()
	p, err := process.NewProcess(int32(os.Getpid()))
	if err != nil {
		return nil
	}
	return &self{p}
}

// cpuSeconds returns the CPU time this process has used.
func (s *self) cpuSeconds() (seconds float64, ok bool) {
	if s == nil {
		return 0, false
	}
	t, err := s.Times()
	if err != nil {
		return 0, false
	}
	return t.User + t.System, true
}

// resident returns the resident bytes of this process.
func (s *self) resident() uint64 {
	if s == nil {
		return 0
	}
	m, err := s.MemoryInfo()
	if err != nil {
		return 0
	}
	return m.RSS
}

// Resident returns the resident bytes of this process; 0 is unknown.
func Resident() uint64 { return thisProcess().resident() }

// OpenFiles returns how many files this process has open; 0 is unknown.
func OpenFiles() int {
	s := thisProcess()
	if s == nil {
		return 0
	}
	n, err := s.NumFDs()
	if err != nil {
		return 0
	}
	return int(n)
}

// Platform returns the name and version of the operating system, and the model of the processor; "" is unknown.
func Platform(ctx context.Context) (system, processor string) {
	if h, err := host.InfoWithContext(ctx); err == nil {
		system = strings.TrimSpace(h.Platform + " " + h.PlatformVersion)
	}
	if c, err := cpu.InfoWithContext(ctx); err == nil && len(c) > 0 {
		processor = c[0].ModelName
	}
	return system, processor
}
