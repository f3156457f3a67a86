package run

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/arrivals"
	"github.com/throng-sim/throng/engine/memories"
)

// A simulation drives the core of one run from one seed, without goroutines and without a clock. It uses as many processes
// as the run needs to finish, and then does the same for a fork of the run. In each process, workers answer in any order,
// people and governors give orders, and the journal fails, tears a row, or loses rows at any point.
type simulation struct {
	seed      uint64
	draw      *rand.Rand
	params    parameters
	faults    faults
	journal   *simJournal
	trace     func(format string, args ...any) // nil means no trace
	processes int
}

// parameters holds the parameters of a run that are drawn from the seed.
type parameters struct {
	agents, cycles, batch, pools int
	chosen                       []int
	scheduled, governed, manual  bool
	fleet, sequential, probing   bool          // sessions are executed by a fleet; one after another; with many probes of the breaker
	interval                     time.Duration // between checkpoints
	crashes                      int           // how many are left
	arrivals                     *arrivals.Plan
}

// simInterval is the real time from the start of one scheduled cycle to the next.
const simInterval = time.Second

// faults are deliberate errors outside the core. They test whether a simulation detects them.
type faults struct {
	loseDelta    bool // the journal loses what a session changed in its agent's memory
	loseSession  bool // the journal loses a session
	extraWorker  bool // the pool starts one worker too many
	deliverTwice bool // the pool delivers a batch twice

	// Of a fleet.
	acceptStale  bool // the coordinator accepts sessions of a lease that the worker has lost
	raiseEarly   bool // it raises shares before workers have confirmed lower ones
	forgetShards bool // it does not offer the shards of a lost worker again
	reportEarly  bool // workers report before they send their sessions
}

func newSimulation(seed uint64) *simulation {
	s := &simulation{seed: seed, draw: rand.New(rand.NewPCG(seed, 1))}
	d := s.draw
	s.params = parameters{
		agents: 10 + d.IntN(11), cycles: 2 + d.IntN(4), pools: 1 + d.IntN(3), crashes: d.IntN(4),
		scheduled: d.IntN(4) == 0, governed: d.IntN(4) == 0, manual: d.IntN(3) > 0,
		interval: time.Duration(d.IntN(3)) * 2 * time.Second,
	}
	if d.IntN(4) == 0 {
		s.params.batch = 1 + d.IntN(6)
	}
	if d.IntN(4) == 0 {
		for a := range s.params.agents {
			if a%3 != 1 {
				s.params.chosen = append(s.params.chosen, a)
			}
		}
	}
	if a := rand.New(rand.NewPCG(seed, 2)); a.IntN(3) == 0 {
		s.params.batch, s.params.arrivals = 0, &arrivals.Plan{Poisson: a.IntN(2) == 0, Over: time.Duration(1+a.IntN(3000)) * time.Millisecond}
	}
	if seed%2 == 0 {
		of := rand.New(rand.NewPCG(seed, 3))
		s.params.fleet, s.params.sequential, s.params.probing = true, of.IntN(5) == 0, of.IntN(3) == 0
		s.params.governed = s.params.governed || s.params.probing
	}
	return s
}

// withSize sets the number of sessions of the run and turns everything else off.
func (s *simulation) withSize(agents, cycles int) *simulation {
	s.params.agents, s.params.cycles, s.params.chosen, s.params.arrivals = agents, cycles, nil, nil
	s.params.fleet, s.params.sequential, s.params.probing = false, false, false
	return s
}

func (s *simulation) settings() engine.Settings {
	c := engine.DefaultSettings()
	c.Seed, c.Cycles, c.Batch, c.Metrics, c.SessionTimeout = s.seed, s.params.cycles, s.params.batch, false, 0
	c.CheckpointEvery, c.TimeScale, c.Sequential = s.params.interval, 0, s.params.sequential
	if s.params.scheduled {
		c.TimeScale = float64(time.Hour / simInterval)
	}
	if s.params.governed {
		c.Governor = engine.Adaptive
	}
	return c
}

// run simulates the run to its end, and then a fork of it. Its error says which promise was broken.
func (s *simulation) run() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the core panicked: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("seed %d, process %d: %w", s.seed, s.processes, err)
		}
	}()
	s.journal = &simJournal{}
	if err := s.finish(nil); err != nil {
		return err
	}
	want, memory, err := s.reference(s.journal, 0, nil, nil)
	if err != nil {
		return err
	}
	if err := s.compare(want, 0); err != nil {
		return err
	}
	return s.fork(memory)
}

// finish continues a run until it has finished. fork is the start of the run if it is a fork.
func (s *simulation) finish(fork *engine.Resumption) error {
	for first := true; ; first = false {
		if s.processes++; s.processes > 60 {
			return errors.New("the run never ends")
		}
		var res *engine.Resumption
		switch {
		case !first:
			res = s.journal.resumption(s.settings(), fork)
			s.injectFaults(res)
		case fork != nil:
			res = fork
		}
		p := newProcess(s, res, fork)
		if err := p.live(); err != nil {
			return err
		}
		if s.journal.crash(s.draw, !p.crashed); p.core.life.phase == engine.Ended && p.core.life.result.Ending == engine.EndFinished && s.journal.finished() {
			return s.recount(p, fork)
		}
	}
}

// injectFaults adds the faults of a faulty journal.
func (s *simulation) injectFaults(res *engine.Resumption) {
	if s.faults.loseDelta {
		for agent := range res.Deltas {
			delete(res.Deltas, agent)
			return
		}
	}
	if n := len(res.Done); s.faults.loseSession && n > 0 {
		res.Done = res.Done[:n-1]
	}
}

// recount checks that the totals that the run kept match its journal.
func (s *simulation) recount(p *process, fork *engine.Resumption) error {
	got, want := &p.core.life.result.Totals, &s.journal.resumption(s.settings(), fork).State.Totals
	if got.Outcomes != want.Outcomes || got.Errors != want.Errors || got.Events != want.Events || got.Acted != want.Acted {
		return fmt.Errorf("the run counts %v %v, %d events, its journal has %v %v, %d", got.Outcomes, got.Errors, got.Events, want.Outcomes, want.Errors, want.Events)
	}
	return nil
}

// compare checks that the journal has each session of the undisturbed run exactly once, in its cycle.
func (s *simulation) compare(want map[engine.Place]simResult, first int) error {
	seen, last, barrier := map[engine.Place]bool{}, map[engine.Place]*engine.SessionRow{}, first-1
	for i, row := range s.journal.rows {
		switch r := row.(type) {
		case engine.BarrierRow:
			if r.Cycle != barrier+1 {
				return fmt.Errorf("row %d: barrier %d follows barrier %d", i, r.Cycle, barrier)
			}
			barrier = r.Cycle
		case *engine.SessionRow:
			if r.Cycle != barrier+1 {
				return fmt.Errorf("row %d: session %v after barrier %d", i, r.Place, barrier)
			}
			if seen[r.Place] {
				return fmt.Errorf("row %d: session %v is there a second time", i, r.Place)
			}
			seen[r.Place] = true
			of := engine.Place{Cycle: r.Cycle, Agent: r.Agent}
			if was := last[of]; was == nil || was.Take < r.Take {
				last[of] = r
			}
		}
	}
	if len(last) != len(want) {
		return fmt.Errorf("%d sessions, want %d as in the undisturbed run", len(last), len(want))
	}
	for of, w := range want {
		r := last[of]
		if r == nil {
			return fmt.Errorf("no session %v", of)
		}
		if got := resultOf(r); got != w {
			return fmt.Errorf("session %v ended as %+v, want %+v as in the undisturbed run", of, got, w)
		}
	}
	return nil
}

// fork starts another run at a checkpoint of the finished one, and compares it with the undisturbed run from there.
func (s *simulation) fork(memory []map[int]*engine.Memory) error {
	number := -1 // of the checkpoint; at most the last one with a cycle left after it
	for i, row := range s.journal.rows {
		if c, ok := row.(engine.CheckpointRow); ok && c.Cycle < s.params.cycles && s.draw.IntN(2) == 0 {
			number = i
		}
	}
	if number < 0 {
		return nil
	}
	res := &engine.Resumption{Unbegun: true, Memory: map[int]*engine.Memory{}, Checkpoints: 1}
	for _, row := range s.journal.rows[:number+1] {
		if c, ok := row.(engine.CheckpointRow); ok {
			maps.Copy(res.Memory, c.Memory)
			res.Cycle, res.Injected, res.Retired = c.Cycle, c.State.Injected, c.State.Retired
		}
	}
	res.State.Injected, res.State.Retired = res.Injected, res.Retired
	if got, want := digestOf(res.Memory), digestOf(memory[res.Cycle]); got != want {
		return fmt.Errorf("the checkpoint of cycle %d restores memory %x, want %x as in the undisturbed run", res.Cycle, got, want)
	}
	s.journal, s.params.crashes, s.params.manual = &simJournal{}, s.draw.IntN(2), false
	if s.trace != nil {
		s.trace("fork at cycle %d", res.Cycle)
	}
	if err := s.finish(res); err != nil {
		return fmt.Errorf("fork at cycle %d: %w", res.Cycle, err)
	}
	want, _, err := s.reference(s.journal, res.Cycle, memory[res.Cycle], res)
	if err != nil {
		return err
	}
	if err := s.compare(want, res.Cycle); err != nil {
		return fmt.Errorf("fork at cycle %d: %w", res.Cycle, err)
	}
	return nil
}

// reference executes the undisturbed run: one session after another, without a core. Manual orders come from the journal.
// It returns the results, and the memory at the start of every cycle.
func (s *simulation) reference(j *simJournal, first int, memory map[int]*engine.Memory, fork *engine.Resumption) (map[engine.Place]simResult, []map[int]*engine.Memory, error) {
	var hand engine.Resumption
	if fork != nil {
		hand.Injected, hand.Retired = slices.Clone(fork.Injected), fork.Retired
	}
	canceled := map[engine.Place]bool{}
	for _, row := range j.rows {
		switch r := row.(type) {
		case engine.ChangeRow:
			if err := hand.Apply(&r); err != nil {
				return nil, nil, err
			}
		case *engine.SessionRow:
			if _, retired := hand.Retired[r.Agent]; r.Outcome == engine.Canceled && retired {
				canceled[engine.Place{Cycle: r.Cycle, Agent: r.Agent}] = true
			}
		}
	}
	settings, results := s.settings(), map[engine.Place]simResult{}
	starts := make([]map[int]*engine.Memory, s.params.cycles+1)
	now := cloned(memory)
	for cycle := first; cycle < s.params.cycles; cycle++ {
		starts[cycle] = cloned(now)
		deltas, sequence := map[int]engine.Delta{}, newSequentialMemory(&settings, memories.NewTable(now), nil, cycle)
		for _, agent := range s.turns(cycle) {
			from, retired := hand.Retired[agent]
			if retired && from <= cycle || s.params.chosen != nil && !slices.Contains(s.params.chosen, agent) {
				continue
			}
			of := engine.Place{Cycle: cycle, Agent: agent}
			if canceled[of] {
				results[of] = simResult{outcome: engine.Canceled}
				continue
			}
			m := now[agent]
			if s.params.sequential {
				m = sequence.Of(agent)
			}
			var row engine.SessionRow
			s.session(&row, engine.Place{Cycle: cycle, Agent: agent, Take: hand.Requeued[of]}, m, hand.Injected)
			results[of] = resultOf(&row)
			if row.Outcome.Commits() {
				deltas[agent] = row.Delta
				if s.params.sequential {
					sequence.commit(agent, &row.Delta)
				}
			}
		}
		memories.CommitCycle(&settings, memories.Map(now), memories.Of(deltas), cycle)
	}
	starts[s.params.cycles] = now
	return results, starts, nil
}

// turns returns the agents in the order of their sessions.
func (s *simulation) turns(cycle int) (agents []int) {
	for agent := range s.params.agents {
		agents = append(agents, agent)
	}
	if s.params.sequential {
		engine.SortByTurn(agents, s.seed, cycle)
	}
	return agents
}

// session executes an agent's session. It is a pure function of seed, place, memory and inbox.
func (s *simulation) session(row *engine.SessionRow, p engine.Place, m *engine.Memory, injected []engine.Injection) {
	h := mix(mix(s.seed, uint64(p.Cycle)), uint64(p.Agent))
	read := false
	if m != nil {
		for _, f := range m.Fields {
			h = mixText(h, f.Value)
		}
		for _, l := range m.Inbox {
			h, read = mixText(mix(h, uint64(l.From+2)), l.Body), true
		}
	}
	for _, l := range engine.Injected(injected, m, p) {
		h, read = mixText(mix(h, uint64(l.Cycle)), l.Body), true
	}
	row.Reset(p)
	row.Outcome, row.Acted = engine.OK, h%5 == 0
	switch kind := h >> 8 % 20; {
	case kind < 3 && (p.Take == 0 || mix(h, uint64(p.Take))%2 == 0):
		row.Outcome, row.Class, row.Path, row.Error = engine.Failed, engine.Network, "ask", "refused"
	case kind == 3:
		row.Outcome = engine.Stopped
	}
	text := fmt.Appendf(nil, "%d", h)
	row.Events = append(row.Events, engine.Event{Path: "ask", Name: "asked", Data: text})
	row.Service, row.Total = 20*time.Millisecond, 20*time.Millisecond
	if h>>16%10 < 7 {
		row.Delta = engine.Delta{Set: []engine.Field{{Name: "chain", Value: text}}, Read: read}
		if h>>24%3 == 0 {
			row.Delta.Said = []engine.Message{{To: []int{int(h >> 32 % uint64(s.params.agents))}, Body: text}}
		}
	}
}

// simResult is the part of a session that counts as its result.
type simResult struct {
	outcome engine.Outcome
	event   string
	changed string
}

func resultOf(r *engine.SessionRow) simResult {
	if r.Outcome == engine.Canceled {
		return simResult{outcome: engine.Canceled}
	}
	c := simResult{outcome: r.Outcome}
	if len(r.Events) > 0 {
		c.event = string(r.Events[0].Data)
	}
	if len(r.Delta.Set) > 0 && r.Outcome.Commits() {
		c.changed = string(r.Delta.Set[0].Value)
	}
	return c
}

func mix(h, v uint64) uint64 {
	h = (h ^ v) * 0x9e3779b97f4a7c15
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

func mixText(h uint64, text []byte) uint64 {
	for _, b := range text {
		h = mix(h, uint64(b))
	}
	return h
}

// digestOf returns a hash of an agent's memory.
func digestOf(memory map[int]*engine.Memory) (sum uint64) {
	for agent, m := range memory {
		if m == nil {
			continue
		}
		h := mix(uint64(agent), uint64(m.ReadTo))
		for _, f := range m.Fields {
			h = mixText(h, f.Value)
		}
		for _, l := range m.Inbox {
			h = mixText(mix(mix(h, uint64(l.From+2)), uint64(l.Cycle)), l.Body)
		}
		sum += h
	}
	return sum
}

func cloned(memory map[int]*engine.Memory) map[int]*engine.Memory {
	c := make(map[int]*engine.Memory, len(memory))
	maps.Copy(c, memory)
	return c
}
