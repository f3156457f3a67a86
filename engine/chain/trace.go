package chain

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine/chain/answer"
)

// Traced is the result of a step of a session at any nesting level.
type Traced struct {
	Step   *Step
	Took   time.Duration   // wall-clock time
	Output json.RawMessage // nil if it must not be shown, or does not exist
	Error  string          // one line
}

// Shadowed are the body fields of an http answer that are available under body only, because the answer has its own
// fields of these names.
func (s *Traced) Shadowed() (names []string) {
	var out struct {
		Body map[string]json.RawMessage `json:"body"`
	}
	if s.Step.Kind != "http" || json.Unmarshal(s.Output, &out) != nil {
		return nil
	}
	for _, name := range answer.OwnFields {
		if _, is := out.Body[name]; is {
			names = append(names, name)
		}
	}
	return names
}

// Trace records the results of all steps of a session by path, including nested ones. It is never stored.
type Trace struct {
	Steps map[string]*Traced
	began map[string]time.Time
}

// note calls f to record something about a step; the caller holds the watch's lock.
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

// told returns an error on one line.
func told(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// Place is the file and line of a step's definition.
func (s *Step) Place() (file string, line int) { return s.file, s.line }

// Where returns the file and line of a step by its path without iterations, such as shop.yaml:12; "" if it does not
// exist.
func (c *Chain) Where(path string) (where string) {
	c.unfold("", mostAsking, func(of string, s *Step) {
		if of == path && s.file != "" {
			where = s.file + ":" + itoa(s.line)
		}
	})
	return where
}

// Service returns the name of the service that a step asks first, or "".
func (s *Step) Service() string {
	if a, ok := s.action.(sender); ok {
		if services, _ := a.asks(); len(services) > 0 && services[0] != nil {
			return services[0].Name
		}
	}
	return ""
}
