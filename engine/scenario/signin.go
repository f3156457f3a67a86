package scenario

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
)

// SignIn returns a program whose sessions only sign their agents in to a service. It calls heard with each result, from the session's
// goroutine.
func (p *Program) SignIn(s *chain.Service, heard func(chain.SignIn)) engine.Program {
	return &signingIn{p, s, heard}
}

type signingIn struct {
	program *Program
	service *chain.Service
	heard   func(chain.SignIn)
}

// Session implements engine.Program.
func (c *signingIn) Session(s *engine.Session) {
	v, err := c.program.enter(s)
	if err != nil {
		s.Row.Fail("", err)
		c.heard(chain.SignIn{Err: err})
		return
	}
	c.heard(c.service.SignIn(s, &v.in))
}
