package engine

import (
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine/internal/host"
)

// ThreadTime is the CPU time so far of the system's thread that it is called on; 0 where the system does not tell. Only a
// goroutine that is locked to its thread learns something of itself by it.
func ThreadTime() time.Duration { return host.ThreadTime() }

// HostSampler returns a [Probe.Host] for this machine, this process, and the disk that dataDir is on.
func HostSampler(dataDir string) func() HostMetrics {
	sampler := host.New(dataDir)
	sampler.Sample() // what the first rates count from
	cores := runtime.NumCPU()
	return func() HostMetrics {
		f := sampler.Sample()
		return HostMetrics{
			CPU: f.CPU, ProcessCPU: f.ProcessCPU, Memory: f.Memory, Available: f.MemoryAvailable, MemoryTotal: f.MemoryTotal,
			NetIn: f.NetIn, NetOut: f.NetOut, DiskFree: f.DiskFree, Cores: cores, Collector: f.Collector, CoreWait: f.CoreWait,
		}
	}
}
