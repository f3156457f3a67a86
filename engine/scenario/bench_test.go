package scenario

import (
	"fmt"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/run"
)

// BenchmarkSession measures the cost per session of a scenario's empty and small chains, including the engine. Chains
// that remember run for ten cycles.
func BenchmarkSession(b *testing.B) {
	const head = `
population: {count: 1, attributes: {x: '${uniform(0, 1)}', y: '${uniform(0, 1)}'}}
functions: |
    def start(n):
        return {"n": n, "items": [{"id": i, "name": "item number %d of many" % i, "price": i * 1.5} for i in range(48)]}
    def next(state):
        return {"n": state.n + 1, "items": state["items"]} if state else start(0)
    def choose(agent):
        left, taken = 100.0, []
        for i in range(10):
            price = (agent.index + i * 7) % 23 + 0.5
            if price > left:
                continue
            if price < 15:
                taken.append({"id": i, "price": price})
                left -= price
        return taken
chain c:
    step a: `
	for _, bb := range []struct {
		name, steps string
		cycles      int
	}{
		{"stop", "{kind: stop}", 1},
		{"python", "{kind: python, call: agent.index + 1}", 1},
		{"attributes", "{kind: python, call: agent.x + agent.y}", 1},
		{"function", "{kind: python, call: choose(agent)}", 1},
		{"texts", "{kind: emit, event: e, data: {text: 'You are ${agent.id}, on day ${now.weekday}', n: '${agent.index + 1}'}}", 1},
		{"if", "{kind: if, condition: agent.index % 2 == 0, then: {step b: {kind: python, call: 1}}, else: {step c: {kind: python, call: 2}}}", 1},
		{"diamond", "{kind: python, call: agent.index}\n    step b: {kind: python, call: steps.a, parallel: true}\n    " +
			"step c: {kind: python, call: steps.a, parallel: true}\n    step d: {kind: python, call: steps.b + steps.c}", 1},
		{"memory of 3 KB", "{kind: python, call: next(agent.memory.state)}\n    step b: {kind: remember, set: {state: '${steps.a}'}}", 10},
	} {
		b.Run(bb.name, func(b *testing.B) {
			s, err := read(head+bb.steps, nil, nil)
			if err != nil {
				b.Fatal(err)
			}
			settings := engine.DefaultSettings()
			settings.Metrics, settings.CheckpointEvery, settings.Cycles = false, 0, bb.cycles
			b.ReportAllocs()
			b.ResetTimer()
			agents := (b.N + bb.cycles - 1) / bb.cycles
			run, err := run.Start(b.Context(), run.Config{ID: "run", Program: s.Program(1), Agents: agents, Clock: s.Clock, Settings: settings})
			if err != nil {
				b.Fatal(err)
			}
			if r := run.Wait(); r.Totals.Ended() != int64(agents*bb.cycles) || r.Totals.Outcomes[engine.Failed] > 0 {
				b.Fatalf("sessions ended as %v", r.Totals.Outcomes)
			}
		})
	}
}

// BenchmarkShopping measures a day of shoppers against the mock on the same machine, with a journal in memory and
// without one.
func BenchmarkShopping(b *testing.B) {
	for _, bb := range []struct {
		name    string
		journal func() engine.Journal
	}{
		{"discard", func() engine.Journal { return nil }},
		{"journal", func() engine.Journal { return &enginetest.Journal{} }},
	} {
		b.Run(bb.name, func(b *testing.B) {
			var sessions, requests, journeys int64
			for b.Loop() {
				r, _ := day{set: map[string]string{"eagerness": "8"}, journal: bb.journal(), change: func(s *engine.Settings) { s.Cycles = 12 }}.run(b)
				sessions += r.Totals.Ended()
				requests += r.Totals.Requests
				journeys += r.Totals.Outcomes[engine.OK]
			}
			b.ReportMetric(float64(sessions)/b.Elapsed().Seconds(), "sessions/s")
			b.ReportMetric(float64(requests)/b.Elapsed().Seconds(), "requests/s")
			b.ReportMetric(float64(journeys)/b.Elapsed().Seconds(), "journeys/s")
		})
	}
}

// BenchmarkPeople measures reading a population file of a million rows and six columns, and reading one attribute.
func BenchmarkPeople(b *testing.B) {
	const rows = 1_000_000
	csvText, jsonText := []byte("id,name,age,budget,segment,city\n"), []byte(nil)
	for i := range rows {
		segment, budget := "abc"[i%3:i%3+1], float64(i%99991)/7
		csvText = fmt.Appendf(csvText, "p%07d,Person Number %d,%d,%.2f,%s,city %d\n", i, i, 18+i%70, budget, segment, i%500)
		jsonText = fmt.Appendf(jsonText, "{\"id\":\"p%07d\",\"name\":\"Person Number %d\",\"age\":%d,\"budget\":%.2f,\"segment\":%q,\"city\":\"city %d\"}\n",
			i, i, 18+i%70, budget, segment, i%500)
	}
	for file, text := range map[string][]byte{"people.csv": csvText, "people.jsonl": jsonText} {
		var s *Scenario
		b.Run("read "+file, func(b *testing.B) {
			folder := fstest.MapFS{"s.yaml": {Data: []byte(minimal("population: {from: " + file + "}"))}, file: {Data: text}}
			b.SetBytes(int64(len(text)))
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			for b.Loop() {
				var err error
				if s, err = Read("s.yaml", FS(folder), nil); err != nil {
					b.Fatal(err)
				}
			}
			runtime.GC()
			runtime.ReadMemStats(&after)
			b.ReportMetric((float64(after.HeapAlloc)-float64(before.HeapAlloc))/rows, "heap-B/row")
		})
		for _, field := range []string{"age", "budget", "name"} {
			b.Run(field+" of "+file, func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					a := agent{p: &s.population, index: i % rows}
					if _, err := a.Field(field); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
