package machine

import (
	"math"
	"runtime"
	"testing"
	"time"
)

func TestCoreWait(t *testing.T) {
	at := func(counts ...uint64) *scheduler {
		return &scheduler{counts: counts, buckets: []float64{math.Inf(-1), 0.001, 0.002, 0.004, math.Inf(1)}}
	}
	for _, c := range []struct {
		name     string
		was, now *scheduler
		want     time.Duration
	}{
		{"no goroutine waited", at(5, 5, 5, 5), at(5, 5, 5, 5), 0},
		{"only what is new counts", at(5, 1000, 5, 5), at(105, 1000, 5, 5), time.Millisecond},
		{"one of a hundred is left out", at(0, 0, 0, 0), at(99, 0, 1, 0), time.Millisecond},
		{"two are not", at(0, 0, 0, 0), at(98, 0, 2, 0), 4 * time.Millisecond},
		{"longer than any bucket", at(0, 0, 0, 0), at(0, 0, 0, 9), 4 * time.Millisecond},
		{"the first reading", &scheduler{}, at(1, 1, 1, 1), 0},
		{"a runtime that does not tell", &scheduler{}, &scheduler{}, 0},
	} {
		if got := c.now.wait(c.was, 0.99); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestSchedulerIsRead checks the names of the runtime metrics.
func TestSchedulerIsRead(t *testing.T) {
	runtime.GC()
	s := readScheduler()
	if s.collector <= 0 || len(s.counts) == 0 || len(s.buckets) != len(s.counts)+1 {
		t.Errorf("%v s of collecting, %d counts in %d bounds", s.collector, len(s.counts), len(s.buckets))
	}
}

// TestThreadTime checks that a working thread uses time.
func TestThreadTime(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("the system does not tell")
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for before := ThreadTime(); ThreadTime() == before; {
		continue
	}
}
