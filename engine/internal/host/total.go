package host

import (
	"os"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v3/mem"
)

// cgroupLimits are where Linux says how much memory a container may use: version 2 of control groups, and version 1.
var cgroupLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// TotalMemory is the memory of the machine, or of the container if that has less; 0 is not known.
func TotalMemory() uint64 {
	var total uint64
	if m, err := mem.VirtualMemory(); err == nil {
		total = m.Total
	}
	for _, path := range cgroupLimits {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		if n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 && (total == 0 || n < total) {
			total = n
		}
	}
	return total
}
