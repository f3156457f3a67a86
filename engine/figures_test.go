package engine_test

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestFormats(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1000: "-1,000", -999: "-999", 12345678: "12,345,678"} {
		if got := engine.FormatCount(n); got != want {
			t.Errorf("FormatCount(%d) = %q, want %q", n, got, want)
		}
	}
	for rate, want := range map[float64]string{
		0: "0/s", 0.25: "0.25/s", 1.0 / 60: "0.0167/s", 12.345: "12.3/s", 999.7: "1000/s", 2000: "2000/s", 12345: "12300/s",
	} {
		if got := engine.FormatRate(rate); got != want {
			t.Errorf("FormatRate(%g) = %q, want %q", rate, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 s", 42 * time.Microsecond: "42 µs", 1500 * time.Microsecond: "1.5 ms", 12 * time.Millisecond: "12 ms",
		1200 * time.Millisecond: "1.2 s", 12400 * time.Millisecond: "12 s", 90 * time.Second: "1 min 30 s",
	} {
		if got := engine.FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 9999: "10 kB", 10_000: "10 kB", 12_345_678: "12 MB", 12_345_678_900: "12.3 GB"} {
		if got := engine.FormatBytes(n); got != want {
			t.Errorf("FormatBytes(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "$0", 1: "$0.000000001", 21_300: "$0.000021", 9_960_000: "$0.01", 12_345_678: "$0.0123", 412_500_000: "$0.4125", 999_999_999: "$1.0000",
		1e9: "$1.00", 1_995_000_000: "$2.00", 1_234_567_890_000: "$1,234.57",
	} {
		if got := engine.FormatDollars(n); got != want {
			t.Errorf("FormatDollars(%d) = %q, want %q", n, got, want)
		}
	}
}
