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
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 42 * time.Microsecond: "42µs", 1500 * time.Microsecond: "1.5ms", 12 * time.Millisecond: "12ms",
		1200 * time.Millisecond: "1.2s", 12400 * time.Millisecond: "12s", 90 * time.Second: "1m30s",
	} {
		if got := engine.FormatDuration(d); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 9999: "9999 B", 10_000: "10 kB", 12_345_678: "12 MB", 12_345_678_900: "12.3 GB"} {
		if got := engine.FormatBytes(n); got != want {
			t.Errorf("FormatBytes(%d) = %q, want %q", n, got, want)
		}
	}
}
