package machine

// allocatable returns the bytes the system can still hand out.
//
// Linux and Windows report it themselves (MemAvailable on Linux). On macOS it is free plus inactive memory: caches, and
// pages that programs have not used lately. That holds while the kernel is at ease. Under memory pressure it compresses
// or swaps inactive pages to make room, so only free memory counts. The share in use means little there: macOS runs
// near full by design.
func (m memory) allocatable(pressed bool) uint64 {
	if pressed {
		return min(m.free, m.available)
	}
	return m.available
}
