package duration_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/duration"
)

// TestParse checks the durations that flags, variables and orders accept. Durations that are too long used to
// become negative, and malformed ones were reported as negative.
func TestParse(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "300": 5 * time.Minute, "0.5": 500 * time.Millisecond, "1e3": 1000 * time.Second, "+5s": 5 * time.Second,
		"5m": 5 * time.Minute, "1h30m": 90 * time.Minute, "1d": 24 * time.Hour, "1d12h": 36 * time.Hour, "9e9": 9e9 * time.Second,
	} {
		if got, err := duration.Parse(text); err != nil || got != want {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", " ", "-1", "-5s", "nan", "inf", "-inf", "1e10", "1e30", "99999999999d", "soon", "5 m"} {
		if got, err := duration.Parse(text); err == nil || got != 0 || !strings.Contains(err.Error(), "is not a duration") {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}
