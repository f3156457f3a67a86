package figures_test

import (
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/figures"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 900 * time.Nanosecond: "0 µs", 52 * time.Microsecond: "52 µs", 999 * time.Microsecond: "999 µs",
		1250 * time.Microsecond: "1.2 ms", 9949 * time.Microsecond: "9.9 ms", 9951 * time.Microsecond: "10 ms", 340400 * time.Microsecond: "340 ms",
		999400 * time.Microsecond: "999 ms", 999600 * time.Microsecond: "1.0 s", 1230 * time.Millisecond: "1.2 s", 3 * time.Second: "3 s", 3001 * time.Millisecond: "3.0 s", 9960 * time.Millisecond: "10 s",
		59400 * time.Millisecond: "59 s", 59600 * time.Millisecond: "1 min", 90 * time.Second: "1 min 30 s", 10 * time.Minute: "10 min",
		time.Hour - 400*time.Millisecond: "1 h", time.Hour: "1 h", 3*time.Hour + 20*time.Minute + 29*time.Second: "3 h 20 min", 47 * time.Hour: "47 h",
		48*time.Hour - time.Second: "2 days", 51 * time.Hour: "2 days 3 h", 240 * time.Hour: "10 days",
	} {
		if got := figures.Duration(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestExact(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ms", 340 * time.Millisecond: "340 ms", 2004 * time.Millisecond: "2.004 s", 14488100 * time.Microsecond: "14.488 s", 2 * time.Second: "2 s",
		194 * time.Second: "3 min 14 s",
	} {
		if got := figures.Exact(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1 kB", 1001: "1.0 kB", 9949: "9.9 kB", 9999: "10 kB", 999_499: "999 kB", 999_500: "1.0 MB", 1_032_000: "1.0 MB", 44e6: "44 MB", 999.6e6: "1.0 GB",
		1e9: "1 GB", 12e9: "12 GB", 12.64e9: "12.6 GB", 240e9: "240 GB", 5e12: "5 TB", 4e15: "4000 TB",
	} {
		if got := figures.Bytes(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

func TestPerSecond(t *testing.T) {
	for v, want := range map[float64]string{0: "0/s", 0.25: "0.25/s", 0.996: "1.0/s", 9.94: "9.9/s", 9.96: "10/s", 123.4: "123/s", 999.6: "1,000/s", 20134: "20,134/s"} {
		if got := figures.PerSecond(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 123456: "123,456", 1e18: "1,000,000,000,000,000,000"} {
		if got := figures.Count(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}

// TestAppendDoesNotAllocate checks what charts draw several times a second.
func TestAppendDoesNotAllocate(t *testing.T) {
	var b [64]byte
	n := testing.AllocsPerRun(100, func() {
		_ = figures.AppendDuration(b[:0], 1234*time.Millisecond)
		_ = figures.AppendDuration(b[:0], 1234*time.Second)
		_ = figures.AppendBytes(b[:0], 1_234_567)
		_ = figures.AppendPerSecond(b[:0], 1234.5)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestStep(t *testing.T) {
	for raw, want := range map[float64]float64{1: 1, 1.1: 2, 3: 5, 6: 10, 0.03: 0.05, 0.05: 0.05, 700: 1000, 1000: 1000} {
		if got := figures.Step(raw); math.Abs(got-want) > want*1e-9 {
			t.Errorf("the step for %v is %v, want %v", raw, got, want)
		}
	}
}
