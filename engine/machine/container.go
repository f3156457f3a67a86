package machine

import (
	"os"
	"strconv"
	"strings"
)

// cgroupLimits are the files where Linux states a container's memory limit: control groups version 2, then version 1.
var cgroupLimits = []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}

// TotalMemory returns the bytes of memory of the machine, or of the container if that has less; 0 is unknown.
func TotalMemory() uint64 {
	m, _ := readMemory()
	total := m.total
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
