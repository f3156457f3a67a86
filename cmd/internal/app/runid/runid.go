// Package runid makes the IDs of runs.
package runid

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
)

// idStride is how far the letters of consecutive runs are apart. It has no factor in common with their number, 31^4.
const idStride = 358_979

var firstID, runs = rand.Uint64N(1 << 32), atomic.Uint64{}

// New returns a run ID that sorts by time. Its letters are random for a process, which repeats them only after all others:
// experiments begin many runs in a second.
func New(now time.Time) engine.RunID {
	const letters = "abcdefghjkmnpqrstuvwxyz23456789"
	text := make([]byte, 4)
	n := firstID + runs.Add(1)*idStride
	for i := range text {
		text[i] = letters[n%uint64(len(letters))]
		n /= uint64(len(letters))
	}
	return engine.RunID(now.UTC().Format("20060102-150405-") + string(text))
}
