package engine_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
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
		{engine.LimitSetting, func(s *engine.Settings) { s.Limit = 0 }},
		{engine.LimitSetting, func(s *engine.Settings) { s.Limit = engine.MaxLimit + 1 }},
		{"floor", func(s *engine.Settings) { s.Floor = 0 }},
		{"ceiling", func(s *engine.Settings) { s.Floor, s.Ceiling = 10, 9 }},
		{"cycles", func(s *engine.Settings) { s.Cycles = -1 }},
		{"cycles", func(s *engine.Settings) { s.Cycles = 0 }},
		{"hours", func(s *engine.Settings) { s.Hours = -1 }},
		{"hours", func(s *engine.Settings) { s.Hours = math.Inf(1) }},
		{"hours", func(s *engine.Settings) { s.Hours = math.NaN() }},
		{"time-scale", func(s *engine.Settings) { s.TimeScale = -24 }},
		{"time-scale", func(s *engine.Settings) { s.TimeScale = 1e-12 }},
		{"time-scale", func(s *engine.Settings) { s.TimeScale = math.NaN() }},
		{"session-timeout", func(s *engine.Settings) { s.SessionTimeout = -1 }},
		{"cycle-timeout", func(s *engine.Settings) { s.CycleTimeout = -time.Second }},
		{"retries", func(s *engine.Settings) { s.Retry.Attempts = 0 }},
		{"retry-wait", func(s *engine.Settings) { s.Retry.Wait = -1 }},
		{"checkpoint-interval", func(s *engine.Settings) { s.CheckpointEvery = -1 }},
		{"checkpoint-cycles", func(s *engine.Settings) { s.CheckpointCycles = -1 }},
		{"keep-checkpoints", func(s *engine.Settings) { s.KeepCheckpoints = 0 }},
		{"keep-share", func(s *engine.Settings) { s.KeepShare = 1.1 }},
		{"keep-share", func(s *engine.Settings) { s.KeepShare = math.NaN() }},
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
	bad := engine.Settings{Seed: 1, Length: engine.Length{TimeScale: -1}, Storage: engine.Storage{KeepShare: 2}}
	if lines := strings.Count(bad.Validate().Error(), "\n") + 1; lines < 6 {
		t.Errorf("%d mistakes of a settings that is all wrong: %v", lines, bad.Validate())
	}
}

// TestSettingsComeBackFromJSON checks that the table has a row for every field.
func TestSettingsComeBackFromJSON(t *testing.T) {
	var s engine.Settings
	odd(reflect.ValueOf(&s).Elem())
	s.Governor, s.Breaker, s.Preset, s.Memory = "latency", "wait", "80/50", engine.MemoryLimit{Bytes: 5e9}
	data, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var got engine.Settings
	if err := json.Unmarshal(data, &got); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%+v comes back as %+v: %v\n%s", s, got, err, data)
	}
	if err := json.Unmarshal([]byte(`{"seed": 3, "speed": 1}`), &got); err == nil || !strings.Contains(err.Error(), "speed") {
		t.Errorf("an unknown setting: %v", err)
	}
}

// odd sets every field to a nonzero value.
func odd(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			odd(field)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		odd(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		odd(key)
		odd(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString("odd")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Uint64:
		v.SetUint(7)
	default:
		v.SetInt(9e9)
	}
}

// TestTitlesOfSettings checks that each title names one setting, and that no help names a flag.
func TestTitlesOfSettings(t *testing.T) {
	titles := map[string]string{}
	for i := range engine.SettingTable {
		t1 := &engine.SettingTable[i]
		if other := titles[t1.Title]; other != "" {
			t.Errorf("%s and %s have the title %s", t1.Name, other, t1.Title)
		}
		if titles[t1.Title] = t1.Name; t1.Title == "" {
			delete(titles, "")
		}
		if strings.Contains(t1.Help, "--") {
			t.Errorf("%s: the help names a flag: %s", t1.Name, t1.Help)
		}
	}
}
