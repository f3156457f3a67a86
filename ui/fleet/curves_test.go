package fleet

import (
	"testing"
	"time"
)

func TestShownTimes(t *testing.T) {
	times := []float64{10, 11, 12, 9000, 9001, 9002}
	for _, c := range []struct {
		until      int64
		first, end int
	}{{0, 3, 6}, {9001, 3, 5}, {9000, 3, 4}, {8999, 0, 3}, {11, 0, 2}, {9, 0, 0}} {
		until := time.Unix(c.until, 0)
		if c.until == 0 {
			until = time.Time{}
		}
		if first, end := shown(times, until); first != c.first || end != c.end {
			t.Errorf("until %d: from %d to %d, want %d to %d", c.until, first, end, c.first, c.end)
		}
	}
	if first, end := shown(nil, time.Time{}); first != 0 || end != 0 {
		t.Errorf("without times: from %d to %d", first, end)
	}
}
