package chain

import "cmp"

// Bound maps the services of a file to the copies that a run connects, so that several runs can use a file that is read once.
// A service without an entry stands for itself.
type Bound map[*Service]*Service

// Bind returns a copy of a service, to unlock and connect, and maps the service to it.
func (b Bound) Bind(s *Service) *Service {
	copied := *s
	b[s] = &copied
	return &copied
}

// of returns the copies of services.
func (b Bound) of(services []*Service) []*Service {
	copies := make([]*Service, len(services))
	for i, s := range services {
		copies[i] = cmp.Or(b[s], s)
	}
	return copies
}

// bound returns the service that a session calls for a service of the file.
func (t *turn) bound(s *Service) *Service { return cmp.Or(t.x.in.Bound[s], s) }
