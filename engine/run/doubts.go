package run

import (
	"sync"

	"github.com/throng-sim/throng/engine"
)

// doubts keep the earliest of what made a run inexact before its session ended. The zero value is ready and safe for
// concurrent use.
type doubts struct {
	mu    sync.Mutex
	first *engine.Inexact
}

// add reports whether nothing earlier is known.
func (d *doubts) add(i *engine.Inexact) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if was := d.first; was != nil && (was.Cycle < i.Cycle || was.Cycle == i.Cycle && was.Agent <= i.Agent) {
		return false
	}
	d.first = i
	return true
}

// earliest is the first of them; nil is none.
func (d *doubts) earliest() *engine.Inexact {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.first
}
