package app

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
)

// sweepTime is the shortest time for a level. On a slow machine, no session may end within it.
const sweepTime = 100 * time.Millisecond

// smallSweep returns a sweep over two levels with few agents.
func smallSweep(t *testing.T, set map[string]string) Sweep {
	t.Helper()
	s, err := authoring.Load("shopping", set)
	if err != nil {
		t.Fatal(err)
	}
	l := Launch{Services: Services{Data: t.TempDir(), Scenario: s, Settings: engine.DefaultSettings()}, Trusted: true}
	l.Settings.Mock.Profile = "none"
	l.Host = func() engine.HostMetrics { return engine.HostMetrics{} } // on a busy machine, the sweep would skip a level
	return Sweep{
		Launch: l, Name: "shopping", Plan: calibrate.Plan{Levels: []int{1, 2}, Repeats: 1},
		Duration: sweepTime,
	}
}

// leftOver lists the files in a folder and its mock folder.
func leftOver(t *testing.T, data string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestSweepMeasuresAndKeeps runs a short sweep: the store stays unchanged, and the result is stored.
func TestSweepMeasuresAndKeeps(t *testing.T) {
	s := smallSweep(t, map[string]string{"agents": "30", "eagerness": "8"})
	reports := 0
	s.Report = func(calibrate.Progress) { reports++ }
	for range 2 {
		c, err := s.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Agents != 30 || len(c.Result.Levels) != 2 || len(c.Result.Levels[1].Samples) != 1 {
			t.Fatalf("%+v", c)
		}
		if s := c.Result.Levels[1].Samples[0]; s.Span < sweepTime || s.Ended == 0 {
			t.Errorf("level 2: got %+v", s)
		}
	}
	if reports != 8 {
		t.Errorf("%d reports", reports)
	}
	for _, name := range leftOver(t, s.Launch.Data) {
		if !strings.HasPrefix(name, calibration.ListFile) {
			t.Errorf("%s was not removed", name)
		}
	}
	all, notice, err := calibration.List(s.Launch.Data)
	if err != nil || notice != "" || len(all) != 1 {
		t.Fatalf("got %d stored, %q, %v", len(all), notice, err)
	}
	if c := all[0]; c.Scenario != "shopping" || c.Services[0] != "shop: mock none" || c.Machine.Cores == 0 || len(c.Result.Levels) != 2 {
		t.Errorf("stored %+v", c)
	}
}

// TestSweepCanceled checks that a canceled sweep leaves no files.
func TestSweepCanceled(t *testing.T) {
	s := smallSweep(t, map[string]string{"agents": "30"})
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	s.Plan.Repeats = 100
	s.Report = func(p calibrate.Progress) {
		if p.Done == 3 {
			cancel(enough)
		}
	}
	c, err := s.Run(ctx)
	if !errors.Is(err, enough) || len(c.Result.Levels) != 2 || c.Result.Levels[0].Samples == nil {
		t.Errorf("%v with %+v", err, c.Result)
	}
	if left := leftOver(t, s.Launch.Data); len(left) > 0 {
		t.Errorf("%v were not removed", left)
	}
}

func TestSweepMistakes(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Sweep)
		field  string
	}{
		{"sequential", func(s *Sweep) { s.Launch.Settings.Sequential = true }, "sequential"},
		{"more than there are agents", func(s *Sweep) { s.Plan.Levels = []int{40} }, "levels"},
		{"no time", func(s *Sweep) { s.Duration = -1 }, "duration"},
		{"another machine", func(s *Sweep) {
			s.Launch.Settings.Services = map[string]string{"shop": "https://shop.example.com"}
		}, "service shop"},
		{"no agents", func(s *Sweep) { s.Launch.Settings.Filter = "False" }, "filter"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := smallSweep(t, map[string]string{"agents": "30"})
			tt.change(&s)
			_, err := s.Run(t.Context())
			field, ok := errors.AsType[*engine.FieldError](err)
			if !ok || field.Field != tt.field {
				t.Errorf("got %v, want an error in %s", err, tt.field)
			}
			if left := leftOver(t, s.Launch.Data); len(left) > 0 {
				t.Errorf("%v were not removed", left)
			}
		})
	}
}
