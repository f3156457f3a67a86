package engine

// Tracer receives each finished exchange with a service. It is called from many goroutines and must not block.
type Tracer func(Exchange)

// Traced reports whether a finished exchange of the session should be traced. failed means that the exchange failed.
// Traced and Trace do nothing on a nil Session.
func (s *Session) Traced(failed bool) bool {
	return s != nil && s.host != nil && s.host.Traced(asker(s).Agent, failed)
}

// Trace reports an exchange of the session and fills in its place. The caller must mask secrets first.
func (s *Session) Trace(e Exchange, failed bool) {
	if s == nil || s.host == nil {
		return
	}
	e.Place = asker(s)
	s.host.Trace(e, failed)
}

// asker returns the place of the session that a request is made for. For a session of the run itself, that is the session that
// first needed the answer.
func asker(s *Session) Place {
	if s.apart != nil {
		return s.apart.asker
	}
	return s.Place
}
