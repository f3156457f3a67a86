package chain

import "github.com/throng-sim/throng/engine"

// Purposes returns what the time of python and wait steps is spent on, by path without iterations. The time of all
// other steps belongs to their services. It covers at most engine.MostSteps steps, because chains that run each other
// may unfold to very many.
func (c *Chain) Purposes() map[string]engine.Purpose {
	known := map[string]engine.Purpose{}
	c.unfold("", engine.MostSteps, func(path string, s *Step) {
		switch s.action.(type) {
		case *python:
			known[path] = engine.ForScripts
		case *wait:
			known[path] = engine.ForThinking
		}
	})
	return known
}
