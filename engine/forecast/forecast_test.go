package forecast

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

func exactly(v float64) engine.Estimate { return engine.Exactly(v, engine.FromFile) }

// shop returns a service whose calls take 300 ms; writes of them are writes.
func shop(calls, writes float64) Service {
	return Service{
		Name: "shop", Calls: exactly(calls), Writes: exactly(writes), Latency: exactly(0.3), WriteLatency: exactly(0.3),
		Input: exactly(0), Output: exactly(0), Cost: exactly(0),
	}
}

func session(services ...Service) Session {
	return Session{CPU: exactly(0), Disk: exactly(100), Thinks: exactly(0), Services: services}
}

var anywhere = Machine{Cores: 2, Database: engine.Connections{Own: -1, Server: -1, Max: -1}}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b), 1) }

func want(t *testing.T, what string, got engine.Estimate, low, high float64) {
	t.Helper()
	if !near(got.Low, low) || !near(got.High, high) {
		t.Errorf("%s: got %v to %v, want %v to %v", what, got.Low, got.High, low, high)
	}
}

// TestWorkedExample checks an example: 372 agents write 25 times a minute, 300 ms each, so that a connection can take
// 200 writes a minute. They need 46.5 connections, and 56 with 20% spare.
func TestWorkedExample(t *testing.T) {
	s := shop(25, 25)
	s.Rate = 372 * 25 / 60.0 // a cycle takes a minute
	f := Make(Order{Agents: 372, Cycles: 1, Limit: 372}, session(s), anywhere)
	want(t, "cycle", f.Cycle, 60, 60)
	want(t, "writes a minute", f.WriteRate, 9300, 9300)
	want(t, "connections", f.Connections, 55.8, 55.8)
	want(t, "busy connections", f.Connections.Scale(1/Spare), 46.5, 46.5)
	if needed := math.Ceil(f.Connections.High); needed != 56 {
		t.Errorf("%v connections are needed, want 56", needed)
	}
	if want := "the rate of shop, 155 calls a second"; f.Binds != want {
		t.Errorf("got %q, want %q", f.Binds, want)
	}
	for _, line := range view.ForecastLines(&f) {
		if line.Name == "db connections" && line.Text != "56" {
			t.Errorf("the line is %q, want 56", line.Text)
		}
	}
}

// TestBottlenecks checks each bound as the longest one.
func TestBottlenecks(t *testing.T) {
	paced, placed, model := shop(10, 0), shop(10, 0), shop(2, 0)
	paced.Rate, paced.MaxRate = 5, 20
	placed.Bound = 4
	model.Name, model.Model, model.Latency = "model", true, exactly(3)
	busy := session(shop(1, 0))
	busy.CPU = engine.Between(0.5, 1, engine.Guessed)
	calling := session(shop(10, 0))
	calling.Services[0].CPU, calling.Services[0].Latency = exactly(0.1), exactly(0)
	thinking := session()
	thinking.Thinks = exactly(2)
	for _, c := range []struct {
		name      string
		order     Order
		session   Session
		low, high float64
		binds     string
	}{
		{"the limit, in full waves and without", Order{Agents: 372, Limit: 50}, thinking, 14.88, 16, "the concurrency limit, 50"},
		{"a limit above all agents", Order{Agents: 10, Limit: 50}, thinking, 2, 2, "the concurrency limit, 10"},
		{"a limit that a governor moves", Order{Agents: 400, Limit: 50, Ceiling: 100}, thinking, 8, 16, "the concurrency limit, 50 to 100"},
		{"a ceiling above all agents", Order{Agents: 80, Limit: 40, Ceiling: 1000}, thinking, 2, 4, "the concurrency limit, 40 to 80"},
		{"the rate of a service", Order{Agents: 100, Limit: 100}, session(paced), 50, 200, "the rate of shop, 5 to 20 calls a second"},
		{"the slots of a service", Order{Agents: 100, Limit: 100}, session(placed), 75, 75, "the 4 concurrent calls of shop"},
		{"the slots of all models", Order{Agents: 100, Limit: 100, LLMCalls: 10}, session(model), 60, 60, "the 10 concurrent model calls"},
		{"the processor, for calls", Order{Agents: 100, Limit: 100}, calling, 50, 50, "the processor, of 2 cores"},
		{"the processor", Order{Agents: 100, Limit: 100}, busy, 25, 50, "the processor, of 2 cores"},
	} {
		c.order.Cycles = 1
		f := Make(c.order, c.session, anywhere)
		want(t, c.name, f.Cycle, c.low, c.high)
		if f.Binds != c.binds {
			t.Errorf("%s: bound by %q, want %q", c.name, f.Binds, c.binds)
		}
	}
}

// TestSpan checks the length of runs that end by cycles or by the clock, with a schedule and without.
func TestSpan(t *testing.T) {
	thinking := session(shop(1, 0))
	thinking.Thinks = exactly(1.7) // 2 s with the call
	for _, c := range []struct {
		name                     string
		order                    Order
		lengthLow, lengthHigh    float64
		cyclesLow, cyclesHigh    float64
		requestsLow, requestHigh float64
	}{
		{"as fast as possible", Order{Cycles: 10}, 20, 20, 10, 10, 1000, 1000},
		{"on a schedule", Order{Cycles: 10, Every: 150 * time.Second}, 1352, 1352, 10, 10, 1000, 1000},
		{"behind its schedule", Order{Cycles: 10, Every: time.Second}, 20, 20, 10, 10, 1000, 1000},
		{"half warm", Order{Cycles: 10, Sessions: 500}, 10, 10, 10, 10, 500, 500},
		{"by the clock", Order{Wall: time.Minute}, 60, 62, 30, 30, 3000, 3000},
		{"by the clock, on a schedule", Order{Wall: time.Hour, Every: 150 * time.Second}, 3600, 3602, 24, 24, 2400, 2400},
	} {
		c.order.Agents, c.order.Limit = 100, 100
		f := Make(c.order, thinking, anywhere)
		want(t, c.name+": length", f.Length, c.lengthLow, c.lengthHigh)
		want(t, c.name+": cycles", f.Cycles, c.cyclesLow, c.cyclesHigh)
		want(t, c.name+": requests", f.Requests, c.requestsLow, c.requestHigh)
	}
}

// TestModels checks the totals of model calls of two services.
func TestModels(t *testing.T) {
	model := func(name string, calls engine.Estimate, cost engine.Estimate) Service {
		return Service{
			Name: name, Model: true, Calls: calls, Writes: exactly(0), Latency: exactly(1), WriteLatency: exactly(1),
			Input: engine.Between(100, 500, engine.Guessed), Output: exactly(50), Cost: cost,
		}
	}
	order := Order{Agents: 10, Cycles: 5, Limit: 10}
	f := Make(order, session(shop(3, 0), model("a", exactly(2), exactly(0.001)), model("b", engine.Between(0, 1, engine.FromFile), exactly(0.01))), anywhere)
	want(t, "calls", f.Calls, 100, 150)
	want(t, "tokens in", f.Input, 10_000, 75_000)
	want(t, "tokens out", f.Output, 5000, 7500)
	want(t, "cost", f.Cost, 0.1, 0.6)
	want(t, "requests", f.Requests, 250, 300)
	if f.Input.Basis != engine.Guessed || f.Output.Basis != engine.FromFile {
		t.Errorf("the bases of tokens are %s and %s, want a guess and the file", f.Input.Basis, f.Output.Basis)
	}
	f = Make(order, session(model("a", exactly(2), engine.Estimate{})), anywhere)
	if f.Cost.Known() {
		t.Errorf("an unknown price makes a cost of %v", f.Cost)
	}
	f = Make(order, session(model("a", exactly(0), engine.Estimate{})), anywhere)
	if want(t, "cost of what is not called", f.Cost, 0, 0); !f.Cost.Known() {
		t.Error("a service without calls makes the cost unknown")
	}
}

// TestMeasuredCyclesNeedNoBound checks that a measured cycle keeps its length.
func TestMeasuredCyclesNeedNoBound(t *testing.T) {
	s := session(shop(10, 5))
	s.Worked = engine.Exactly(0.05, engine.Measured)
	f := Make(Order{Agents: 200, Cycles: 3, Limit: 10}, s, anywhere)
	want(t, "cycle", f.Cycle, 10, 10)
	want(t, "requests a minute", f.RequestRate, 12_000, 12_000)
	want(t, "length", f.Length, 30, 30)
	if f.Cycle.Basis != engine.Measured {
		t.Errorf("the basis of the cycle is %s, want measured", f.Cycle.Basis)
	}
}

// TestOneLongSession checks that the forecast accounts for a few sessions that take much longer than the mean.
func TestOneLongSession(t *testing.T) {
	s := session()
	s.Time, s.Longest = engine.Exactly(0.01, engine.Measured), engine.Exactly(3, engine.Measured)
	f := Make(Order{Agents: 400, Cycles: 1, Limit: 4}, s, anywhere) // 1 s on average
	want(t, "cycle", f.Cycle, 3, 3.25)
	f = Make(Order{Agents: 4000, Cycles: 1, Limit: 4}, s, anywhere)
	want(t, "cycle of many", f.Cycle, 10, 12.25)
	f = Make(Order{Agents: 400, Cycles: 1, Limit: 1}, s, anywhere)
	want(t, "one after the other", f.Cycle, 4, 4)
}

// TestBasisOfTheLongestBound checks that a bound that cannot be the longest does not make the cycle a guess.
func TestBasisOfTheLongestBound(t *testing.T) {
	paced := shop(10, 0)
	paced.Rate = 1
	s := session(paced)
	s.CPU = engine.Between(1e-6, 1e-3, engine.Guessed)
	s.Time = engine.Exactly(1, engine.Measured)
	f := Make(Order{Agents: 100, Cycles: 1, Limit: 10}, s, anywhere)
	if f.Cycle.Basis != engine.FromFile {
		t.Errorf("the basis of the cycle is %s, want the rate of the file", f.Cycle.Basis)
	}
	s.CPU = engine.Between(1, 30, engine.Guessed)
	f = Make(Order{Agents: 100, Cycles: 1, Limit: 10}, s, anywhere)
	if f.Cycle.Basis != engine.Guessed {
		t.Errorf("the basis of the cycle is %s, want a guess", f.Cycle.Basis)
	}
	s.Services[0].Calls = engine.Estimate{}
	if f = Make(Order{Agents: 100, Cycles: 1, Limit: 10}, s, anywhere); f.Cycle.Known() || f.RequestRate.Known() || f.Requests.Known() {
		t.Errorf("calls are unknown, but the cycle is %v, requests %v", f.Cycle, f.Requests)
	}
}

func TestMemory(t *testing.T) {
	order := Order{Agents: 1000, Cycles: 1, Limit: 50, Ceiling: 200}
	f := Make(order, session(), anywhere)
	want(t, "guessed", f.Memory, baseLow+1000*agentLow+50*flightLow, baseHigh+1000*agentHigh+200*flightHigh)
	m := anywhere
	m.Memory = engine.Exactly(1e9, engine.Measured)
	f = Make(order, session(), m)
	want(t, "measured", f.Memory, 1e9, 1e9)
}

// TestGrownMemory checks that the memory of the process itself does not grow with the agents of a small run, but that
// the memory of many agents does.
func TestGrownMemory(t *testing.T) {
	for _, c := range []struct {
		name              string
		peak, was, agents float64
		low, high         float64
	}{
		{"as many", 308e6, 372, 372, 308e6, 308e6},
		{"fewer", 308e6, 372, 279, 231e6, 308e6},
		{"far fewer", 308e6, 372, 1, 154e6, 308e6},
		{"a small run, made large", 308e6, 400, 100_400, 308e6, 308e6 + 100_000*agentHigh},
		{"agents that take much", 3.6e9, 10_000, 100_000, 3.6e9, 3.6e9 + 90_000*300e3},
	} {
		want(t, c.name, Grown(c.peak, c.was, c.agents), c.low, c.high)
	}
}

// TestWithoutAgents checks forecasts of runs without agents and without requests.
func TestWithoutAgents(t *testing.T) {
	f := Make(Order{Cycles: 3, Limit: 50}, session(shop(2, 1)), anywhere)
	want(t, "cycle", f.Cycle, 0, 0)
	want(t, "requests a minute", f.RequestRate, 0, 0)
	want(t, "length", f.Length, 0, 0)
	f = Make(Order{Agents: 5, Cycles: 3, Limit: 50}, session(), anywhere)
	want(t, "requests", f.Requests, 0, 0)
	for _, line := range view.ForecastLines(&f) {
		if strings.Contains(line.Name, "requests") || strings.Contains(line.Name, "model") {
			t.Errorf("a run without requests has a line %v", line)
		}
	}
}

// TestBounds draws random orders, and checks that figures are ordered and finite, that a larger limit never makes
// cycles longer, and that more agents never make them shorter.
func TestBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		estimate := func(name string, most float64) engine.Estimate {
			return engine.Between(rapid.Float64Range(0, most).Draw(t, name), rapid.Float64Range(0, most).Draw(t, name+" too"), engine.Guessed)
		}
		var services []Service
		for range rapid.IntRange(0, 3).Draw(t, "services") {
			s := Service{
				Name: "s", Model: rapid.Bool().Draw(t, "model"), Calls: estimate("calls", 20), Latency: estimate("latency", 5),
				WriteLatency: estimate("write latency", 5), Bound: rapid.IntRange(0, 50).Draw(t, "bound"),
				Rate: float64(rapid.IntRange(0, 50).Draw(t, "rate")), MaxRate: float64(rapid.IntRange(0, 100).Draw(t, "most")),
				Input: estimate("in", 1000), Output: estimate("out", 1000), Cost: estimate("cost", 0.1),
			}
			s.Writes = s.Calls.Scale(rapid.Float64Range(0, 1).Draw(t, "writes"))
			services = append(services, s)
		}
		s := session(services...)
		s.CPU = estimate("cpu", 0.01).Plus(exactly(1e-6))
		o := Order{
			Agents: rapid.IntRange(1, 10_000).Draw(t, "agents"), Cycles: rapid.IntRange(1, 100).Draw(t, "cycles"),
			Limit: rapid.IntRange(1, 500).Draw(t, "limit"), Ceiling: rapid.IntRange(0, 1000).Draw(t, "ceiling"), LLMCalls: rapid.IntRange(0, 50).Draw(t, "models"),
			Every: time.Duration(rapid.IntRange(0, 100).Draw(t, "every")) * time.Second, Scale: 24,
		}
		f := Make(o, s, anywhere)
		for name, e := range map[string]engine.Estimate{
			"cycle": f.Cycle, "length": f.Length, "requests": f.Requests, "requests a minute": f.RequestRate, "writes a minute": f.WriteRate,
			"connections": f.Connections, "cost": f.Cost, "memory": f.Memory, "disk": f.Disk, "sessions": f.Sessions,
		} {
			if !e.Known() || !(e.Low >= 0) || !(e.High >= e.Low) || math.IsInf(e.High, 0) {
				t.Fatalf("%s is %v", name, e)
			}
		}
		if !(f.WriteRate.High <= f.RequestRate.High*(1+1e-9)) {
			t.Fatalf("%v writes of %v requests", f.WriteRate, f.RequestRate)
		}
		wider, more := o, o
		wider.Limit *= 2
		more.Agents *= 2
		if w := Make(wider, s, anywhere).Cycle; w.Low > f.Cycle.Low*(1+1e-9) || w.High > f.Cycle.High*(1+1e-9) {
			t.Fatalf("a cycle of %v takes %v at twice the limit", f.Cycle, w)
		}
		if m := Make(more, s, anywhere).Cycle; m.Low < f.Cycle.Low*(1-1e-9) || m.High < f.Cycle.High*(1-1e-9) {
			t.Fatalf("a cycle of %v takes %v with twice the agents", f.Cycle, m)
		}
	})
}

// TestArrivals checks that a cycle takes at least as long as its agents arrive, plus a session, and that the limit binds if it is too
// small for the load.
func TestArrivals(t *testing.T) {
	s := shop(10, 0) // sessions of 3 s
	o := Order{Agents: 600, Cycles: 2, Limit: 50, Arrivals: time.Minute, ArrivalWords: "Poisson, 10/s"}
	f := Make(o, session(s), anywhere)
	want(t, "cycle", f.Cycle, 63, 63)
	want(t, "length", f.Length, 126, 126)
	if f.Binds != "the arrivals: Poisson, 10/s" {
		t.Errorf("%q binds", f.Binds)
	}
	o.Limit = 10
	f = Make(o, session(s), anywhere)
	want(t, "cycle of 10 at a time", f.Cycle, 180, 180)
	if f.Binds != "the concurrency limit, 10" {
		t.Errorf("%q binds", f.Binds)
	}
	worked := session(s)
	worked.Worked = engine.Exactly(0.01, engine.Measured)
	o.Limit = 50
	f = Make(o, worked, anywhere)
	want(t, "measured cycle", f.Cycle, 60, 60)
}
