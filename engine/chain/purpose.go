package chain

import "github.com/throng-sim/throng/engine"

// Purposes returns what the time of python and wait steps is spent on, by path without iterations. The time of all
// other steps belongs to their services. It covers at most engine.MostSteps steps, because chains that run each other
// may unfold to very many.
func (c *Chain) Purposes() map[string]engine.Purpose {
	p := purposes{map[string]engine.Purpose{}, engine.MostSteps}
	p.block("", c.Body)
	return p.known
}

// purposes collects the purposes of steps.
type purposes struct {
	known map[string]engine.Purpose
	room  int // remaining steps
}

func (p *purposes) block(prefix string, b *Block) {
	if b == nil {
		return
	}
	for _, s := range b.Steps {
		if p.room--; p.room < 0 {
			return
		}
		path := prefix + s.Name
		switch a := s.action.(type) {
		case *python:
			p.known[path] = engine.ForScripts
		case *wait:
			p.known[path] = engine.ForThinking
		case nest:
			for _, inner := range a.blocks() {
				p.block(path+".", inner)
			}
		case *subchain:
			if a.chain != nil {
				p.block(path+".", a.chain.Body)
			}
		}
	}
}
