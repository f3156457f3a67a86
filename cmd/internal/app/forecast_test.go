package app_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/view"
)

const stall = `title: Stall
parameters: {agents: 40, price: 3}
clock: {start: 2026-01-01T00:00:00Z, cycle: 1h, cycles: 2}
population: {count: "${params.agents}", id: "a-${agent.index}"}
services:
  shop: {kind: http, url: "mock:shop", auth: {user: "${agent.id}"}}
  model: {kind: llm, provider: mock, limits: {rate: 500}}
chain day:
  step stores: {kind: http, service: shop, get: /api/stores}
  step empty: {kind: http, service: shop, delete: /api/cart}
  step think: {kind: llm, service: model, prompt: "What next?", max_tokens: 50}
`

// forecast returns the forecast of a launch; change may be nil.
func (d *town) forecast(s *scenario.Scenario, change func(*app.Launch)) engine.Forecast {
	d.t.Helper()
	settings := engine.DefaultSettings()
	settings.Cycles, settings.Metrics, settings.Mock.Profile = s.Cycles, false, "none"
	l := app.Launch{Services: app.Services{Data: d.data, Scenario: s, Settings: settings}, Store: d.store, Cores: 4}
	if change != nil {
		change(&l)
	}
	taking, err := l.Forecaster().Workload(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	return l.Forecaster().Forecast(app.NewEarlierRuns(d.store).Find(d.t.Context(), l.Forecaster()), taking)
}

func around(e engine.Estimate, low, high float64) bool {
	return e.Known() && math.Abs(e.Low-low) < 1e-6*max(low, 1) && math.Abs(e.High-high) < 1e-6*max(high, 1)
}

// TestForecastBeforeAFirstRun checks that the forecast is based on the scenario, the profile and the prices.
func TestForecastBeforeAFirstRun(t *testing.T) {
	d := newTown(t)
	f := d.forecast(d.read(stall, nil), func(l *app.Launch) { l.Settings.Mock.Profile = "remote" })
	if !around(f.Sessions, 80, 80) || !around(f.Requests, 240, 240) || !around(f.Writes, 80, 80) || !around(f.Calls, 80, 80) {
		t.Errorf("sessions %v, requests %v, writes %v, calls %v", f.Sessions, f.Requests, f.Writes, f.Calls)
	}
	// Two requests of 100 ms, and an answer of 100 ms with 10 to 50 tokens of 10 ms.
	if f.Cycle.Low < 0.4 || f.Cycle.High > 0.9 || f.Binds != "the concurrency limit, 40" {
		t.Errorf("got a cycle of %v, limited by %s", f.Cycle, f.Binds)
	}
	if !around(f.Cost, 0, 0) || f.Run != "" || !slices.Equal(f.Writers, []string{"empty"}) {
		t.Errorf("got a cost of %v, based on run %q, written by %v", f.Cost, f.Run, f.Writers)
	}
	for _, c := range []struct {
		name, provider string
		low, high      float64
		known          bool
	}{
		{"a price", "provider: openai", 80 * (100*0.15e-6 + 10*0.6e-6), 80 * (1500*0.15e-6 + 50*0.6e-6), true},
		{"no price", "provider: openai, model: unknown-model", 0, 0, false},
		{"one's own machine", "provider: ollama", 0, 0, true},
	} {
		f := d.forecast(d.read(strings.Replace(stall, "provider: mock", c.provider, 1), nil), nil)
		if f.Cost.Known() != c.known || c.known && !around(f.Cost, c.low, c.high) {
			t.Errorf("%s: it costs %v, want %v to %v", c.name, f.Cost, c.low, c.high)
		}
	}
	// A service that is only asked for embeddings is paid at their price, and a recall step may have nothing to embed.
	recalls := strings.NewReplacer("provider: mock", "provider: openai", `{kind: llm, service: model, prompt: "What next?", max_tokens: 50}`,
		`{kind: recall, service: model, query: "What next?"}`).Replace(stall)
	if f := d.forecast(d.read(recalls, nil), nil); !around(f.Calls, 0, 80) || !around(f.Cost, 0, 80*1500*0.02e-6) {
		t.Errorf("a recall step: %v calls, %v", f.Calls, f.Cost)
	}
	slow := d.forecast(d.read(strings.Replace(stall, "rate: 500", "rate: 2", 1), nil), nil)
	if !around(slow.Cycle, 20, 20) || slow.Binds != "the rate of model, 2 calls a second" || slow.Cycle.Basis != engine.FromFile {
		t.Errorf("got a cycle of %v, limited by %s", slow.Cycle, slow.Binds)
	}
}

// TestForecastOfAShadowSample checks that calls for a share of the agents, and those of a shadow sample, are expected, and once only.
func TestForecastOfAShadowSample(t *testing.T) {
	d := newTown(t)
	for _, c := range []struct {
		keys string
		want float64
	}{
		{"share: 0.25", 2 * 10}, {"share: 0.25, shadow: 4", 2 * (10 + 0.75*4)}, {"share: 0.0, shadow: 4", 2 * 4}, {"share: 0.0, shadow: 400", 2 * 40},
	} {
		text := strings.Replace(stall, "max_tokens: 50", "otherwise: '\"nothing\"', max_tokens: 50, "+c.keys, 1)
		if f := d.forecast(d.read(text, nil), nil); !around(f.Calls, c.want, c.want) {
			t.Errorf("%s: calls %v, want %v", c.keys, f.Calls, c.want)
		}
		alone := text[:strings.Index(text, "  step stores")] + text[strings.Index(text, "  step think"):]
		if f := d.forecast(d.read(alone, nil), nil); !around(f.Calls, c.want, c.want) {
			t.Errorf("%s, without other requests: calls %v, want %v", c.keys, f.Calls, c.want)
		}
	}
}

// TestForecastFromAnEarlierRun checks that the next forecast is based on the newest similar run.
func TestForecastFromAnEarlierRun(t *testing.T) {
	d := newTown(t)
	job, err := d.launch(d.read(stall, nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	id := job.Record.ID
	record, err := d.store.Run(t.Context(), id)
	if err != nil || record.Forecast == nil || record.Forecast.Run != "" || !around(record.Forecast.Requests, 240, 240) {
		t.Fatalf("stored %+v, %v", record.Forecast, err)
	}
	totals, err := d.store.Totals(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range view.CompareForecast(&record, &totals) {
		if c.Name == "requests" && c.Difference != "as forecast" {
			t.Errorf("the requests are %+v", c)
		}
	}
	same := d.forecast(d.read(stall, nil), nil)
	if same.Run != id || same.Cycle.Basis != engine.Measured || same.Basis() != engine.Measured {
		t.Errorf("based on run %q, the cycle on %s", same.Run, same.Cycle.Basis)
	}
	if worked := totals.Peaks.Worked.Seconds() / 2; !around(same.Cycle, worked, worked) {
		t.Errorf("got a cycle of %v, measured %v", same.Cycle, worked)
	}
	u := totals.AllRequests().Usage
	if !around(same.Input, float64(u.Input), float64(u.Input)) || !around(same.Output, float64(u.Output), float64(u.Output)) {
		t.Errorf("tokens %v in, %v out, want %+v", same.Input, same.Output, u)
	}
	if double := d.forecast(d.read(stall, map[string]string{"agents": "80"}), nil); double.Run != id || !around(double.Requests, 480, 480) || double.Cycle.High < same.Cycle.High {
		t.Errorf("for twice the agents: based on %q, requests %v, cycle %v", double.Run, double.Requests, double.Cycle)
	}
	for name, f := range map[string]engine.Forecast{
		"another parameter": d.forecast(d.read(stall, map[string]string{"price": "4"}), nil),
		"another file":      d.forecast(d.read(stall+"  step last: {kind: http, service: shop, get: /api/stores}\n", nil), nil),
		"another latency":   d.forecast(d.read(stall, nil), func(l *app.Launch) { l.Settings.Mock.Profile = "local" }),
		"another service": d.forecast(d.read(stall, nil), func(l *app.Launch) {
			l.Settings.Services = map[string]string{"shop": "http://127.0.0.1:1"}
		}),
		"faults": d.forecast(d.read(stall, nil), func(l *app.Launch) {
			l.Settings.Mock.Faults = map[string]string{"server_error": "0.1"}
		}),
	} {
		if f.Run != "" {
			t.Errorf("%s: based on %s", name, f.Run)
		}
	}
}

// rare is a scenario in which one of twenty sessions sends requests.
const rare = `
title: Rare
clock: {cycle: 1h, cycles: 1}
parameters: {agents: {default: 2}}
population: {count: "${params.agents}", id: "shopper-${agent.index + 1}"}
services:
  shop: {kind: http, url: "mock:shop", auth: {user: "${agent.id}"}}
chain day:
  step stores: {kind: http, service: shop, get: /api/stores, when: agent.index % 20 == 19}
`

// TestForecastOfFewSessions checks the forecast for thousands of agents after a run with two: rare requests and the memory
// of a small run must not be extrapolated as they are.
func TestForecastOfFewSessions(t *testing.T) {
	d := newTown(t)
	run := func(agents string) engine.RunID {
		job, err := d.launch(d.read(rare, map[string]string{"agents": agents}), nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := job.Close(); err != nil {
			t.Fatal(err)
		}
		return job.Record.ID
	}
	trial := run("2")
	f := d.forecast(d.read(rare, map[string]string{"agents": "5000"}), nil)
	if f.Run != trial || f.Requests.Low > 250 || f.Requests.High < 250 || f.Cycle.High == 0 || !strings.HasPrefix(view.ForecastBasis(&f), "a guess from the 2 sessions of the run of ") {
		t.Errorf("5000 agents: got %v requests in %v, %s", f.Requests, f.Cycle, view.ForecastBasis(&f))
	}
	if f.Memory.High < 60e6 || f.Memory.High > 400e6 {
		t.Errorf("5000 agents: got %v bytes", f.Memory)
	}
	if again := d.forecast(d.read(rare, nil), nil); !around(again.Requests, 0, 0) || again.Cycle.Basis != engine.Guessed || again.Basis() == engine.Measured {
		t.Errorf("the same two agents: got %v requests in %v", again.Requests, again.Cycle)
	}
	sixty := run("60")
	f = d.forecast(d.read(rare, map[string]string{"agents": "5000"}), nil)
	if f.Run != sixty || f.Requests.Low > 250 || f.Requests.High < 250 || f.Requests.High > 2000 {
		t.Errorf("after 60 sessions, 5000 agents: got %v requests", f.Requests)
	}
	run("200")
	if f = d.forecast(d.read(rare, map[string]string{"agents": "5000"}), nil); !around(f.Requests, 250, 250) {
		t.Errorf("after 200 sessions, 5000 agents: got %v requests", f.Requests)
	}
}

// TestForecastOfActiveAgents counts the active agents. Without a number of cycles, the sessions are unknown.
func TestForecastOfActiveAgents(t *testing.T) {
	d := newTown(t)
	some := d.forecast(d.read(stall, nil), func(l *app.Launch) { l.Settings.Filter = "agent.index < 10" })
	if !around(some.Sessions, 20, 20) {
		t.Errorf("10 agents have %v sessions, want 20", some.Sessions)
	}
	warm := d.forecast(d.read(stall, nil), func(l *app.Launch) { l.Settings.WarmUp, l.Settings.WarmUpCycles = []float64{0.5, 1}, 1 })
	if n := warm.Sessions; n.Low != n.High || n.High <= 40 || n.High >= 80 {
		t.Errorf("with a warm-up of half of the agents: got %v sessions, want about 60", n)
	}
	clock := d.forecast(d.read(stall, nil), func(l *app.Launch) {
		l.Settings.Cycles, l.Settings.Hours, l.Settings.TimeScale = 0, 1, 240 // a cycle in 15 s
		l.Settings.Governor, l.Settings.Limit = engine.Manual, 40
	})
	if !around(clock.Cycles, 240, 240) || clock.Length.Low != time.Hour.Seconds() {
		t.Errorf("an hour has %v cycles of 15 s and takes %v", clock.Cycles, clock.Length)
	}
	if _, err := (app.Launch{Services: app.Services{Scenario: d.read(stall, nil), Settings: engine.Settings{Selection: engine.Selection{Agents: []string{"missing"}}}}}).Forecaster().Workload(t.Context()); err == nil {
		t.Error("a missing agent was accepted")
	}
}

// TestForecastOfKeptContent checks the size of the content that a run keeps: within the setting, measured after a run, and the reason why
// a run keeps none.
func TestForecastOfKeptContent(t *testing.T) {
	d := newTown(t)
	keep := func(most int64) func(*app.Launch) { return func(l *app.Launch) { l.Settings.KeepContent = most } }
	first := d.forecast(d.read(stall, nil), keep(200e6))
	if c := first.Content; c.Missing != "" || c.Size.Low <= 0 || c.Size.High < 10e3 || c.Size.High > 1e6 {
		t.Errorf("before a run: %+v", c)
	}
	if c := d.forecast(d.read(stall, nil), keep(5000)).Content; c.Size.High != 5000 {
		t.Errorf("with a limit of 5 kB: %+v", c)
	}
	if c := d.forecast(d.read(stall, nil), keep(0)).Content; c.Size.Known() || !strings.Contains(c.Missing, "Content kept is 0") {
		t.Errorf("none: %+v", c)
	}
	secret := strings.Replace(stall, "get: /api/stores}", "get: /api/stores, private: true}", 1)
	if c := d.forecast(d.read(secret, nil), keep(200e6)).Content; c.Size.Known() || !strings.Contains(c.Missing, "step stores are private") {
		t.Errorf("private answers: %+v", c)
	}
	// A run of 200 sessions is the basis for one of ten times as many.
	job, err := d.launch(d.read(stall, map[string]string{"agents": "100"}), keep(200e6))
	if err != nil {
		t.Fatal(err)
	}
	if err := job.Close(); err != nil {
		t.Fatal(err)
	}
	kept, err := d.store.ContentSize(t.Context(), job.Record.ID)
	if err != nil || kept == 0 {
		t.Fatalf("kept %d bytes, %v", kept, err)
	}
	more := d.forecast(d.read(stall, map[string]string{"agents": "1000"}), keep(200e6)).Content
	if want := float64(kept) * 10; more.Size.High < 0.9*want || more.Size.Low > 1.1*want {
		t.Errorf("for ten times the sessions: %+v, want about %.0f", more, want)
	}
}
