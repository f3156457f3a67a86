package setup

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

func TestPace(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range []struct {
		set   engine.Settings
		cycle time.Duration
		want  string
	}{
		{engine.Settings{Length: engine.Length{Cycles: 24}}, time.Hour, "24 cycles of 1 h, as fast as possible"},
		{engine.Settings{Length: engine.Length{Cycles: 1}}, 90 * time.Minute, "1 cycle of 1 h 30 min, as fast as possible"},
		{engine.Settings{Length: engine.Length{Hours: 6}}, time.Hour, "cycles of 1 h for 6 h, as fast as possible"},
		{engine.Settings{Length: engine.Length{Cycles: 24, TimeScale: 24}}, time.Hour, "one cycle of 1 h every 2 min 30 s"},
		{engine.Settings{Length: engine.Length{Hours: 6, TimeScale: 24}}, time.Hour, "one cycle every 2 min 30 s; 144 cycles in 6 h"},
		{engine.Settings{Length: engine.Length{Cycles: 1, TimeScale: 3600}}, time.Hour, "1 cycle of 1 h, in 1 s"},
		{engine.Settings{Length: engine.Length{Cycles: 1000, TimeScale: 1e-3}}, 365 * day, "one cycle of 365 days every 365,000 days"},
		{engine.Settings{Length: engine.Length{Hours: 1e6, TimeScale: 1e9}}, time.Millisecond, "one cycle every 0 s for 41,666 days 16 h"},
	} {
		if got := pace(c.set, c.cycle); got != c.want {
			t.Errorf("%+v:\n%q, want\n%q", c.set, got, c.want)
		}
	}
}

// TestArrivals checks that a run whose agents arrive over time is not called as fast as possible.
func TestArrivals(t *testing.T) {
	for _, c := range []struct {
		set      engine.Length
		arrivals string
		want     string
	}{
		{engine.Length{Cycles: 1}, "Poisson, 20/s", "1 cycle of 1 h; arrivals: Poisson, 20/s"},
		{engine.Length{Cycles: 24, TimeScale: 24}, "evenly over 60 s", "one cycle of 1 h every 2 min 30 s; arrivals: evenly over 60 s"},
		{engine.Length{Cycles: 24}, "", "24 cycles of 1 h, as fast as possible"},
	} {
		sc := &Scenario{Agents: 300, Cycle: time.Hour, Arrivals: c.arrivals}
		set := engine.Settings{Length: c.set, Concurrency: engine.Concurrency{Limit: 50}}
		if got := scheduled(set, sc); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if got := summary(set, sc, 300); strings.Contains(got, "arrivals: ") != (c.arrivals != "") || !strings.Contains(got, c.arrivals) {
			t.Errorf("%q does not say %q", got, c.arrivals)
		}
	}
}

func TestCrowd(t *testing.T) {
	for _, c := range []struct {
		set    engine.Settings
		agents int
		want   string
	}{
		{engine.Settings{Concurrency: engine.Concurrency{Limit: 50}, Steering: engine.Steering{Floor: 1, Ceiling: 372}}, 372, "50 of 372 shoppers concurrently; the limit stays until you change it"},
		{engine.Settings{Concurrency: engine.Concurrency{Limit: 50}, Steering: engine.Steering{Floor: 5, Ceiling: 1000}}, 20, "all 20 shoppers concurrently; the limit stays until you change it"},
		{engine.Settings{Concurrency: engine.Concurrency{Limit: 50}, Steering: engine.Steering{Floor: 1, Ceiling: 372, Governor: "adaptive"}}, 372, "50 of 372 shoppers concurrently; adjusted automatically from 1 to 372"},
		{engine.Settings{Concurrency: engine.Concurrency{Limit: 50}, Steering: engine.Steering{Floor: 1, Ceiling: 50}}, 1, "1 shopper; the limit stays until you change it"},
	} {
		if got := crowd(c.set, c.agents, "shoppers"); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestSummary(t *testing.T) {
	for _, c := range []struct {
		set    engine.Settings
		agents int
		want   string
	}{
		{engine.Settings{Length: engine.Length{Cycles: 24}, Concurrency: engine.Concurrency{Limit: 50}}, 372, "372 shoppers, 24 cycles, up to 50 concurrently, 8,928 sessions"},
		{engine.Settings{Length: engine.Length{Cycles: 24}, Concurrency: engine.Concurrency{Limit: 1000}, Selection: engine.Selection{WarmUp: engine.DefaultWarmUp}}, 372, "372 shoppers, 24 cycles, up to 372 concurrently, at most 8,928 sessions"},
		{engine.Settings{Length: engine.Length{Cycles: 24}, Concurrency: engine.Concurrency{Limit: 50}, Steering: engine.Steering{Governor: "adaptive", Ceiling: 100}}, 372, "372 shoppers, 24 cycles, up to 100 concurrently, 8,928 sessions"},
		{engine.Settings{Length: engine.Length{Hours: 0.5}, Concurrency: engine.Concurrency{Limit: 50}}, 372, "372 shoppers, 30 min, up to 50 concurrently"},
		{engine.Settings{Length: engine.Length{Hours: 6, TimeScale: 24}, Concurrency: engine.Concurrency{Limit: 50}}, 372, "372 shoppers, 6 h, 144 cycles, up to 50 concurrently, at most 53,568 sessions"},
		{engine.Settings{Length: engine.Length{Cycles: 24}, Concurrency: engine.Concurrency{Limit: 50}}, 20, "20 of 372 shoppers, 24 cycles, up to 20 concurrently, 480 sessions"},
		{engine.Settings{Length: engine.Length{Cycles: 1}, Concurrency: engine.Concurrency{Limit: 50}}, 1, "1 of 372 shoppers, 1 cycle, 1 session"},
	} {
		sc := &Scenario{Agents: 372, Cycle: time.Hour, Parameters: []Parameter{{ParameterSpec: view.ParameterSpec{Name: "agents", Title: "Shoppers"}}}}
		if got := summary(c.set, sc, c.agents); got != c.want {
			t.Errorf("%+v:\n%q, want\n%q", c.set, got, c.want)
		}
	}
}

func TestTheCeilingFits(t *testing.T) {
	for _, c := range []struct{ limit, floor, ceiling, want int }{
		{50, 1, 100, 100},
		{50, 1, 20, 50}, // the start fits
		{5, 20, 10, 20}, // and the floor
	} {
		sc := &Scenario{Settings: engine.Settings{Concurrency: engine.Concurrency{Limit: c.limit}, Steering: engine.Steering{Floor: c.floor, Ceiling: c.ceiling}}}
		if got := ceiling(sc); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestCheckAddress(t *testing.T) {
	for text, good := range map[string]bool{
		"mock:shop": true, "https://staging.example.com": true, "http://127.0.0.1:8080/api": true, "postgres://app@db/app": true,
		"": false, "staging.example.com": false, "https://": false, "http://a b": false, "postgres://app:secret@db/app": false,
	} {
		if err := checkAddress(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
