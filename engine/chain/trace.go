package chain

import (
	"encoding/json"
	"strings"
	"time"
)

// Traced is what a step of a session gave, wherever it stands.
type Traced struct {
	Step   *Step
	Took   time.Duration   // by the clock on the wall
	Output json.RawMessage // nil if it is not to be shown, or there is none
	Error  string          // one line
}

// Shadowed are the fields of the body of an http answer that expressions reach under body only, since the answer itself
// has fields of these names.
func (s *Traced) Shadowed() (names []string) {
	var answer struct {
		Body map[string]json.RawMessage `json:"body"`
	}
	if s.Step.Kind != "http" || json.Unmarshal(s.Output, &answer) != nil {
		return nil
	}
	for _, name := range ownFields {
		if _, is := answer.Body[name]; is {
			names = append(names, name)
		}
	}
	return names
}

// Trace keeps what all steps of a session gave, also those inside of others, by their paths. It is never stored.
type Trace struct {
	Steps map[string]*Traced
	began map[string]time.Time
}

// note has f write down something about a step; the watch's lock is held.
func (w *Watch) note(t *turn, f func(s *Traced)) {
	if w == nil || w.Trace == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Trace.Steps == nil {
		w.Trace.Steps, w.Trace.began = map[string]*Traced{}, map[string]time.Time{}
	}
	s := w.Trace.Steps[t.path]
	if s == nil {
		s = &Traced{Step: t.step}
		w.Trace.Steps[t.path], w.Trace.began[t.path] = s, time.Now()
	}
	s.Took = time.Since(w.Trace.began[t.path])
	f(s)
}

// told is an error in one line.
func told(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Place is the file and the line at which a step is defined.
func (s *Step) Place() (file string, line int) { return s.file, s.line }

// Where is the file and the line of a step by its path without iterations, such as shop.yaml:12; "" where there is none.
func (c *Chain) Where(path string) (where string) {
	c.unfold("", mostAsking, func(of string, s *Step) {
		if of == path && s.file != "" {
			where = s.file + ":" + itoa(s.line)
		}
	})
	return where
}

// Service is the name of the service that a step asks first; "" is none.
func (s *Step) Service() string {
	if a, ok := s.action.(sender); ok {
		if services, _ := a.asks(); len(services) > 0 && services[0] != nil {
			return services[0].Name
		}
	}
	return ""
}

// Hides reports whether a step's output is private, or made of outputs that are.
func (s *Step) Hides() bool { return s.hides() }
