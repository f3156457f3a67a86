package config

import (
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Places of settings that are neither a flag nor a name in the environment.
const (
	fromScenario = "the scenario"
	fromSaved    = "saved"
)

// fit has a governor start between its bounds: what comes from the stronger place stays, a bound where both are alike.
func fit(s *engine.Settings, origins map[string]Origin) {
	const start = "max-concurrent"
	bound, name := &s.Ceiling, "ceiling"
	switch {
	case s.Limit < s.Floor:
		bound, name = &s.Floor, "floor"
	case s.Limit <= s.Ceiling:
		return
	}
	if strength(origins[start].From) > strength(origins[name].From) {
		*bound, origins[name] = s.Limit, origins[start]
		return
	}
	s.Limit, origins[start] = *bound, origins[name]
}

// strength orders the places that [Layers.find] names.
func strength(from string) int {
	switch {
	case from == "":
		return 0
	case from == fromSaved:
		return 1
	case from == fromScenario:
		return 2
	case strings.HasPrefix(from, "--"):
		return 4
	}
	return 3 // the environment
}
