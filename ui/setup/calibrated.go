package setup

import "strconv"

// Order returns what the form describes; ok is false if it has mistakes. The zero Order means that no scenario is shown.
func (s *Screen) Order() (o Order, ok bool) {
	if s.scenario == nil || s.shown != s.subject {
		return Order{}, false
	}
	o, given, settings := s.order()
	return o, given == nil && settings == nil
}

// Apply sets the start and the ceiling to a calibrated limit, and lowers the floor if it is higher.
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
