package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestSettingsReadWhatTheyShow sets every setting to the shown value of another run.
func TestSettingsReadWhatTheyShow(t *testing.T) {
	odd := engine.Settings{Seed: 42, Concurrency: engine.Concurrency{Limit: 7, SequentialSteps: true}, Steering: engine.Steering{Floor: 1, Ceiling: 100}, Length: engine.Length{Cycles: 3, TimeScale: 24.5}, Timeouts: engine.Timeouts{SessionTimeout: 90 * time.Second, ChainTimeout: time.Minute, CycleTimeout: 2 * time.Hour, Retry: engine.Retry{Attempts: 2, Wait: 10 * time.Millisecond, Max: time.Minute}}, Storage: engine.Storage{CheckpointEvery: 30 * time.Second, KeepCheckpoints: 3, KeepShare: 0.5}, Selection: engine.Selection{WarmUp: []float64{0.25, 1}}}
	got := engine.DefaultSettings()
	for _, s := range RunSettings() {
		if s.Name == "hours" { // excludes cycles
			continue
		}
		if err := s.Set(&got, s.Show(&odd)); err != nil {
			t.Errorf("%s does not read %q: %v", s.Name, s.Show(&odd), err)
		}
		if got, want := s.Show(&got), s.Show(&odd); got != want {
			t.Errorf("%s = %s, want %s", s.Name, got, want)
		}
		if s.Help == "" || s.Unit == "" || s.Group == "" {
			t.Errorf("%s is not explained", s.Name)
		}
		if err := s.Set(&got, "much"); err == nil {
			t.Errorf("%s accepts %q", s.Name, "much")
		}
	}
}

// TestLayers checks the precedence: flag, environment, run or scenario, saved, default.
func TestLayers(t *testing.T) {
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	run := engine.DefaultSettings()
	run.Retry.Attempts = 9
	tests := []struct {
		name        string
		layers      Layers
		setting     string
		value, from string
	}{
		{"default", Layers{}, "retries", "5", "default"},
		{"saved", Layers{Saved: map[string]string{"retries": "3"}}, "retries", "3", "saved"},
		{"scenario over saved", Layers{File: map[string]string{"cycles": "24"}, Saved: map[string]string{"cycles": "2"}}, "cycles", "24", "the scenario"},
		{
			"environment over scenario",
			Layers{Env: env(map[string]string{"CHAIN_TIMEOUT_SECONDS": "60"}), File: map[string]string{"chain-timeout": "9"}},
			"chain-timeout", "1m", "CHAIN_TIMEOUT_SECONDS",
		},
		{
			"first variable counts",
			Layers{Env: env(map[string]string{"SIMULATION_MAX_CONCURRENT": "8", "MAX_WORKERS": "9"})},
			"max-concurrent", "8", "SIMULATION_MAX_CONCURRENT",
		},
		{
			"a variable that says the opposite",
			Layers{Env: env(map[string]string{"ENABLE_PARALLEL_STEPS": "false"}), File: map[string]string{"sequential-steps": "off"}},
			"sequential-steps", "on", "ENABLE_PARALLEL_STEPS",
		},
		{
			"and one that says the default",
			Layers{Env: env(map[string]string{"ENABLE_PARALLEL_STEPS": "true"}), Saved: map[string]string{"sequential-steps": "on"}},
			"sequential-steps", "off", "ENABLE_PARALLEL_STEPS",
		},
		{
			"flag over all",
			Layers{Flags: map[string]string{"max-concurrent": "3"}, Env: env(map[string]string{"MAX_WORKERS": "9"}), Saved: map[string]string{"max-concurrent": "1"}},
			"max-concurrent", "3", "--max-concurrent",
		},
		{"spaces round a variable", Layers{Env: env(map[string]string{"MAX_WORKERS": " 7\r"})}, "max-concurrent", "7", "MAX_WORKERS"},
		{"a variable of spaces", Layers{Env: env(map[string]string{"MAX_WORKERS": " "})}, "max-concurrent", "50", "default"},
		{"a variable of Python's None", Layers{Env: env(map[string]string{"MAX_WORKERS": "None", "SIMULATION_MAX_CONCURRENT": "NONE"})}, "max-concurrent", "50", "default"},
		{"sequential personas", Layers{Env: env(map[string]string{"PARALLEL_AGENT_GENERATION": "false"})}, "sequential-personas", "on", "PARALLEL_AGENT_GENERATION"},
		{"waves of the scenario", Layers{File: map[string]string{"batch": "50"}}, "batch", "50", "the scenario"},
		{"a preset", Layers{Flags: map[string]string{"preset": "80/50"}, Saved: map[string]string{"floor": "3"}}, "floor", "20", "--preset 80/50"},
		{"a preset's governor", Layers{Flags: map[string]string{"preset": "80/50"}}, "governor", "resources", "--preset 80/50"},
		{"more than a preset", Layers{Flags: map[string]string{"preset": "80/50", "cpu-high": "90%"}}, "cpu-high", "90%", "--cpu-high"},
		{"a saved preset", Layers{Saved: map[string]string{"preset": "80/50"}}, "memory-high", "80%", "saved"},
		{"the run's own", Layers{Run: &run, Saved: map[string]string{"retries": "3"}}, "retries", "9", "the run"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, origins, err := tt.layers.Resolve()
			if err != nil {
				t.Fatal(err)
			}
			if got, want := origins[tt.setting], (Origin{Value: tt.value, From: tt.from}); got != want {
				t.Errorf("%s = %v, want %v", tt.setting, got, want)
			}
		})
	}
	_, _, err := Layers{
		Env:   env(map[string]string{"MAX_WORKERS": "many", "ENABLE_PARALLEL_STEPS": "maybe", "CHAIN_TIMEOUT_SECONDS": "-1"}),
		Flags: map[string]string{"preset": "fast", "cpu-low": "much", "hours": "x", "max-time": "1e30"},
	}.Resolve()
	for _, want := range []string{
		`unknown preset "fast"; choose none or 80/50`, `"much" is not a percentage`, "MAX_WORKERS", "many", "--hours", `CHAIN_TIMEOUT_SECONDS: "-1" is not a duration`, `--max-time: "1e30" is not a duration`, `ENABLE_PARALLEL_STEPS: "maybe" is not on or off`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %s", err, want)
		}
	}
}

// TestCeilingFromLimit checks that a configured limit is also the ceiling, unless a ceiling is configured.
func TestCeilingFromLimit(t *testing.T) {
	run := engine.DefaultSettings()
	run.Ceiling = 372
	nine := func(name string) string { return map[string]string{"MAX_WORKERS": "9"}[name] }
	for _, c := range []struct {
		layers         Layers
		limit, ceiling int
		from           string // of the ceiling
	}{
		{Layers{}, 50, 100, "default"},
		{Layers{Flags: map[string]string{"max-concurrent": "30"}}, 30, 30, "default, limited by the concurrency limit"},
		{Layers{Env: nine}, 9, 9, "default, limited by the concurrency limit"},
		{Layers{Env: func(string) string { return "None" }}, 50, 100, "default"},
		{Layers{Flags: map[string]string{"max-concurrent": "3"}, Saved: map[string]string{"floor": "5"}}, 3, 3, "default, limited by the concurrency limit"},
		{Layers{Flags: map[string]string{"max-concurrent": "3", "floor": "5"}}, 5, 5, "default, limited by the concurrency limit"},
		{Layers{Flags: map[string]string{"max-concurrent": "30", "ceiling": "300"}}, 30, 300, "--ceiling"},
		{Layers{Flags: map[string]string{"max-concurrent": "300"}}, 300, 300, "default, raised to the concurrency limit"},
		{Layers{Flags: map[string]string{"max-concurrent": "300", "governor": "manual"}}, 300, 300, "default, raised to the concurrency limit"},
		{Layers{Flags: map[string]string{"max-concurrent": "30", "governor": "manual"}}, 30, 30, "default, limited by the concurrency limit"},
		{Layers{Flags: map[string]string{"max-concurrent": "30", "governor": "manual", "ceiling": "60"}}, 30, 60, "--ceiling"},
		{Layers{Flags: map[string]string{"governor": "manual"}}, 50, 100, "default"},
		{Layers{Flags: map[string]string{"max-concurrent": "30"}, Saved: map[string]string{"ceiling": "40"}}, 30, 40, "saved"},
		{Layers{Flags: map[string]string{"max-concurrent": "30"}, Run: &run}, 30, 30, "the run, limited by the concurrency limit"},
		{Layers{Flags: map[string]string{"max-concurrent": "60"}, Saved: map[string]string{"ceiling": "40"}}, 60, 60, "saved, raised to the concurrency limit"},
		{Layers{Flags: map[string]string{"max-concurrent": "60"}, Env: nine, Saved: map[string]string{"ceiling": "8"}}, 60, 60, "saved, raised to the concurrency limit"},
		{Layers{Env: nine, Saved: map[string]string{"ceiling": "8"}}, 9, 9, "saved, raised to the concurrency limit"},
		{Layers{Flags: map[string]string{"ceiling": "4"}, Saved: map[string]string{"max-concurrent": "8"}}, 4, 4, "--ceiling"},
		{Layers{Flags: map[string]string{"ceiling": "4", "max-concurrent": "8"}}, 4, 4, "--ceiling"},
		{Layers{Flags: map[string]string{"floor": "60"}}, 60, 100, "default"},
		{Layers{Flags: map[string]string{"floor": "60", "ceiling": "40"}}, 50, 40, "--ceiling"}, // Validate reports it
		{Layers{Flags: map[string]string{"governor": "manual"}, Saved: map[string]string{"ceiling": "8"}}, 50, 8, "saved"},
		{Layers{Flags: map[string]string{"max-concurrent": "0"}}, 0, 100, "default"}, // Validate reports the limit, and only that
	} {
		s, origins, err := c.layers.Resolve()
		if err != nil || s.Limit != c.limit || s.Ceiling != c.ceiling || origins["ceiling"].Source() != c.from {
			t.Errorf("%+v: %d to %d from %s, %v", c.layers, s.Limit, s.Ceiling, origins["ceiling"].Source(), err)
		}
	}
}

// TestMovedSettings checks that only the changed setting counts as saved, and that the other one says why its value differs.
func TestMovedSettings(t *testing.T) {
	for _, c := range []struct {
		saved            map[string]string
		limit, ceiling   Origin
		whyLimit, whyTop string
	}{
		{map[string]string{"max-concurrent": "40"}, Origin{"40", "saved", "", ""}, Origin{"40", "default", "100", "max-concurrent"}, "", "limited by the concurrency limit"},
		{map[string]string{"ceiling": "20"}, Origin{"20", "default", "50", "ceiling"}, Origin{"20", "saved", "", ""}, "limited by the highest limit", ""},
		{map[string]string{"max-concurrent": "200"}, Origin{"200", "saved", "", ""}, Origin{"200", "default", "100", "max-concurrent"}, "", "raised to the concurrency limit"},
		{map[string]string{"floor": "60"}, Origin{"60", "default", "50", "floor"}, Origin{"100", "default", "", ""}, "raised to the lowest limit", ""},
		{map[string]string{"max-concurrent": "40", "ceiling": "60"}, Origin{"40", "saved", "", ""}, Origin{"60", "saved", "", ""}, "", ""},
	} {
		_, all, err := Layers{Saved: c.saved}.Resolve()
		limit, ceiling := all["max-concurrent"], all["ceiling"]
		if err != nil || limit != c.limit || ceiling != c.ceiling || limit.Why() != c.whyLimit || ceiling.Why() != c.whyTop {
			t.Errorf("%v: limit %+v (%s), highest %+v (%s), %v", c.saved, limit, limit.Why(), ceiling, ceiling.Why(), err)
		}
	}
}

func TestSave(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	if err := Save(data, map[string]string{"retries": "3", "time-scale": "24"}); err != nil {
		t.Fatal(err)
	}
	var field *engine.FieldError
	if err := Save(data, map[string]string{"retries": "0"}); !errors.As(err, &field) || field.Field != "retries" {
		t.Errorf("retries=0: %v", err)
	}
	if err := Save(data, map[string]string{"time-scale": ""}); err != nil {
		t.Fatal(err)
	}
	saved, err := LoadSaved(data)
	if err != nil || len(saved) != 1 || saved["retries"] != "3" {
		t.Errorf("saved %v, %v", saved, err)
	}
	if err := os.WriteFile(filepath.Join(data, savedName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadSaved(data); err == nil || !strings.Contains(err.Error(), savedName) {
		t.Errorf("broken settings: %v", err)
	}
}

func TestCyclesIn(t *testing.T) {
	for _, tt := range []struct {
		hours, scale float64
		cycle        time.Duration
		want         int
	}{
		{6, 24, time.Hour, 144},
		{1, 1, time.Hour, 1},
		{0.5, 1, time.Hour, 1},
		{1, 1, 7 * time.Minute, 9},
	} {
		if got := cyclesIn(tt.hours, tt.scale, tt.cycle); got != tt.want {
			t.Errorf("%v hours at %v with cycles of %v: %d, want %d", tt.hours, tt.scale, tt.cycle, got, tt.want)
		}
	}
}
