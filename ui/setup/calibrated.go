package setup

import "strconv"

// Order returns what is set up now, ok if there is no mistake in it; the zero Order is that no scenario is shown.
func (s *Screen) Order() (o Order, ok bool) {
	if s.scenario == nil || s.shown != s.subject {
		return Order{}, false
	}
	o, given, settings := s.order()
	return o, given == nil && settings == nil
}

// Apply makes a number of sessions that was found worth it the start and the ceiling; a higher floor is lowered to it.
func (s *Screen) Apply(limit int) {
	if s.scenario == nil {
		return
	}
	text := strconv.Itoa(limit)
	if floor, err := s.concurrency.floor.Value(); err == nil && int(floor) > limit {
		s.concurrency.floor.SetText(text)
	}
	s.concurrency.ceiling.SetText(text)
	s.concurrency.start.SetText(text)
}
