package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/script/value"
)

// Program is a scenario with a seed: what a run executes. Its services must be connected first.
type Program struct {
	s         *Scenario
	seed      uint64
	directory directory
	places    places
	watch     func(*chain.Report)
	try       func(*engine.Trial)
}

var _ engine.Program = (*Program)(nil)

// Program returns what a run with a seed executes.
func (s *Scenario) Program(seed uint64) *Program {
	p := &Program{s: s, seed: seed}
	p.directory.p = p
	return p
}

// Watch calls f for every session that ended, with its steps' outputs. Call it before the run starts. f is called from
// many goroutines. Sessions that are known to run again are omitted.
func (p *Program) Watch(f func(*chain.Report)) { p.watch = f }

// Purpose tells what the time of a step is for; see [run.Config].
func (p *Program) Purpose() func(step string) engine.Purpose {
	known := p.s.Chain.Purposes()
	return func(step string) engine.Purpose { return known[step] }
}

// Where tells at which file and line a step is defined; see [run.Config].
func (p *Program) Where() func(step string) string { return p.s.Chain.Where }

// Session implements engine.Program.
func (p *Program) Session(s *engine.Session) {
	v, err := p.enter(s)
	if err != nil {
		s.Row.Fail("", err)
		return
	}
	if p.watch == nil && p.try == nil {
		p.s.Chain.Run(s, &v.in)
		v.leave()
	} else {
		recorder{p}.watched(s, v)
	}
	p.locate(s.Row)
}

// enter returns what the steps of a session see.
func (p *Program) enter(s *engine.Session) (*visit, error) {
	outside, err := p.arrivals(s)
	if err != nil {
		return nil, err
	}
	v := visits.Get().(*visit)
	a := &v.agent
	a.p, a.seed, a.index, a.memory, a.limit, a.ids = &p.s.population, p.seed, s.Agent, &v.memory, len(p.s.population.attributes), &p.directory
	v.session, v.now, v.input = session{p.seed, s.Run().Identity(), s.Place}, s.Now, p.s.input.of(s.Agent)
	v.memory.Begin(s.Memory, outside)
	v.in = chain.Input{World: v, Memory: &v.memory, Agents: &p.directory, Acted: p.s.Acted, Bound: p.s.bound}
	return v, nil
}

// leave makes v available to another session, without what belongs to this one.
func (v *visit) leave() {
	v.memory.Reset()
	a := &v.agent
	a.record, a.values, a.name, a.asking = nil, nil, "", "" // after a panic, one is still asked for
	v.input, v.shownNow = nil, nil
	visits.Put(v)
}

// visits are used again: what a session leaves behind is data, and refers to none of it.
var visits = sync.Pool{New: func() any { return new(visit) }}

// visit is what the steps of one session see, made as they ask for it.
type visit struct {
	in      chain.Input
	agent   agent
	session session
	memory  memory.View
	now     time.Time
	input   value.Value

	// shown to expressions; kept here so that sessions do not allocate it
	shownAgent, shownSession value.Lazy
	shownNow                 value.Value
}

var _ chain.World = (*visit)(nil)

// With implements chain.World.
func (v *visit) With(memory *memory.View) chain.World {
	other := &visit{agent: v.agent, session: v.session, now: v.now, input: v.input}
	other.agent.memory, other.agent.values, other.agent.shownMemory = memory, slices.Clone(v.agent.values), value.Lazy{}
	return other
}

// Lookup implements script.Names.
func (v *visit) Lookup(name string) (value.Value, error) {
	switch name {
	case "agent":
		if v.shownAgent.Type() == "" {
			v.shownAgent = *value.NewLazy("agent", &v.agent)
		}
		return &v.shownAgent, nil
	case "session":
		if v.shownSession.Type() == "" {
			v.shownSession = *value.NewLazy("session", &v.session)
		}
		return &v.shownSession, nil
	case "now":
		if v.shownNow == nil {
			v.shownNow = value.NewTime(v.now)
		}
		return v.shownNow, nil
	case "input":
		return v.input, nil
	}
	return nil, fmt.Errorf("%s is not known here", name)
}

// Agents returns the number of agents, including inactive ones.
func (p *Program) Agents() int { return p.s.Agents }

// AgentID returns the id of an agent.
func (p *Program) AgentID(index int) (string, error) {
	return newAgent(&p.s.population, p.seed, index, memory.New(nil)).id()
}

// Find returns the indexes of agents by their ids, ascending. An unknown id is a *engine.FieldError.
func (p *Program) Find(ids []string) ([]int, error) {
	wanted := make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
	}
	var found []int
	for i := range p.s.Agents {
		id, err := p.AgentID(i)
		if err != nil {
			return nil, err
		}
		if wanted[id] {
			found = append(found, i)
			delete(wanted, id)
		}
	}
	for _, id := range ids {
		if wanted[id] {
			if p.s.Agents == 0 {
				return nil, &engine.FieldError{Field: "agents", Problem: "no such agent: " + id, Hint: "there are no agents"}
			}
			first, err := p.AgentID(0)
			if err != nil {
				return nil, err
			}
			hint := fmt.Sprintf("the first of %d is %s", p.s.Agents, first)
			if _, err := strconv.Atoi(id); err == nil && p.s.population.sized != "" {
				hint += "; for " + id + " agents, set the parameter " + p.s.population.sized + " to " + id
			}
			return nil, &engine.FieldError{Field: "agents", Problem: "no such agent: " + id, Hint: hint}
		}
	}
	return found, nil
}

// Agent returns the index of an agent by id, or by index if no agent has that id; "" is the first.
func (p *Program) Agent(name string) (int, error) {
	if name == "" {
		return 0, nil
	}
	found, err := p.Find([]string{name})
	if err == nil {
		return found[0], nil
	}
	if index, notNumber := strconv.Atoi(name); notNumber == nil && index >= 0 && index < p.Agents() {
		return index, nil
	}
	return 0, err
}

// session shows the session to expressions.
type session struct {
	seed  uint64
	run   engine.RunID
	place engine.Place
}

// Field implements value.Fields.
func (s *session) Field(name string) (value.Value, error) {
	switch name {
	case "uuid":
		return starlark.String(engine.SessionUUID(s.run, s.place.Cycle, s.place.Agent)), nil
	case "seed_uuid":
		return starlark.String(engine.SeedUUID(s.seed, s.place.Cycle, s.place.Agent)), nil
	case "cycle":
		return starlark.MakeInt(s.place.Cycle), nil
	}
	return nil, nil //nolint:nilnil // value.Fields: a missing field is not an error
}

// Names implements value.Fields.
func (*session) Names() []string { return []string{"uuid", "seed_uuid", "cycle"} }
