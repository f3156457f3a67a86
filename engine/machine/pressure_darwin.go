package machine

import "golang.org/x/sys/unix"

// normalPressure is the lowest of the kernel's levels of memory pressure: normal 1, warning 2, critical 4
// (DISPATCH_MEMORYPRESSURE in dispatch/source.h).
const normalPressure = 1

// pressed reports whether the kernel is short of memory, judged by how much it had to compress and swap.
func pressed() bool {
	level, err := unix.SysctlUint32("kern.memorystatus_vm_pressure_level")
	return err == nil && level > normalPressure
}
