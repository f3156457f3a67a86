package desk

import (
	"maps"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// TestTheTourTakesItsTime runs a cycle of the tour's run with all shoppers in flight, which is the fastest limit. It must take the cycle's
// share of two minutes.
func TestTheTourTakesItsTime(t *testing.T) {
	const least = 2 * time.Minute
	d := open(t, t.TempDir())
	s, err := setupDesk{d}.Scenario(t.Context(), setup.TourScenario, maps.Clone(setup.TourParameters))
	if err != nil {
		t.Fatal(err)
	}
	share := least / time.Duration(s.Settings.Cycles)
	set := s.Settings
	set.Cycles, set.Limit, set.Ceiling, set.Governor, set.Mock.Profile = 1, s.Agents, s.Agents, engine.Manual, "none"
	if err := (setupDesk{d}).Launch(t.Context(), setup.Order{Scenario: setup.TourScenario, Given: setup.TourParameters, Settings: set}, nil); err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	if now := (liveDesk{d}).Job().Snapshot(); now.Elapsed < share || now.Ended != int64(s.Agents) {
		t.Errorf("a cycle of %d sessions took %v, want at least %v, a share of %d cycles in %v", now.Ended, now.Elapsed, share, s.Settings.Cycles, least)
	}
}

// TestForecastOfTheTour checks that the forecast before the first run is a range that a run of three to four minutes is in, and not much
// more.
func TestForecastOfTheTour(t *testing.T) {
	d := open(t, t.TempDir())
	s, err := setupDesk{d}.Scenario(t.Context(), setup.TourScenario, maps.Clone(setup.TourParameters))
	if err != nil {
		t.Fatal(err)
	}
	f, err := setupDesk{d}.Forecast(t.Context(), setup.Order{Scenario: setup.TourScenario, Given: setup.TourParameters, Settings: s.Settings})
	if err != nil {
		t.Fatal(err)
	}
	if low, high := f.Length.Low, f.Length.High; low < 60 || low > 165 || high < 240 || high > 450 {
		t.Errorf("forecast %.0f s to %.0f s, want 60–165 s to 240–450 s", low, high)
	}
	if f.Requests.High > 80_000 {
		t.Errorf("up to %.0f requests", f.Requests.High)
	}
}
