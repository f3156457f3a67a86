package history

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Bounds that keep a large cycle within tens of megabytes.
const (
	keptEvents   = 2_000_000
	keptFailures = 20_000
	keptMessage  = 300 // bytes
	shownOldest  = 20
	shownEvents  = 50
)

// turns holds the sessions of a cycle, reduced to what is needed for the state of each agent at any moment. It is not safe
// for concurrent use.
type turns struct {
	cycle    int
	behind   int64 // position in the journal up to which sessions were added
	closed   bool  // complete
	first    []turn
	again    map[int][]turn // further takes, in order
	events   []happening
	failures []failure
	texts    map[string]uint16 // indexes of words, by event name or path
	words    []string
	sorted   bool
}

// turn is a session. Its times are microseconds; a zero from means that there is no session.
type turn struct {
	from, to int64
	state    engine.AgentState
}

// happening is an emitted event; name and path are indexes into words.
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
	engine.TimedOut: engine.AgentTimedOut, engine.Canceled: engine.AgentCanceled,
}

// add adds a session. The takes of an agent must be in order.
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

// word returns the index of a text. When all indexes are used, further texts share the last one.
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

// sort sorts events and failures by time. The journal is almost sorted.
func (t *turns) sort() {
	if !t.sorted {
		slices.SortStableFunc(t.events, func(a, b happening) int { return cmp.Compare(a.at, b.at) })
		slices.SortStableFunc(t.failures, func(a, b failure) int { return cmp.Compare(a.at, b.at) })
		t.sorted = true
	}
}

// last returns the newest take of an agent that has started by a moment; false if there is none.
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

// orders are the users' orders to agents up to a moment.
type orders struct {
	requeued map[int]int64 // time of the last order to retry a session of the cycle, by agent
	retired  map[int]int   // first cycle without the agent, by agent
}

// ordered reads the orders up to a moment.
func ordered(changes []engine.ChangeRow, cycle int, at time.Time) (orders, error) {
	o := orders{map[int]int64{}, nil}
	for i := range changes {
		c := &changes[i]
		if c.At.After(at) || c.What != engine.RetireChange && c.What != engine.RequeueChange {
			continue
		}
		var order engine.Resumption
		if err := order.Apply(c); err != nil {
			return o, err
		}
		for p := range order.Requeued {
			if p.Cycle == cycle {
				o.requeued[p.Agent] = c.At.UnixMicro()
			}
		}
		for agent, from := range order.Retired {
			if o.retired == nil {
				o.retired = map[int]int{}
			}
			o.retired[agent] = from
		}
	}
	return o, nil
}

// crowd returns the state of every agent at a moment. rests reports agents that are not active in the cycle.
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

// without returns the state of an agent whose session has not started.
func (t *turns) without(agent int, rests func(int) bool, o orders) engine.AgentState {
	if from, ok := o.retired[agent]; ok && from <= t.cycle {
		return engine.AgentRetired
	}
	if t.first[agent].from == 0 && rests(agent) {
		return engine.AgentResting
	}
	return engine.AgentWaiting
}

// oldest returns the longest-running sessions in flight at a moment.
func (t *turns) oldest(c *engine.Crowd) []engine.Activity {
	now := c.At.UnixMicro()
	var all []engine.Activity
	for agent, s := range c.States {
		if s != engine.AgentInFlight {
			continue
		}
		one, _ := t.last(agent, now)
		if n := len(all); n == shownOldest && one.from >= all[n-1].Began.UnixMicro() {
			continue
		}
		d := engine.Activity{Place: engine.Place{Cycle: t.cycle, Agent: agent}, Began: time.UnixMicro(one.from).UTC()}
		i, _ := slices.BinarySearchFunc(all, d, func(a, b engine.Activity) int { return a.Began.Compare(b.Began) })
		all = slices.Insert(all, i, d)
		all = all[:min(len(all), shownOldest)]
	}
	return all
}

// emitted returns the newest events up to a moment, oldest first, and the number of events in the cycle.
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

// failed returns the last failure of each class up to a moment.
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
