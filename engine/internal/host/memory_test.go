package host

import (
	"testing"

	"github.com/shirou/gopsutil/v3/mem"
)

func TestAvailable(t *testing.T) {
	for _, c := range []struct {
		name    string
		memory  mem.VirtualMemoryStat
		pressed bool
		want    uint64
	}{
		{"at ease", mem.VirtualMemoryStat{Total: 16e9, Available: 5e9, Free: 0.1e9}, false, 5e9},
		{"while it compresses", mem.VirtualMemoryStat{Total: 16e9, Available: 5e9, Free: 0.1e9}, true, 0.1e9},
		{"free memory that is not to be had", mem.VirtualMemoryStat{Total: 16e9, Available: 1e9, Free: 2e9}, true, 1e9},
	} {
		if got := available(&c.memory, c.pressed); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}
