package settings

import (
	"testing"

	"github.com/throng-sim/throng/ui/internal/async"
)

// TestMain drops what comes when no test stands for the UI goroutine: answers that a test did not wait for.
func TestMain(m *testing.M) {
	async.Replace(func(func()) {})
	m.Run()
}
