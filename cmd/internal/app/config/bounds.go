package config

import (
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Sources of settings other than flags and environment variables.
const (
	fromScenario = "the scenario"
	fromSaved    = "saved"
)

// fit moves the limit or a bound so that a governor starts within its bounds. The value with the stronger source stays; if both are equally strong, the bound stays.
func fit(s *engine.Settings, origins map[string]Origin) {
	const start = engine.LimitSetting
	bound, name := &s.Ceiling, engine.CeilingSetting
	switch {
	case s.Limit < s.Floor:
		bound, name = &s.Floor, engine.FloorSetting
	case s.Limit <= s.Ceiling:
		return
	}
	if strength(origins[start].From) > strength(origins[name].From) {
		*bound = s.Limit
		moved(origins, name, start)
		return
	}
	s.Limit = *bound
	moved(origins, start, name)
}

// strength ranks the sources that [Layers.find] returns.
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
