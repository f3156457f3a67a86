package run

import (
	"sync"

	"github.com/throng-sim/throng/engine"
)

// inexactness keeps the earliest reason for which the run became inexact before the session in question ended. The zero
// value is ready to use. It is safe for concurrent use.
type inexactness struct {
	mu    sync.Mutex
	first *engine.Inexact
}

// add adds a reason. It reports whether that is now the earliest.
func (d *inexactness) add(i *engine.Inexact) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if was := d.first; was != nil && (was.Cycle < i.Cycle || was.Cycle == i.Cycle && was.Agent <= i.Agent) {
		return false
	}
	d.first = i
	return true
}

// earliest returns the earliest reason, or nil if there is none.
func (d *inexactness) earliest() *engine.Inexact {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first
}
