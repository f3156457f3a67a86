package host

import "github.com/shirou/gopsutil/v3/mem"

// available is what the system can still give, in bytes.
//
// Linux says it itself (MemAvailable), and Windows does. On macOS it is what is free and what is inactive: caches, and
// memory that programs have not touched lately. That holds as long as the kernel is at ease. Once it compresses and swaps
// to make room, inactive memory is what it has to compress or to swap first, so that only the free counts; the share
// in use says nothing there, as macOS runs near full by design.
func available(m *mem.VirtualMemoryStat, pressed bool) uint64 {
	if pressed {
		return min(m.Free, m.Available)
	}
	return m.Available
}
