package wire

import (
	"github.com/throng-sim/throng/engine"
)

// probe tells the run what it cannot know of itself.
func (l Launch) probe() engine.Probe {
	return engine.Probe{Writes: l.Store.Written}
}
