package app

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/mocks"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/forecast"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/run"
)

// usualTimes are assumed response times of unknown services in seconds, by kind.
var usualTimes = map[string]engine.Estimate{
	"http":     engine.Between(0.02, 0.3, engine.Guessed),
	"llm":      engine.Between(1, 8, engine.Guessed),
	"mcp":      engine.Between(0.05, 2, engine.Guessed),
	"postgres": engine.Between(0.002, 0.03, engine.Guessed),
}

// Guesses before the first run of a scenario.
var (
	usualCPU    = engine.Between(5e-6, 50e-6, engine.Guessed)    // of a session, in seconds
	callCPU     = engine.Between(50e-6, 250e-6, engine.Guessed)  // of a call, in seconds
	mockedCPU   = engine.Between(100e-6, 500e-6, engine.Guessed) // of a call that a mock answers in this process, in seconds
	usualDisk   = engine.Between(30, 300, engine.Guessed)        // of a session, in bytes
	callDisk    = engine.Between(20, 150, engine.Guessed)        // of a call, in bytes
	callContent = engine.Between(50, 1000, engine.Guessed)       // of a call, in compressed bytes
	tokenSize   = engine.Between(0.5, 2, engine.Guessed)         // of a token, in compressed bytes
	usualPrompt = engine.Between(100, 1500, engine.Guessed)      // tokens
	usualPasses = engine.Between(0, 10, engine.Guessed)          // of a loop of unknown length
)

// Workload is the size of a run: active agents and planned sessions; 0 is unknown.
type Workload struct {
	Agents   int
	Sessions int64
}

// Forecaster forecasts time, requests, cost and resources of a run.
type Forecaster struct {
	Population
	Cores int // of the machine; 0 means the cores of this machine
	First int // first cycle of a fork
}

// Forecast returns the forecast of a launch. It is based on an earlier run, or on guesses if earlier is nil. It sends no
// requests.
func (l Forecaster) Forecast(earlier *EarlierRun, w Workload) engine.Forecast {
	m := forecast.Machine{Cores: bounded(l.Cores, runtime.NumCPU()), Database: engine.Connections{Own: -1, Server: -1, Max: -1}}
	here := machine.Host(l.Data)()
	m.Available, m.DiskFree = here.Available, here.DiskFree
	if l.Remote != nil {
		if s, ok := l.Remote.Status(); ok && s.Connected {
			m.Database = engine.Connections{Own: s.Connections, Server: s.Clients, Max: s.MaxConnections}
			if s.Clients >= 0 {
				m.Database.Server = max(s.Clients-s.Connections, 0)
			}
		}
	}
	o := l.order(w)
	s := l.expected()
	if earlier != nil {
		earlier.apply(&l, &o, &s, &m)
	} else {
		l.sample(&o, &s)
		s.Content = keptContent(&s)
	}
	if l.missingContent() != "" {
		s.Content = engine.Estimate{}
	}
	f := forecast.Make(o, s, m)
	f.Content.Missing = l.missingContent()
	if earlier != nil {
		f.Run, f.At = earlier.Run, earlier.At
		if n := earlier.totals.Ended(); n < minSessions {
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

// Workload counts the active agents and their sessions. It counts all agents if the selection depends on a population that
// is not written yet. Errors are mistakes in the selection.
func (l Forecaster) Workload(ctx context.Context) (Workload, error) {
	chosen, err := l.Scenario.Program(l.Settings.Seed).Active(ctx, &l.Settings)
	if _, mistake := errors.AsType[*engine.FieldError](err); mistake {
		return Workload{}, err
	}
	w := Workload{Agents: l.Scenario.Agents, Sessions: run.Planned(&l.Settings, l.Scenario.Agents, chosen, l.First)}
	if chosen != nil {
		w.Agents = len(chosen)
	}
	return w, nil
}

// order translates the settings for the forecast.
func (l Forecaster) order(w Workload) forecast.Order {
	set := &l.Settings
	o := forecast.Order{
		Agents: w.Agents, Cycles: max(set.Cycles-l.First, 0), Sessions: w.Sessions, Wall: time.Duration(set.Hours * float64(time.Hour)),
		Content: set.KeepContent, Scale: set.TimeScale, Limit: set.Limit, LLMCalls: set.MaxLLMCalls, Budget: set.Budget,
	}
	if set.TimeScale > 0 {
		o.Every = time.Duration(min(float64(l.Scenario.Clock.Cycle)/set.TimeScale, math.MaxInt64/2))
	}
	if p := l.Scenario.Clock.Arrivals; p != nil {
		o.Arrivals, o.ArrivalWords = p.Length(w.Agents, o.Every), p.String()
	}
	if set.Governed() {
		o.Ceiling = set.Ceiling
	}
	if set.Sequential {
		o.Limit, o.Ceiling = 1, 0
	}
	if f, err := l.WritingForecast(); err == nil && f != nil && !f.Free { // the launch reports its errors
		o.Writing = engine.Outlay{Requests: int64(f.Left), Usage: f.Usage}.Amount()
	}
	return o
}

// expected returns what a session takes according to the scenario and the mock's profile.
func (l Forecaster) expected() forecast.Session {
	c := l.Scenario.Chain
	thinks := c.Thinks()
	s := forecast.Session{CPU: usualCPU, Disk: usualDisk, Thinks: engine.Between(thinks.Least.Seconds(), thinks.Mean.Seconds(), engine.FromFile)}
	if !thinks.Exact {
		s.Thinks.Basis = engine.Guessed
	}
	writes := map[*chain.Service]engine.Estimate{}
	for _, r := range c.ExpectWrites() {
		writes[r.Service] = often(&r)
	}
	steps := c.Asking()
	for _, r := range c.Expect() {
		v := l.service(r.Service, services.AnswerTokens(steps, r.Service))
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

// The sample of sessions that a forecast takes before a first run. The time bounds slow scripts only, so that a forecast is always the
// same. In a cycle with leastThinking sessions that wait, one
// waits for the mean time or longer.
const (
	sampledSessions = 400
	sampleTime      = 3 * time.Second
	leastThinking   = 5
)

// sample takes a sample of sessions, and limits what a session takes to the share of them that send requests. Without it, a forecast for
// a scenario whose agents often stay idle is an upper limit that no run reaches.
func (l Forecaster) sample(o *forecast.Order, s *forecast.Session) {
	thinks := l.Scenario.Chain.Thinks()
	each, most := engine.Exactly(0, engine.FromFile), thinks.Most.Seconds()
	for i := range s.Services {
		v := &s.Services[i]
		each = each.Plus(v.Calls.Times(v.Latency))
	}
	if thinks.Most > thinks.Mean { // a cycle ends with its longest session
		s.Longest = engine.Between(thinks.Mean.Seconds(), most+each.High, engine.Guessed)
	}
	if l.Scenario.Writing(l.Settings.Seed) != nil || l.Settings.Replay != "" {
		return
	}
	a := l.Scenario.Program(l.Settings.Seed).SampleAsking(context.Background(), &l.Settings, o.Cycles, sampledSessions, sampleTime)
	if a.Asks == a.Sessions {
		return
	}
	share := float64(a.Asks) / float64(a.Sessions)
	margin := 2 * math.Sqrt(share*(1-share)/float64(a.Sessions))
	asks := engine.Between(max(share-margin, 0), min(share+margin, 1), engine.Guessed)
	s.Thinks, s.Disk = s.Thinks.Times(asks), usualDisk
	for i := range s.Services {
		v := &s.Services[i]
		if v.Calls.Low != v.Calls.High { // else the file says how many sessions call it
			v.Calls, v.Writes = v.Calls.Times(asks), v.Writes.Times(asks)
		}
		s.Disk = s.Disk.Plus(v.Calls.Times(callDisk))
	}
	if asks.Low*float64(o.Agents) < leastThinking {
		s.Longest.Low = thinks.Least.Seconds() * asks.Low
	}
}

// keptContent returns the size of a session's requests and answers.
func keptContent(s *forecast.Session) (sum engine.Estimate) {
	sum = engine.Exactly(0, engine.FromFile)
	for i := range s.Services {
		v := &s.Services[i]
		each := callContent
		if v.Model {
			each = each.Plus(v.Input.Plus(v.Output).Times(tokenSize))
		}
		sum = sum.Plus(v.Calls.Times(each))
	}
	return sum
}

// missingContent says why the run keeps no requests and answers; "" if it keeps them.
func (l Forecaster) missingContent() string {
	private := l.Scenario.Chain.Private()
	switch {
	case len(private) == 1:
		return "No transcript: the answers of step " + private[0] + " are private, so requests and answers are not kept."
	case len(private) > 1:
		return fmt.Sprintf("No transcript: the answers of %s and %s are private, so requests and answers are not kept.", private[0],
			plural(int64(len(private)-1), "other step", "other steps"))
	case l.Settings.KeepContent <= 0:
		return "No transcript: the setting Content kept is 0."
	}
	return ""
}

// often returns how many requests a session sends to a service.
func often(r *chain.Requests) engine.Estimate {
	e := engine.Between(float64(r.Least), float64(r.Most), engine.FromFile)
	switch {
	case r.Most >= odds.Endless:
		e = engine.Between(float64(r.Least), float64(r.Least)+usualPasses.High, engine.Guessed)
	case !math.IsNaN(r.Mean):
		e = engine.Exactly(r.Mean, engine.FromFile)
	}
	for _, loop := range r.Loops {
		e = e.Plus(usualPasses.Times(engine.Between(float64(loop.Least), min(float64(loop.Most), 100), engine.FromFile)))
	}
	return e
}

// service returns what is known of a service before any request.
func (l Forecaster) service(s *chain.Service, answer engine.Estimate) forecast.Service {
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

// bounded returns n, or usual if n is 0.
func bounded(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}

// wireTime is the overhead of a request to this machine, in addition to the mock's latency, in seconds.
var wireTime = engine.Between(100e-6, 1e-3, engine.FromProfile)

// profile returns the average response time of the mock.
func (l Forecaster) profile(model bool, answer engine.Estimate) engine.Estimate {
	cfg, err := mocks.Parse(l.Settings.Mock)
	if err != nil { // the launch reports it
		cfg.Profile = mock.ProfileLocal
	}
	least, most, token := cfg.Profile.Times()
	e := engine.Exactly((least+most).Seconds()/2, engine.FromProfile).Plus(wireTime)
	if model {
		e = e.Plus(engine.Between(answer.Low*token.Seconds(), answer.High*token.Seconds(), engine.FromProfile))
	}
	return e
}

// price returns the cost of a call in US dollars.
func (l Forecaster) price(s *chain.Service, input, output engine.Estimate) engine.Estimate {
	if l.free(s) {
		return engine.Exactly(0, engine.FromFile)
	}
	prices, err := l.pricesOf(s)
	if err != nil || len(l.models(s)) == 0 { // the launch reports it
		return engine.Estimate{}
	}
	p, ok := prices.Price(services.Priced(s, l.models(s), output))
	if !ok {
		return engine.Estimate{}
	}
	if s.Batch != nil {
		p = p.InBatch()
	}
	return input.Scale(p.Input).Plus(output.Scale(p.Output))
}

// sameAddresses reports whether the replaced addresses of services are equal.
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
