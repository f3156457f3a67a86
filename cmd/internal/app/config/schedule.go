package config

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// Schedule converts hours to a number of cycles if the settings have a time scale.
func Schedule(s *engine.Settings, sc *scenario.Scenario) {
	if s.Hours > 0 && s.TimeScale > 0 {
		s.Cycles = cyclesIn(s.Hours, s.TimeScale, sc.Clock.Cycle)
		s.Hours = 0
	}
}

// cyclesIn returns the number of cycles that begin within hours of wall time at a time scale. For example, 6 hours at scale
// 24 with a cycle of one hour are 144 cycles.
func cyclesIn(hours, timeScale float64, cycle time.Duration) int {
	return max(int(math.Ceil(hours*timeScale*float64(time.Hour)/float64(cycle)-1e-9)), 1)
}

// Resolve returns the settings of a new run of a scenario and the source of each: flags by name, the environment, the
// scenario and the saved settings, in decreasing precedence. Errors are joined *engine.FieldError values. s may be nil.
func Resolve(data string, s *scenario.Scenario, flags map[string]string, env func(string) string) (engine.Settings, map[string]Origin, error) {
	saved, err := LoadSaved(data)
	if err != nil {
		return engine.Settings{}, nil, err
	}
	layers := Layers{Flags: flags, Env: env, Saved: saved}
	if s != nil {
		layers.File = s.Settings()
	}
	return layers.Resolve()
}
