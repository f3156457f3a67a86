package runid_test

import (
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/runid"
)

// TestRunIDs checks that runs of the same second have different IDs.
func TestRunIDs(t *testing.T) {
	seen, now := map[string]bool{}, time.Now()
	for range 100_000 {
		id := string(runid.New(now))
		if seen[id] {
			t.Fatalf("%s after %d others", id, len(seen))
		}
		seen[id] = true
	}
}
