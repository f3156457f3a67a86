package engine_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func TestDefaultSettingsAreValid(t *testing.T) {
	s := engine.DefaultSettings()
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
	s.WarmUp, s.TimeScale, s.Hours = engine.DefaultWarmUp, 24, 6
	if err := s.Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidateFindsEveryMistake(t *testing.T) {
	for _, c := range []struct {
		field  string
		change func(*engine.Settings)
	}{
		{"limit", func(s *engine.Settings) { s.Limit = 0 }},
		{"limit", func(s *engine.Settings) { s.Limit = engine.MaxLimit + 1 }},
		{"floor", func(s *engine.Settings) { s.Floor = 0 }},
		{"ceiling", func(s *engine.Settings) { s.Floor, s.Ceiling = 10, 9 }},
		{"cycles", func(s *engine.Settings) { s.Cycles = -1 }},
		{"cycles", func(s *engine.Settings) { s.Cycles = 0 }},
		{"hours", func(s *engine.Settings) { s.Hours = -1 }},
		{"hours", func(s *engine.Settings) { s.Hours = math.Inf(1) }},
		{"hours", func(s *engine.Settings) { s.Hours = math.NaN() }},
		{"time scale", func(s *engine.Settings) { s.TimeScale = -24 }},
		{"time scale", func(s *engine.Settings) { s.TimeScale = 1e-12 }},
		{"time scale", func(s *engine.Settings) { s.TimeScale = math.NaN() }},
		{"timeout", func(s *engine.Settings) { s.SessionTimeout = -1 }},
		{"timeout", func(s *engine.Settings) { s.CycleTimeout = -time.Second }},
		{"retry", func(s *engine.Settings) { s.Retry.Attempts = 0 }},
		{"retry", func(s *engine.Settings) { s.Retry.Wait = -1 }},
		{"checkpoint interval", func(s *engine.Settings) { s.CheckpointEvery = -1 }},
		{"keep checkpoints", func(s *engine.Settings) { s.KeepCheckpoints = 0 }},
		{"keep share", func(s *engine.Settings) { s.KeepShare = 1.1 }},
		{"keep share", func(s *engine.Settings) { s.KeepShare = math.NaN() }},
		{"warm-up", func(s *engine.Settings) { s.WarmUp = []float64{0.5, 0} }},
		{"warm-up", func(s *engine.Settings) { s.WarmUp = []float64{0.5, 0.25} }},
		{"warm-up", func(s *engine.Settings) { s.WarmUp, s.WarmUpCycles = []float64{1}, 0 }},
	} {
		s := engine.DefaultSettings()
		c.change(&s)
		err := s.Validate()
		var mistake *engine.FieldError
		if !errors.As(err, &mistake) || mistake.Field != c.field {
			t.Errorf("a mistake in %s: error = %v", c.field, err)
		}
	}
	bad := engine.Settings{Seed: 1, TimeScale: -1, KeepShare: 2}
	if lines := strings.Count(bad.Validate().Error(), "\n") + 1; lines < 6 {
		t.Errorf("%d mistakes of a settings that is all wrong: %v", lines, bad.Validate())
	}
}
