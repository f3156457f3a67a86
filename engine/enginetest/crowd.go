package enginetest

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/retrieval"
	"github.com/throng-sim/throng/engine/run"
)

// Crowd is a fake program: a session is a pure function of the run's seed, the cycle and the agent. The sessions of the zero value all
// succeed immediately. Shares are fractions of all sessions; the rest ends ok.
type Crowd struct {
	// Work and Throttled are the longest work and the longest throttled time of a session, both uniform from 0. With Work 0, a session never
	// uses its clock.
	Work, Throttled time.Duration
	// Asks is the largest number of requests of a session. Every other request changes data and has an intent.
	Asks int
	// Shares is the number of answers that belong to the run; each session uses one of them.
	Shares int
	// Remember is the share of sessions that write memory. Each write depends on all previous writes.
	Remember float64
	// Events is the largest number of events of a session.
	Events int

	// Fail, Stop, Panic and Hang are shares: a failure by class Script, a stop, a panic, and a wait for the context.
	Fail, Stop, Panic, Hang float64

	// Began and Ended, if set, are called for every session, concurrently.
	Began, Ended func(s *engine.Session)

	mu     sync.Mutex
	asked  map[string]int
	flying map[engine.SharedKey]*flight
}

var _ engine.Program = (*Crowd)(nil)

// Copy returns the same crowd for another process: it shares no requests in progress.
func (c *Crowd) Copy() *Crowd {
	return &Crowd{
		Work: c.Work, Throttled: c.Throttled, Asks: c.Asks, Shares: c.Shares, Remember: c.Remember, Events: c.Events, Fail: c.Fail, Stop: c.Stop, Panic: c.Panic,
		Hang: c.Hang, Began: c.Began, Ended: c.Ended,
	}
}

// Plan is the content of a session.
type Plan struct {
	Outcome   engine.Outcome
	Panics    bool
	Work      []time.Duration // of its requests; one element without requests
	Throttled time.Duration
	Remember  bool
	Events    int
}

// Plan returns the plan of a session of the seed.
func (c *Crowd) Plan(seed uint64, cycle, agent int) Plan {
	s := engine.SessionKey(seed, cycle, agent).Text("crowd").Source()
	p := Plan{Outcome: engine.OK}
	switch x := s.Float64(); {
	case x < c.Fail:
		p.Outcome = engine.Failed
	case x < c.Fail+c.Stop:
		p.Outcome = engine.Stopped
	case x < c.Fail+c.Stop+c.Panic:
		p.Outcome, p.Panics = engine.Failed, true
	case x < c.Fail+c.Stop+c.Panic+c.Hang:
		p.Outcome = engine.TimedOut
	}
	parts := 1
	if c.Asks > 0 {
		parts = s.IntN(c.Asks + 1)
	}
	for range parts {
		p.Work = append(p.Work, upTo(s, c.Work)/time.Duration(parts))
	}
	p.Throttled = upTo(s, c.Throttled)
	p.Remember = s.Float64() < c.Remember
	p.Events = s.IntN(c.Events + 1)
	return p
}

// upTo draws a time in whole microseconds, so that sums are exact.
func upTo(s *draw.Source, most time.Duration) time.Duration {
	return time.Duration(s.IntN(int(most/time.Microsecond)+1)) * time.Microsecond
}

// Session carries out the plan.
func (c *Crowd) Session(s *engine.Session) {
	if c.Began != nil {
		c.Began(s)
	}
	if c.Ended != nil {
		defer c.Ended(s)
	}
	plan := c.Plan(s.Settings().Seed, s.Cycle, s.Agent)
	if err := c.work(s, plan); err != nil {
		s.Row.Fail(s.Row.Path, err)
		return
	}
	s.Row.Path = ""
	for i := range plan.Events {
		s.Row.Events = append(s.Row.Events, engine.Event{
			Path: fmt.Sprintf("emit[%d]", i), Name: "event", Data: fmt.Appendf(nil, "[%d,%d,%d]", s.Cycle, s.Agent, i),
		})
	}
	s.Row.Acted = plan.Outcome == engine.OK
	if plan.Remember {
		s.Row.Delta = *delta(s.Memory, s.Cycle, s.Agent) // even if the session fails; then it must be dropped
	}
	switch {
	case plan.Panics:
		panic("as planned")
	case plan.Outcome == engine.Failed:
		s.Row.Fail("check", engine.Fail(engine.Script, "as planned"))
	case plan.Outcome == engine.TimedOut:
		<-s.Clock().Context().Done()
		s.Row.Fail("hang", context.Cause(s.Clock().Context()))
	default:
		s.Row.Outcome = plan.Outcome
	}
}

// work is the session's time: throttling and requests.
func (c *Crowd) work(s *engine.Session, plan Plan) error {
	if c.Work > 0 || c.Throttled > 0 {
		up := s.Clock()
		s.Row.Throttled += plan.Throttled
		up.Hold()
		err := sleep(up, plan.Throttled)
		up.Release()
		if err != nil {
			return err
		}
	}
	if c.Shares > 0 {
		if err := c.share(s); err != nil {
			return err
		}
	}
	for i, took := range plan.Work {
		var err error
		if c.Asks > 0 {
			err = c.ask(s, i, took)
		} else if took > 0 {
			err = sleep(s.Clock(), took)
		}
		if err != nil {
			return err
		}
		s.Row.Service += took
	}
	return nil
}

// ask sends one request, unless the journal holds its answer.
func (c *Crowd) ask(s *engine.Session, i int, took time.Duration) error {
	path := "ask[" + strconv.Itoa(i) + "]"
	s.Row.Path = path
	record := engine.StepRecord{Path: path, Attempts: 1, Service: took}
	entry := engine.Entry{Path: path, Attempts: 1, Statuses: []int{200}, Output: answer(s.Cycle, s.Agent, i)}
	changes := i%2 == 0
	got, known := s.Replay(path)
	switch {
	case known && got.Attempts > 0:
		if string(got.Output) != string(entry.Output) {
			return engine.Fail(engine.BadAnswer, "the journal says %q of %s, not %q", got.Output, path, entry.Output)
		}
		record.Label = engine.Replayed
		s.Row.Steps = append(s.Row.Steps, record)
		return nil
	case known:
		record.Label = engine.Resent
	case changes:
		up := s.Clock()
		up.Hold()
		err := s.Intend(up.Context(), path, uint64(i), &engine.Outlay{}, &engine.Outlay{})
		up.Release()
		if err != nil {
			return err
		}
	}
	spent, err := c.send(s, path, took)
	if err != nil {
		return err
	}
	entry.Spent = spent
	if changes {
		s.Answered(entry)
	} else {
		s.Observed(entry)
	}
	s.Row.Steps = append(s.Row.Steps, record)
	return nil
}

// Outlay returns an outlay for an amount.
func Outlay(a engine.Amount) engine.Outlay {
	return engine.Outlay{Requests: a.Requests, Usage: engine.Usage{Input: a.Tokens, Cost: a.Cost}}
}

// send is a request in progress, charged to the budget.
func (c *Crowd) send(s *engine.Session, path string, took time.Duration) (spent engine.Outlay, err error) {
	spent.Requests = 1
	settle, err := claim(s, spent)
	if err != nil {
		return spent, err
	}
	defer settle(spent)
	c.count(s, path)
	return spent, sleep(s.Clock(), took)
}

// claim reserves the cost of a request, waiting if necessary.
func claim(s *engine.Session, most engine.Outlay) (settle func(engine.Outlay), err error) {
	if settle, ok := s.TryClaim(most); ok {
		return settle, nil
	}
	up := s.Clock()
	up.Hold()
	defer up.Release()
	return s.Claim(up.Context(), most)
}

func (c *Crowd) count(s *engine.Session, path string) {
	c.countAs(fmt.Sprintf("%d/%d/%s", s.Cycle, s.Agent, path))
}

func (c *Crowd) countAs(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == nil {
		c.asked = map[string]int{}
	}
	c.asked[key]++
}

// AllRequests returns the number of times that each request was sent, by cycle/agent/path, or share/key for those of the run.
func (c *Crowd) AllRequests() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make(map[string]int, len(c.asked))
	maps.Copy(out, c.asked)
	return out
}

// Memory returns an agent's memory after a number of cycles, computed without an engine, if all its sessions commit.
func (c *Crowd) Memory(seed uint64, agent, cycles int) *engine.Memory {
	var m *engine.Memory
	for cycle := range cycles {
		if p := c.Plan(seed, cycle, agent); p.Remember && p.Outcome.Commits() {
			m = m.Apply(delta(m, cycle, agent))
		}
	}
	return m
}

// delta chains each write to the previous one, so that the last write shows a lost, doubled or misplaced one.
func delta(m *engine.Memory, cycle, agent int) *engine.Delta {
	key := engine.SessionKey(0, cycle, agent)
	if m != nil {
		for _, f := range m.Fields {
			key = key.Text(f.Name).Text(string(f.Value))
		}
	}
	hi, lo := key.Sum()
	note := strconv.AppendInt(nil, int64(cycle), 10)
	return &engine.Delta{
		Set:   []engine.Field{{Name: "chain", Value: strconv.AppendUint(nil, hi, 10)}, {Name: "cycle", Value: strconv.AppendInt(nil, int64(cycle), 10)}},
		Notes: [][]byte{note},
		Keep:  3,
		Kept:  []retrieval.Kept{{Note: retrieval.Key(note), Cycle: cycle, Used: cycle, Vector: strconv.AppendUint(nil, lo, 16)}},
	}
}

func answer(cycle, agent, i int) []byte { return fmt.Appendf(nil, "%d:%d:%d", cycle, agent, i) }

// sleep waits, or returns the cause if the clock's context ends first.
func sleep(up *clock.Clock, d time.Duration) error {
	if d <= 0 {
		return context.Cause(up.Context())
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-up.Context().Done():
		return context.Cause(up.Context())
	}
}

// Config returns the configuration of a run of a program by a population, as fast as possible, for one cycle.
func Config(agents int, p engine.Program, j engine.Journal) run.Config {
	settings := engine.DefaultSettings()
	settings.Metrics = false
	return run.Config{
		ID: "test", Agents: agents, Program: p, Journal: j, Settings: settings,
		Clock: engine.Clock{Start: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), Cycle: time.Hour},
	}
}
