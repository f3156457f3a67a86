package service

import (
	"sync"

	"github.com/throng-sim/throng/engine/internal/concurrency"
	"github.com/throng-sim/throng/engine/service/admission"
)

// Sharing lets the clients of runs that are in progress at the same time share their limits, those of the first client. The zero
// value is ready to use, and a nil Sharing shares nothing. It is safe for concurrent use.
type Sharing struct {
	mu     sync.Mutex
	by     map[string]*admission.Controller // by service and address
	models *concurrency.Limit
}

// Share makes the client use the limits of others of the same service. Call it before any request.
func (h *HTTP) Share(s *Sharing) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key, mine := h.name+" "+h.base.String(), &h.transport
	known, ok := s.by[key]
	if !ok {
		known = mine.control
		if s.by == nil {
			s.by = map[string]*admission.Controller{}
		}
		s.by[key] = known
	}
	mine.control, mine.limits = known, known
}

// Bound returns the limit of n model calls that all runs share.
func (s *Sharing) Bound(n int) *Bound {
	if s == nil {
		return NewBound(n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models == nil {
		s.models = concurrency.NewLimit(n)
	}
	return &Bound{s.models}
}
