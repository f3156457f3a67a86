package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Bounds of what is kept of a cycle, so that a large one takes some tens of megabytes.
const (
	keptEvents   = 2_000_000
	keptFailures = 20_000
	keptMessage  = 300 // bytes
	shownOldest  = 20
	shownEvents  = 50
)

// turns are the sessions of a cycle, as little of each as it takes to say who was doing what at any moment of it. It is
// for one goroutine.
type turns struct {
	cycle    int
	behind   int64 // in the journal: all up to here were added
	closed   bool  // no more come
	first    []turn
	again    map[int][]turn // further takes, in order
	events   []happening
	failures []failure
	texts    map[string]uint16 // of names of events and of paths, as sessions have them
	words    []string
	sorted   bool
}

// turn is a session: from and to are microseconds, and a zero from is none.
type turn struct {
	from, to int64
	state    engine.AgentState
}

// happening is an event that was emitted; name and path are indexes of words.
type happening struct {
	at         int64
	agent      int32
	name, path uint16
}

// failure is a session that failed or timed out.
type failure struct {
	at int64
	engine.ErrorNote
}

func newTurns(cycle, agents int) *turns {
	return &turns{cycle: cycle, first: make([]turn, agents), again: map[int][]turn{}, texts: map[string]uint16{}, sorted: true}
}

var endStates = [...]engine.AgentState{
	engine.OK: engine.AgentOK, engine.Stopped: engine.AgentStopped, engine.Failed: engine.AgentFailed,
	engine.TimedOut: engine.AgentTimedOut, engine.Cancelled: engine.AgentCancelled,
}

// add takes in a session. Takes of one agent come in order.
func (t *turns) add(r *engine.SessionRow) {
	if r.Agent >= len(t.first) || int(r.Outcome) >= len(endStates) || r.Started.IsZero() {
		return
	}
	from := r.Started.UnixMicro()
	one := turn{from, from + r.Total.Microseconds(), endStates[r.Outcome]}
	if t.first[r.Agent].from == 0 {
		t.first[r.Agent] = one
	} else {
		t.again[r.Agent] = append(t.again[r.Agent], one)
	}
	for i := range r.Events {
		if len(t.events) < keptEvents {
			t.events = append(t.events, happening{one.to, int32(r.Agent), t.word(r.Events[i].Name), t.word(r.Events[i].Path)})
		}
	}
	if (r.Outcome == engine.Failed || r.Outcome == engine.TimedOut) && len(t.failures) < keptFailures {
		n := engine.ErrorNote{Class: r.Class, Cycle: r.Cycle, Agent: r.Agent, Path: r.Path, Message: strings.ToValidUTF8(r.Error[:min(len(r.Error), keptMessage)], "")}
		t.failures = append(t.failures, failure{one.to, n})
	}
	t.sorted = false
}

// word is the index of a text; the last one stands for all that there is no room for.
func (t *turns) word(text string) uint16 {
	if i, ok := t.texts[text]; ok {
		return i
	}
	if len(t.words) == 1<<16-1 {
		return uint16(len(t.words) - 1)
	}
	t.texts[text] = uint16(len(t.words))
	t.words = append(t.words, text)
	return t.texts[text]
}

// sort brings what happened into the order of time; the journal nearly has it.
func (t *turns) sort() {
	if !t.sorted {
		slices.SortStableFunc(t.events, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
		slices.SortStableFunc(t.failures, func(a, b failure) int { return cmp.Compare(a.at, b.at) })
		t.sorted = true
	}
}

// last is the newest take of an agent that has begun at a moment; false where none has.
func (t *turns) last(agent int, at int64) (turn, bool) {
	one := t.first[agent]
	if one.from == 0 || at < one.from {
		return turn{}, false
	}
	for _, next := range t.again[agent] {
		if at >= next.from {
			one = next
		}
	}
	return one, true
}

// orders are what people ordered of agents up to a moment.
type orders struct {
	requeued map[int]int64 // of the cycle: when its session was ordered to run again, last
	retired  map[int]int   // from which cycle on
}

// ordered reads changes up to a moment.
func ordered(changes []engine.ChangeRow, cycle int, at time.Time) (orders, error) {
	o := orders{map[int]int64{}, nil}
	for i := range changes {
		c := &changes[i]
		if c.At.After(at) || c.What != engine.RetireChange && c.What != engine.RequeueChange {
			continue
		}
		var heard engine.Resumption
		if err := heard.Hear(c); err != nil {
			return o, err
		}
		for p := range heard.Requeued {
			if p.Cycle == cycle {
				o.requeued[p.Agent] = c.At.UnixMicro()
			}
		}
		for agent, from := range heard.Retired {
			if o.retired == nil {
				o.retired = map[int]int{}
			}
			o.retired[agent] = from
		}
	}
	return o, nil
}

// crowd is what every agent was doing at a moment. rests says who takes no part in the cycle.
func (t *turns) crowd(at time.Time, rests func(agent int) bool, o orders) *engine.Crowd {
	now := at.UnixMicro()
	c := &engine.Crowd{At: at, Cycle: t.cycle, States: make([]engine.AgentState, len(t.first))}
	for agent := range c.States {
		one, begun := t.last(agent, now)
		switch {
		case begun && now < one.to:
			c.States[agent] = engine.AgentInFlight
		case begun:
			c.States[agent] = one.state
			if when, ok := o.requeued[agent]; ok && when >= one.to && when <= now {
				c.States[agent] = engine.AgentWaiting
			}
		default:
			c.States[agent] = t.without(agent, rests, o)
		}
	}
	return c
}

// without is the state of an agent whose session has not begun.
func (t *turns) without(agent int, rests func(int) bool, o orders) engine.AgentState {
	if from, ok := o.retired[agent]; ok && from <= t.cycle {
		return engine.AgentRetired
	}
	if t.first[agent].from == 0 && rests(agent) {
		return engine.AgentResting
	}
	return engine.AgentWaiting
}

// oldest are the sessions in flight at a moment that began first.
func (t *turns) oldest(c *engine.Crowd) []engine.Doing {
	now := c.At.UnixMicro()
	var all []engine.Doing
	for agent, s := range c.States {
		if s != engine.AgentInFlight {
			continue
		}
		one, _ := t.last(agent, now)
		if n := len(all); n == shownOldest && one.from >= all[n-1].Began.UnixMicro() {
			continue
		}
		d := engine.Doing{Place: engine.Place{Cycle: t.cycle, Agent: agent}, Began: time.UnixMicro(one.from).UTC()}
		i, _ := slices.BinarySearchFunc(all, d, func(a, b engine.Doing) int { return a.Began.Compare(b.Began) })
		all = slices.Insert(all, i, d)
		all = all[:min(len(all), shownOldest)]
	}
	return all
}

// emitted are the newest events at a moment, oldest first, and how many there were in the cycle.
func (t *turns) emitted(at time.Time) (newest []engine.Emitted, count int) {
	t.sort()
	now := at.UnixMicro()
	count, _ = slices.BinarySearchFunc(t.events, now+1, func(h happening, at int64) int { return cmp.Compare(h.at, at) })
	for i := max(count-shownEvents, 0); i < count; i++ {
		h := &t.events[i]
		newest = append(newest, engine.Emitted{
			At: time.UnixMicro(h.at).UTC(), Cycle: t.cycle, Agent: int(h.agent), Path: engine.StepName(t.words[h.path]), Event: t.words[h.name],
		})
	}
	return newest, count
}

// failed are the last failures of each class at a moment.
func (t *turns) failed(at time.Time) map[engine.Class]engine.ErrorNote {
	t.sort()
	now, last := at.UnixMicro(), map[engine.Class]engine.ErrorNote{}
	for i := range t.failures {
		if t.failures[i].at > now {
			break
		}
		last[t.failures[i].Class] = t.failures[i].ErrorNote
	}
	return last
}
