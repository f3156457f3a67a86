package machine

import "testing"

func TestAllocatable(t *testing.T) {
	for _, c := range []struct {
		name    string
		memory  memory
		pressed bool
		want    uint64
	}{
		{"at ease", memory{total: 16e9, available: 5e9, free: 0.1e9}, false, 5e9},
		{"under pressure", memory{total: 16e9, available: 5e9, free: 0.1e9}, true, 0.1e9},
		{"free memory that cannot be allocated", memory{total: 16e9, available: 1e9, free: 2e9}, true, 1e9},
	} {
		if got := c.memory.allocatable(c.pressed); got != c.want {
			t.Errorf("%s: %d bytes, want %d", c.name, got, c.want)
		}
	}
}
