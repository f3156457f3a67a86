package engine

// Tracer receives each exchange with a service when it is over. Many goroutines call it; it must not wait.
type Tracer func(Exchange)

// Traced reports whether somebody wants to hear of an exchange of the session that is over; failed says that it went
// wrong. Like Trace it may be called of a nil session, of which nobody hears.
func (s *Session) Traced(failed bool) bool {
	return s != nil && s.host != nil && s.host.Traced(s.asker().Agent, failed)
}

// Trace tells of an exchange of the session, whose place it fills in. The secrets must be out of it already.
func (s *Session) Trace(e Exchange, failed bool) {
	if s == nil || s.host == nil {
		return
	}
	e.Place = s.asker()
	s.host.Trace(e, failed)
}

// asker is the session for which a request is made: one of the run itself asks for the one that needed it first.
func (s *Session) asker() Place {
	if s.apart != nil {
		return s.apart.asker
	}
	return s.Place
}
