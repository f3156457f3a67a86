package engine

import (
	"runtime"
	"time"

	"github.com/throng-sim/throng/engine/machine"
)

// ThreadTime returns the CPU time so far of the calling thread; 0 is unknown. It is only useful to a goroutine that is
// locked to its thread.
func ThreadTime() time.Duration { return machine.ThreadTime() }

// HostSampler returns a [Probe.Host] for this machine, this process, and the disk that holds dataDir.
func HostSampler(dataDir string) func() HostMetrics {
	sampler := machine.New(dataDir)
	sampler.Sample() // the first rates count from here
	cores := runtime.NumCPU()
	return func() HostMetrics {
		f := sampler.Sample()
		return HostMetrics{
			CPU: f.CPU, ProcessCPU: f.ProcessCPU, Memory: f.Memory, Available: f.MemoryAvailable, MemoryTotal: f.MemoryTotal,
			NetIn: f.NetIn, NetOut: f.NetOut, DiskFree: f.DiskFree, Cores: cores, Collector: f.Collector, CoreWait: f.CoreWait,
		}
	}
}
