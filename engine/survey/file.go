package survey

// File returns the survey as a file of questions, which [Parse] reads again. Its values are in JSON, which is YAML.
func (s *Survey) File() []byte {
	w := &writer{}
	for _, text := range [][2]string{{"title", s.Title}, {"service", s.Service}, {"system", s.System}} {
		if text[1] != "" {
			w.key(text[0], text[1])
		}
	}
	if s.Separate {
		w.raw("separate: true\n")
	}
	if len(s.Segments) > 0 {
		w.raw("segments: ")
		w.value(s.Segments)
		w.raw("\n")
	}
	w.raw("questions:\n")
	for i := range s.Questions {
		s.Questions[i].write(w)
	}
	return w.b
}

func (q *Question) write(w *writer) {
	w.raw("  " + q.Name + ": {ask: ")
	w.value(q.Ask)
	w.raw(", answer: ")
	switch q.Kind {
	case Choice:
		w.value(q.Options)
	case Scale:
		w.raw("{from: ")
		w.value(q.Low)
		w.raw(", to: ")
		w.value(q.High)
		w.raw("}")
	case Number, Text:
		w.raw(string(q.Kind))
	}
	w.raw("}\n")
}
