package view

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// foreseen is a forecast of 372 shoppers that call a model.
func foreseen() *engine.Forecast {
	return &engine.Forecast{
		Sessions: engine.Exactly(744, engine.Measured), Cycles: engine.Exactly(2, engine.Measured), Cycle: engine.Between(8, 12, engine.FromProfile), Binds: "the limit",
		Length: engine.Between(16, 24, engine.FromProfile), Requests: engine.Exactly(11_160, engine.FromFile), Writes: engine.Exactly(3720, engine.FromFile),
		RequestRate: engine.Between(27_900, 41_850, engine.FromProfile), WriteRate: engine.Between(9300, 9301, engine.FromProfile), Connections: engine.Exactly(55.8, engine.Guessed),
		Calls: engine.Exactly(744, engine.FromFile), Input: engine.Between(74_400, 744_000, engine.Guessed), Output: engine.Exactly(37_200, engine.Guessed), Cost: engine.Exactly(0.12, engine.Guessed),
		Memory: engine.Exactly(1.2e9, engine.Measured), Disk: engine.Exactly(5e6, engine.Guessed),
		Services: []engine.ServiceForecast{{Name: "shop", RequestRate: engine.Exactly(27_000, engine.FromProfile), WriteRate: engine.Exactly(9300, engine.FromProfile)}},
		Writers:  []string{"buy", "fill.add"}, Server: 20, ServerMax: 60, Run: "run-1", At: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
		Advice: []string{"Take fewer."},
	}
}

func TestForecastInWords(t *testing.T) {
	f := foreseen()
	want := map[string]string{
		"cycle": "8–12 s", "whole run": "16–24 s", "sessions": "744", "requests": "11,200", "requests/min": "27,900–41,900",
		"writes/min": "9,301", "DB connections": "56 of 40 left", "model calls": "744", "tokens in": "74,400–744,000",
		"tokens out": "37,200", "cost": "$0.1200", "memory": "1.2 GB", "journal": "5 MB",
	}
	for _, line := range ForecastLines(f) {
		if line.Text != want[line.Name] {
			t.Errorf("%s: got %q, want %q", line.Name, line.Text, want[line.Name])
		}
		delete(want, line.Name)
	}
	if len(want) > 0 {
		t.Errorf("there is no line of %v", want)
	}
	if got, want := ForecastSummary(f), "cycle about 8–12 s, 27,900–41,900 requests/min, $0.1200"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	f.Server = -1
	if text := ForecastLines(f)[6].Text; text != "56 of 60" {
		t.Errorf("a server with an unknown number of clients: %q", text)
	}
	quiet := &engine.Forecast{Cycle: engine.Exactly(90_000, engine.Measured), Length: engine.Exactly(5e6, engine.Measured), Requests: engine.Exactly(0, engine.FromFile), Writes: engine.Exactly(0, engine.FromFile), Calls: engine.Exactly(0, engine.FromFile)}
	for _, line := range ForecastLines(quiet) {
		switch line.Name {
		case "cycle":
			if line.Text != "25 h" {
				t.Errorf("25 hours are %q", line.Text)
			}
		case "whole run":
			if line.Text != "58 days" {
				t.Errorf("58 days are %q", line.Text)
			}
		case "sessions", "memory", "journal":
			if line.Text != "not known" {
				t.Errorf("%s is %q, want not known", line.Name, line.Text)
			}
		default:
			t.Errorf("a run without requests has the line %v", line)
		}
	}
}

// TestForecastBasis checks the basis of a forecast: the worst of the figures that depend on time and money.
func TestForecastBasis(t *testing.T) {
	for _, c := range []struct {
		change func(f *engine.Forecast)
		want   engine.Basis
		says   string
	}{
		{func(f *engine.Forecast) {}, engine.Guessed, "in part a guess"},
		{func(f *engine.Forecast) { f.Cost.Basis = engine.Measured }, engine.FromProfile, "in part a guess, from the run of 2026-0"},
		{func(f *engine.Forecast) { f.Calls = engine.Exactly(0, engine.FromFile); f.Run = "" }, engine.FromProfile, "latencies of the mock"},
		{func(f *engine.Forecast) {
			f.Cost.Basis, f.Cycle.Basis, f.RequestRate.Basis = engine.Measured, engine.Measured, engine.Measured
		}, engine.Measured, "measured in the run of 2026-0"},
		{func(f *engine.Forecast) { f.Cycle, f.Run = engine.Estimate{}, "" }, engine.NotKnown, "not everything is known"},
	} {
		f := foreseen()
		c.change(f)
		if f.Basis() != c.want || !strings.Contains(ForecastBasis(f), c.says) {
			t.Errorf("got %s: %q, want %s: %q", f.Basis(), ForecastBasis(f), c.want, c.says)
		}
	}
}

// facts are the totals of a run of foreseen.
func facts() *engine.Totals {
	var r engine.SessionRow
	for _, path := range []string{"look", "buy", "fill[0].add", "fill[1].add"} {
		r.Steps = append(r.Steps, engine.StepRecord{Path: path, Attempts: 1000})
	}
	t := new(engine.Totals)
	t.Add(&r)
	t.Requests, t.Outcomes[engine.Unfinished] = 11_000, 0
	t.Outcomes[engine.OK] = 744
	t.Usage = engine.Usage{Calls: 744, Input: 100_000, Output: 60_000, Cost: 120_000_000}
	t.Peaks = engine.Peaks{Memory: 1_300_000_000, ServerConnections: 70, Elapsed: 40 * time.Second, Worked: 20 * time.Second}
	return t
}

func TestCompareForecast(t *testing.T) {
	r := &engine.RunRecord{Forecast: foreseen(), Ending: engine.EndFinished, Cycle: 2}
	want := []ForecastFact{
		{"cycle", "8–12 s", "10 s", "within", false},
		{"whole run", "16–24 s", "40 s", "+67%", true},
		{"sessions", "744", "744", "as forecast", false},
		{"requests", "11,200", "11,000", "-1%", false},
		{"requests/min", "27,900–41,900", "33,000", "within", false},
		{"writes/min", "9,301", "9,000", "-3%", false},
		{"DB connections", "56 of 40 left", "50", "-10%", false},
		{"model calls", "744", "744", "as forecast", false},
		{"tokens in", "74,400–744,000", "100,000", "within", false},
		{"tokens out", "37,200", "60,000", "+61%", true},
		{"cost", "$0.1200", "$0.1200", "as forecast", false},
		{"memory", "1.2 GB", "1.3 GB", "+8%", false},
	}
	if got := CompareForecast(r, facts()); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	// The cycles of the parent run used to count as the fork's own, which made each cycle seem short.
	fork := *r
	fork.ForkCycle, fork.Cycle = 30, 32
	if got := CompareForecast(&fork, facts()); !reflect.DeepEqual(got, want) {
		t.Errorf("a fork: got  %v\nwant %v", got, want)
	}
	for _, longer := range []func(s *engine.Settings){func(s *engine.Settings) { s.Cycles = 3 }, func(s *engine.Settings) { s.Hours = 0.1 }} {
		r.Settings = engine.Settings{}
		longer(&r.Settings)
		for i, c := range CompareForecast(r, facts()) {
			if w := want[i].Difference; c.Difference != w && (c.Difference != "run was extended" || c.Off) || c.Name == "sessions" && c.Difference == w {
				t.Errorf("%+v: %s of a run that was extended is %q", r.Settings, c.Name, c.Difference)
			}
		}
	}
	r.Settings, r.Ending = engine.Settings{}, engine.EndStopped
	for _, c := range CompareForecast(r, facts()) {
		whole := c.Name == "requests" || c.Name == "whole run" || c.Name == "cost"
		if whole && c.Difference != "" {
			t.Errorf("%s of an unfinished run is compared: %v", c.Name, c)
		}
	}
	for _, c := range CompareForecast(r, &engine.Totals{Peaks: engine.Peaks{Worked: time.Second}}) {
		if (c.Name == "requests/min" || c.Name == "writes/min") && c.Fact != "" {
			t.Errorf("%s of a run without ended sessions: %v", c.Name, c)
		}
	}
	r.Forecast = nil
	if got := CompareForecast(r, facts()); got != nil {
		t.Errorf("a run without a forecast has %v", got)
	}
}

func TestDifference(t *testing.T) {
	for _, c := range []struct {
		e    engine.Estimate
		fact float64
		want string
		off  bool
	}{
		{engine.Exactly(0, engine.Guessed), 0, "as forecast", false},
		{engine.Exactly(0, engine.Guessed), 3, "more", true},
		{engine.Exactly(100, engine.Guessed), 124, "+24%", false},
		{engine.Exactly(100, engine.Guessed), 126, "+26%", true},
		{engine.Exactly(100, engine.Guessed), 2000, "20 times", true},
		{engine.Between(50, 100, engine.Guessed), 40, "-20%", false},
		{engine.Between(50, 100, engine.Guessed), 100.2, "as forecast", false},
		{engine.Between(40, 600, engine.Guessed), 20, "within", false}, // shown as up to 600
	} {
		if got, off := difference(c.e, c.fact); got != c.want || off != c.off {
			t.Errorf("%v of %v: got %q, %v, want %q, %v", c.fact, c.e, got, off, c.want, c.off)
		}
	}
}

// TestFiguresInWords checks how figures of any size are formatted.
func TestFiguresInWords(t *testing.T) {
	for _, c := range []struct {
		show func(float64) string
		v    float64
		want string
	}{
		{showSeconds, 0, "0 s"},
		{showSeconds, 0.0042, "4.2 ms"},
		{showSeconds, 12.4, "12 s"},
		{showSeconds, 599, "9 min 59 s"},
		{showSeconds, 629, "10 min"},
		{showSeconds, 7260, "2 h 1 min"},
		{showSeconds, 172_800, "2 days"},
		{showSeconds, 1e30, "4,611,686,018,427,387,904 days"},
		{showCount, 0.4, "0"},
		{showCount, 9999, "9,999"},
		{showCount, 12_345, "12,300"},
		{showCount, 999_999, "1,000,000"},
		{showCount, math.MaxFloat64, "1,000,000,000,000,000,000"},
		{showConnections, 46.5, "47"},
		{showConnections, 56, "56"},
		{showConnections, 56.0000000000001, "56"},
		{showBytes, 1.5e9, "1.5 GB"},
		{showDollars, 0, "$0"},
		{showDollars, 12.345, "$12.35"},
		{showDollars, 1e12, "$1,000,000,000.00"},
	} {
		if got := c.show(c.v); got != c.want {
			t.Errorf("%v: got %q, want %q", c.v, got, c.want)
		}
	}
	for _, c := range []struct {
		e    engine.Estimate
		want string
	}{
		{engine.Estimate{}, "not known"},
		{engine.Exactly(5, engine.Guessed), "5"},
		{engine.Between(91, 100, engine.Guessed), "96"},
		{engine.Between(80, 100, engine.Guessed), "80–100"},
		{engine.Between(0, 100, engine.Guessed), "up to 100"},
		{engine.Between(10, 100, engine.Guessed), "10–100"},
		{engine.Between(9, 100, engine.Guessed), "up to 100"},
		{engine.Between(0.1, 0.2, engine.Guessed), "0"},
	} {
		if got := estimateText(c.e, showCount); got != c.want {
			t.Errorf("%v: got %q, want %q", c.e, got, c.want)
		}
	}
}

func TestBetween(t *testing.T) {
	for _, c := range []struct{ low, high, want string }{
		{"8 s", "12 s", "8–12 s"}, {"8 s", "2 min", "8 s to 2 min"}, {"1 min 43 s", "6 min 43 s", "1 min 43 s to 6 min 43 s"}, {"3", "5", "3–5"},
	} {
		if got := between(c.low, c.high); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
