package engine

import "github.com/throng-sim/throng/engine/internal/host"

// HostSampler returns a [Probe.Host] for this machine, this process, and the disk that dataDir is on.
func HostSampler(dataDir string) func() Host {
	sampler := host.New(dataDir)
	sampler.Sample() // what the first rates count from
	return func() Host {
		f := sampler.Sample()
		return Host{
			CPU: f.CPU, ProcessCPU: f.ProcessCPU, Memory: f.Memory, Available: f.MemoryAvailable, MemoryTotal: f.MemoryTotal,
			NetIn: f.NetIn, NetOut: f.NetOut, DiskFree: f.DiskFree,
		}
	}
}
