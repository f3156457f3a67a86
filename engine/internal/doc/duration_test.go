package doc

import (
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0":       0,
		"120":     2 * time.Minute,
		"0.5":     500 * time.Millisecond,
		"2m":      2 * time.Minute,
		"1h30m":   90 * time.Minute,
		"500ms":   500 * time.Millisecond,
		"1.5d":    36 * time.Hour,
		"1d12h":   36 * time.Hour,
		"3us":     3 * time.Microsecond,
		"3µs":     3 * time.Microsecond,
		"7ns":     7,
		"106751d": 106751 * 24 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "-1", "+1", "1e3", "1_000", "m", "2x", "2 m", "2min", "1.2.3", "106752d", "106751d24h", "9e99d", "99999999999999999999", "0x10", "NaN", "inf"} {
		if got, err := ParseDuration(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

// TestFormatDuration checks that durations are short and read back as they are.
func TestFormatDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                           "0s",
		30 * time.Second:            "30s",
		5 * time.Minute:             "5m",
		time.Hour:                   "1h",
		90 * time.Minute:            "1h30m",
		time.Hour + 5*time.Second:   "1h0m5s",
		20 * time.Minute:            "20m",
		10 * time.Hour:              "10h",
		1500 * time.Millisecond:     "1.5s",
		3 * time.Microsecond:        "3µs",
		100*time.Hour + time.Minute: "100h1m",
	} {
		got := FormatDuration(d)
		if back, err := ParseDuration(got); got != want || err != nil || back != d {
			t.Errorf("%v: got %q, which reads as %v, %v; want %q", d, got, back, err, want)
		}
	}
}
