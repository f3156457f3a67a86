package validation

import (
	"bytes"
	"encoding/json"
	"iter"
	"slices"

	tests "github.com/throng-sim/throng/engine/experiment/statistics"

	"github.com/throng-sim/throng/engine"
)

// Collector collects the figures of a run, session by session. It stores figures, not sessions.
type Collector struct {
	against *Against
	units   []units // by measure
	seen    []bool  // agents with a session
}

// units are the values of a measure, by agent, or in the order of sessions.
type units struct {
	all  []tally
	last int // the place of the current session
}

// tally sums up the values of a unit.
type tally struct {
	count, odd                 int
	sum, lowest, highest, last float64
	first                      float64
	text, firstText            string
	values                     []float64 // for a median only
}

// NewCollector returns a collector for the measures.
func (a *Against) NewCollector() *Collector {
	return &Collector{against: a, units: make([]units, len(a.Measures))}
}

// Add adds a session. Sessions come in the order of their cycles, and only the last take of each.
func (c *Collector) Add(r *engine.SessionRow) {
	for len(c.seen) <= r.Agent {
		c.seen = append(c.seen, false)
	}
	c.seen[r.Agent] = true
	for i := range c.against.Measures {
		m, u := &c.against.Measures[i], &c.units[i]
		at := r.Agent
		if m.Per == PerSession {
			at = u.last
			u.last++
		}
		for len(u.all) <= at {
			u.all = append(u.all, tally{})
		}
		u.all[at].session(m, r)
	}
}

// session adds what a session contributes to a measure.
func (t *tally) session(m *Measure, r *engine.SessionRow) {
	switch f := &m.figure; f.source {
	case fromActed:
		t.add(m, boolText(r.Acted))
	case fromOutcome:
		t.add(m, quoted(r.Outcome.String()))
	case fromCount, fromField:
		for i := range r.Events {
			if e := &r.Events[i]; e.Name != f.name {
				continue
			} else if f.source == fromCount {
				t.count++
			} else if data := below(e.Data, f.field); data != nil {
				t.add(m, data)
			}
		}
	case fromMemory, fromAgent: // at the end
	}
}

func boolText(b bool) []byte {
	if b {
		return []byte("true")
	}
	return []byte("false")
}

func quoted(text string) []byte {
	data, _ := json.Marshal(text) // a text
	return data
}

// below returns the value at a path of JSON data; nil if there is none, or null.
func below(data []byte, path []string) []byte {
	for _, name := range path {
		var fields map[string]json.RawMessage
		if json.Unmarshal(data, &fields) != nil {
			return nil
		}
		data = fields[name]
	}
	if data = bytes.TrimSpace(data); len(data) == 0 || string(data) == "null" {
		return nil
	}
	return data
}

// add adds a JSON value. true counts as 1 and false as 0 where numbers are compared.
func (t *tally) add(m *Measure, data []byte) {
	if m.Kind == Category {
		var text string
		if json.Unmarshal(data, &text) != nil {
			text = string(data)
		}
		if t.count == 0 {
			t.firstText = text
		}
		t.text, t.count = text, t.count+1
		return
	}
	var v float64
	switch {
	case string(data) == "true":
		v = 1
	case string(data) == "false":
	case json.Unmarshal(data, &v) != nil:
		t.odd++
		return
	}
	if t.count == 0 {
		t.first, t.lowest, t.highest = v, v, v
	}
	t.sum, t.lowest, t.highest, t.last, t.count = t.sum+v, min(t.lowest, v), max(t.highest, v), v, t.count+1
	if m.figure.statistic == "median" {
		t.values = append(t.values, v)
	}
}

// number returns the statistic of a unit.
func (t *tally) number(m *Measure) float64 {
	switch f := &m.figure; {
	case f.source == fromCount:
		return float64(t.count)
	case f.source == fromActed, f.statistic == "mean":
		return t.sum / float64(t.count)
	case f.statistic == "sum":
		return t.sum
	case f.statistic == "min":
		return t.lowest
	case f.statistic == "max":
		return t.highest
	case f.statistic == "first":
		return t.first
	case f.statistic == "median":
		slices.Sort(t.values)
		return tests.Quantile(0.5)(t.values)
	}
	return t.last
}

// Ending is what agents have after the last session.
type Ending struct {
	Memory  map[int]*engine.Memory
	Persona func(agent int) ([]engine.Fact, error)
}

// Needs reports whether a measure needs the memory of agents, and whether one needs their attributes.
func (a *Against) Needs() (memory, persona bool) {
	for i := range a.Measures {
		memory = memory || a.Measures[i].figure.source == fromMemory
		persona = persona || a.Measures[i].figure.source == fromAgent
	}
	return memory, persona
}

// Collect returns the figures of a run with these sessions, which come in the order of their cycles, by measure. end is called after the
// last one.
func (a *Against) Collect(sessions iter.Seq2[*engine.SessionRow, error], end func() (Ending, error)) ([]Values, error) {
	c := a.NewCollector()
	for row, err := range sessions {
		if err != nil {
			return nil, err
		}
		c.Add(row)
	}
	ending, err := end()
	if err != nil {
		return nil, err
	}
	return c.Values(ending)
}

// Values returns the figures of all units, by measure. Agents without a session are left out. The collector must not be used afterwards.
func (c *Collector) Values(end Ending) ([]Values, error) {
	all := make([]Values, len(c.units))
	for i := range c.units {
		m, u := &c.against.Measures[i], &c.units[i]
		for at := range u.all {
			if m.Per == PerAgent && !c.seen[at] {
				continue
			}
			t := &u.all[at]
			if err := t.end(m, at, &end); err != nil {
				return nil, err
			}
			all[i].add(m, t)
		}
	}
	return all, nil
}

// end adds what an agent has at the end.
func (t *tally) end(m *Measure, agent int, end *Ending) error {
	switch f := &m.figure; f.source {
	case fromMemory:
		memory := end.Memory[agent]
		if memory == nil {
			return nil
		}
		for i := range memory.Fields {
			if memory.Fields[i].Name == f.name {
				if data := below(memory.Fields[i].Value, f.field); data != nil {
					t.add(m, data)
				}
			}
		}
	case fromAgent:
		facts, err := end.Persona(agent)
		if err != nil {
			return err
		}
		for _, fact := range facts {
			if fact.Name == f.name {
				t.fact(m, fact.Value)
			}
		}
	case fromActed, fromOutcome, fromCount, fromField:
	}
	return nil
}

// fact adds an attribute, which is text or JSON.
func (t *tally) fact(m *Measure, text string) {
	data := []byte(text)
	if m.Kind == Category || !json.Valid(data) {
		data = quoted(text)
	}
	if data = below(data, m.figure.field); data != nil {
		t.add(m, data)
	}
}

// sums reports whether no values have a figure, too: 0.
func (m *Measure) sums() bool { return m.Kind == Number && m.figure.statistic == "sum" }

// add adds the figure of a unit.
func (v *Values) add(m *Measure, t *tally) {
	switch {
	case m.figure.source != fromCount && t.count == 0 && (t.odd > 0 || !m.sums()):
		v.Missing++
		if t.odd > 0 {
			v.Odd++
		}
	case m.Kind == Number:
		v.Numbers = append(v.Numbers, t.number(m))
	case m.figure.source == fromCount:
		v.Texts = append(v.Texts, string(countText(t.count)))
	case m.figure.statistic == "first":
		v.Texts = append(v.Texts, t.firstText)
	default:
		v.Texts = append(v.Texts, t.text)
	}
}

func countText(n int) []byte {
	text, _ := json.Marshal(n) // a number
	return text
}
