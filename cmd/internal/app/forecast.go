package app

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/forecast"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/run"
)

// usualTimes are how long an answer takes where nothing is known of a service, in seconds, by its kind.
var usualTimes = map[string]engine.Estimate{
	"http":     engine.Between(0.02, 0.3, engine.Guessed),
	"llm":      engine.Between(1, 8, engine.Guessed),
	"postgres": engine.Between(0.002, 0.03, engine.Guessed),
}

// What is guessed before a first run.
var (
	usualCPU    = engine.Between(5e-6, 50e-6, engine.Guessed)    // of a session, in seconds
	callCPU     = engine.Between(50e-6, 250e-6, engine.Guessed)  // of a call
	mockedCPU   = engine.Between(100e-6, 500e-6, engine.Guessed) // of a call that is answered here too
	usualDisk   = engine.Between(30, 300, engine.Guessed)        // of a session, in bytes
	callDisk    = engine.Between(20, 150, engine.Guessed)        // of a call
	usualPrompt = engine.Between(100, 1500, engine.Guessed)      // tokens
	usualPasses = engine.Between(0, 10, engine.Guessed)          // of a loop that nobody knows the length of
)

// Crowd is how many agents take part in a run, and how many sessions that are planned; 0 is not known.
type Crowd struct {
	Agents   int
	Sessions int64
}

// Estimate says what runs of a population will take.
type Estimate struct {
	Population
	Cores int // of the machine; 0 is as many as it has
	First int // cycle that a fork begins with
}

// Forecast says what a launch will take, by what the newest run like it took if there is one. It asks nobody outside.
func (l Estimate) Forecast(like *Like, taking Crowd) engine.Forecast {
	m := forecast.Machine{Cores: bounded(l.Cores, runtime.NumCPU()), Database: engine.Connections{Own: -1, Server: -1, Max: -1}}
	here := engine.HostSampler(l.Data)()
	m.Available, m.DiskFree = here.Available, here.DiskFree
	if l.Remote != nil {
		if s, ok := l.Remote.Status(); ok && s.Connected {
			m.Database = engine.Connections{Own: s.Connections, Server: s.Clients, Max: s.MaxConnections}
			if s.Clients >= 0 {
				m.Database.Server = max(s.Clients-s.Connections, 0)
			}
		}
	}
	o := l.order(taking)
	s := l.expected()
	if like != nil {
		like.measure(&l, &o, &s, &m)
	}
	f := forecast.Make(o, s, m)
	if like != nil {
		f.Run, f.At = like.Run, like.At
		if n := like.totals.Ended(); n < enough {
			f.Doubt(n)
		}
	}
	for _, step := range l.Scenario.Chain.Asking() {
		if step.Writes {
			f.Writers = append(f.Writers, step.Path)
		}
	}
	return f
}

// Taking counts who takes part: all, where that is not known before their population is written. Its errors are mistakes
// in who that is.
func (l Estimate) Taking(ctx context.Context) (Crowd, error) {
	chosen, err := l.Scenario.Program(l.Settings.Seed).Choose(ctx, &l.Settings)
	if _, mistake := errors.AsType[*engine.FieldError](err); mistake {
		return Crowd{}, err
	}
	taking := Crowd{Agents: l.Scenario.Agents, Sessions: run.Planned(&l.Settings, l.Scenario.Agents, chosen, l.First)}
	if chosen != nil {
		taking.Agents = len(chosen)
	}
	return taking, nil
}

// order is what would be run.
func (l Estimate) order(taking Crowd) forecast.Order {
	set := &l.Settings
	o := forecast.Order{
		Agents: taking.Agents, Cycles: max(set.Cycles-l.First, 0), Sessions: taking.Sessions, Wall: time.Duration(set.Hours * float64(time.Hour)),
		Scale: set.TimeScale, Limit: set.Limit, LLMCalls: set.MaxLLMCalls, Budget: set.Budget,
	}
	if set.TimeScale > 0 {
		o.Every = time.Duration(min(float64(l.Scenario.Clock.Cycle)/set.TimeScale, math.MaxInt64/2))
	}
	if set.Governor != "" && set.Governor != engine.Manual {
		o.Ceiling = set.Ceiling
	}
	if set.Sequential {
		o.Limit, o.Ceiling = 1, 0
	}
	if draft, err := l.Draft(); err == nil && draft != nil && !draft.Free { // its errors are mistakes that the launch reports
		o.Writing = engine.Outlay{Requests: int64(draft.Left), Usage: draft.Usage}.Amount()
	}
	return o
}

// expected is what a session takes as far as the scenario and the mock's profile say.
func (l Estimate) expected() forecast.Session {
	c := l.Scenario.Chain
	least, most, all := c.Thinks()
	s := forecast.Session{CPU: usualCPU, Disk: usualDisk, Thinks: engine.Between(least.Seconds(), most.Seconds(), engine.FromFile)}
	if !all {
		s.Thinks.Basis = engine.Guessed
	}
	writes := map[*chain.Service]engine.Estimate{}
	for _, r := range c.ExpectWrites() {
		writes[r.Service] = often(&r)
	}
	steps := c.Asking()
	for _, r := range c.Expect() {
		v := l.service(r.Service, answerTokens(steps, r.Service))
		v.Calls, v.Writes = often(&r), writes[r.Service]
		if !v.Writes.Known() {
			v.Writes = engine.Exactly(0, engine.FromFile)
		}
		if v.CPU = callCPU; v.Inside {
			v.CPU = mockedCPU
		}
		s.Disk = s.Disk.Plus(v.Calls.Times(callDisk))
		s.Services = append(s.Services, v)
	}
	return s
}

// often is how often a session asks a service.
func often(r *chain.Requests) engine.Estimate {
	e := engine.Between(float64(r.Least), float64(r.Most), engine.FromFile)
	switch {
	case r.Most >= chain.Endless:
		e = engine.Between(float64(r.Least), float64(r.Least)+usualPasses.High, engine.Guessed)
	case !math.IsNaN(r.Mean):
		e = engine.Exactly(r.Mean, engine.FromFile)
	}
	for _, loop := range r.Loops {
		e = e.Plus(usualPasses.Times(engine.Between(float64(loop.Least), min(float64(loop.Most), 100), engine.FromFile)))
	}
	return e
}

// answerTokens is how long the answers of a service of models are.
func answerTokens(steps []chain.Asking, s *chain.Service) engine.Estimate {
	most := 0
	for _, step := range steps {
		if step.Service == s {
			most = max(most, step.Tokens)
		}
	}
	if most == 0 {
		most = usualAnswer
	}
	return engine.Between(min(10, float64(most)), float64(most), engine.Guessed)
}

// service is what is known of a service before it is asked.
func (l Estimate) service(s *chain.Service, answer engine.Estimate) forecast.Service {
	v := forecast.Service{
		Name: s.Name, Model: s.Kind == "llm", Inside: l.mocks(s), Bound: s.Limits.Connections,
		Rate: s.Limits.Rate, MaxRate: s.Limits.MaxRate, Latency: usualTimes[s.Kind],
	}
	switch {
	case s.Postgres != nil:
		v.Bound = bounded(s.Postgres.Limits.Connections, 50)
	case v.Model:
		v.Bound = bounded(v.Bound, 50)
		v.Input, v.Output = usualPrompt, answer
		if v.Cost = l.price(s, v.Input, v.Output); !v.Inside && v.Rate == 0 {
			v.Rate, v.MaxRate = l.Settings.LLMRate, max(l.Settings.LLMRate, defaultMaxLLMRate)
		}
	default:
		v.Bound = bounded(v.Bound, 200)
	}
	if v.Inside {
		v.Latency = l.profile(v.Model, answer)
	}
	v.WriteLatency = v.Latency
	return v
}

// bounded is a number, or the usual one where it is 0.
func bounded(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}

// wireTime is what a request to this machine takes beside its answer's latency, in seconds.
var wireTime = engine.Between(100e-6, 1e-3, engine.FromProfile)

// profile is how long the mock takes for an answer, on average.
func (l Estimate) profile(model bool, answer engine.Estimate) engine.Estimate {
	cfg, err := ParseMock(l.Settings.Mock)
	if err != nil { // it is told elsewhere
		cfg.Profile = mock.ProfileLocal
	}
	least, most, token := cfg.Profile.Times()
	e := engine.Exactly((least+most).Seconds()/2, engine.FromProfile).Plus(wireTime)
	if model {
		e = e.Plus(engine.Between(answer.Low*token.Seconds(), answer.High*token.Seconds(), engine.FromProfile))
	}
	return e
}

// price is what a call costs, in US dollars.
func (l Estimate) price(s *chain.Service, input, output engine.Estimate) engine.Estimate {
	if l.free(s) {
		return engine.Exactly(0, engine.FromFile)
	}
	prices, err := l.pricesOf(s)
	if err != nil || len(l.models(s)) == 0 { // the launch tells it
		return engine.Estimate{}
	}
	p, ok := prices.Price(l.models(s)[0])
	if !ok {
		return engine.Estimate{}
	}
	return input.Scale(p.Input).Plus(output.Scale(p.Output))
}

// sameAddresses reports whether the services of a launch are where they were in a run.
func sameAddresses(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for name, address := range a {
		if other, ok := b[name]; !ok || !strings.EqualFold(address, other) {
			return false
		}
	}
	return true
}
