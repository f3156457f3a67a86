package app

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script/value"
)

// sourceOf returns the source of a new run, with what the scenario says without changes.
func sourceOf(s *scenario.Scenario) engine.Source {
	source := s.Source
	b := engine.Baseline{Parameters: map[string]string{}, Titles: map[string]string{}, Settings: s.Settings(), Acted: s.Acted}
	for i := range s.Parameters {
		p := &s.Parameters[i]
		if text, err := value.AppendJSON(nil, p.Default); err == nil {
			b.Parameters[p.Name] = string(text)
		}
		if p.Title != "" {
			b.Titles[p.Name] = p.Title
		}
	}
	source.Baseline = b
	return source
}
