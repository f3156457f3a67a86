package chain

// Bound maps the services of a file to the copies that a run connects. A service without an entry stands for itself. A file
// that is read once can so be used by several runs at the same time.
type Bound map[*Service]*Service

// of returns the copy of a service.
func (b Bound) of(s *Service) *Service {
	if copied, ok := b[s]; ok {
		return copied
	}
	return s
}

// all returns the copies of services.
func (b Bound) all(services []*Service) []*Service {
	copies := make([]*Service, len(services))
	for i, s := range services {
		copies[i] = b.of(s)
	}
	return copies
}

// Bind returns a copy of a service, to unlock and connect, and maps the service to it.
func (b Bound) Bind(s *Service) *Service {
	copied := *s
	if s.Postgres != nil {
		database := *s.Postgres
		copied.Postgres = &database
	}
	b[s] = &copied
	return &copied
}

// bound returns the service that a session calls for a service of the file.
func (t *turn) bound(s *Service) *Service { return t.x.in.Bound.of(s) }
