// Package outcomes sums up what the sessions of a run emitted, for people: events over the cycles, the numbers in their
// data, the shares of their texts, and how many sessions acted by attribute of their agents.
package outcomes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/throng-sim/throng/engine"
)

// SurveyAnswer is the event with the answers of one agent to a survey. A scenario that counts it as acted is a survey.
const SurveyAnswer = "survey_answer"

// Limits of what is summed up. Everything beyond them is left out.
const (
	mostEvents     = 20     // names
	mostFields     = 12     // of an event, of each kind
	mostValues     = 8      // of a text or an attribute; with more it is not a category
	mostText       = 40     // bytes of such a value
	mostAttributes = 6      //
	mostAgents     = 20_000 // whose attributes are read
)

// Outcomes are the results of a run.
type Outcomes struct {
	Clock    engine.Clock
	Sessions int64
	Acted    string  // the event that counts as acted; "" if the scenario names none
	Cycles   []int   // with sessions, ascending
	Events   []Event // the most frequent first
	Groups   []Group // by attribute of agents
	Cut      bool    // there are more names of events
}

// Event is what is known about the events of one name. PerCycle has a value for each of the cycles.
type Event struct {
	Name     string
	Count    int64
	PerCycle []float64
	Numbers  []Number
	Shares   []Share
}

// Number is a field with numbers. PerCycle are the means; NaN in cycles without a value.
type Number struct {
	Field         string
	Count         int64
	Sum, Min, Max float64
	PerCycle      []float64
	cycleN        []int64
	cycleSum      []float64
}

// Mean returns the mean.
func (n *Number) Mean() float64 { return n.Sum / float64(n.Count) }

// Share is a field whose values are few texts, such as the sentiment of an opinion.
type Share struct {
	Field  string
	Count  int64   // of all values
	Values []Value // the most frequent first
	over   bool    // it has too many values
}

// Group is an attribute of agents with few values. Count are the sessions that acted, of all sessions of these agents.
type Group struct {
	Attribute string
	Values    []Value
}

// Value is a text with the number of its occurrences among some.
type Value struct {
	Text      string
	Count, Of int64
}

// Collector sums up sessions. Persona returns the attributes of an agent; nil leaves out groups.
type Collector struct {
	Clock   engine.Clock
	Acted   string
	Persona func(agent int) ([]engine.Fact, error)

	out    Outcomes
	events map[string]*Event
	fields Fields
	agents map[int]*agent
	lost   bool // there are too many agents for groups
}

// agent counts the sessions of an agent.
type agent struct{ sessions, acted int64 }

// Add adds the next session. They come in the order of cycles.
func (c *Collector) Add(r *engine.SessionRow) {
	if c.events == nil {
		c.events, c.agents = map[string]*Event{}, map[int]*agent{}
	}
	c.out.Sessions++
	if n := len(c.out.Cycles); n == 0 || c.out.Cycles[n-1] != r.Cycle {
		c.out.Cycles = append(c.out.Cycles, r.Cycle)
	}
	if c.Persona != nil && !c.lost {
		a := c.agents[r.Agent]
		if a == nil {
			a = &agent{}
			c.agents[r.Agent] = a
			c.lost = len(c.agents) > mostAgents
		}
		a.sessions++
		if r.Acted {
			a.acted++
		}
	}
	for i := range r.Events {
		c.event(&r.Events[i])
	}
}

func (c *Collector) event(e *engine.Event) {
	of := c.events[e.Name]
	if of == nil {
		if len(c.events) == mostEvents {
			c.out.Cut = true
			return
		}
		of = &Event{Name: e.Name}
		c.events[e.Name] = of
	}
	at := len(c.out.Cycles) - 1
	of.Count++
	of.PerCycle = grown(of.PerCycle, at)
	of.PerCycle[at]++
	c.fields.Split(e.Data)
	for i, key := range c.fields.Keys {
		value := c.fields.Values[i]
		if number, err := strconv.ParseFloat(string(value), 64); err == nil && (value[0] == '-' || value[0] >= '0' && value[0] <= '9') {
			of.number(key, number, at)
			continue
		}
		var text any
		if json.Unmarshal(value, &text) != nil {
			continue
		}
		switch text := text.(type) {
		case string:
			of.text(key, text)
		case bool:
			of.text(key, strconv.FormatBool(text))
		}
	}
}

// grown returns a list with a value at an index.
func grown[T any](list []T, at int) []T {
	for len(list) <= at {
		var zero T
		list = append(list, zero)
	}
	return list
}

func (e *Event) number(key []byte, v float64, at int) {
	i := slices.IndexFunc(e.Numbers, func(n Number) bool { return n.Field == string(key) })
	if i < 0 {
		if len(e.Numbers) == mostFields {
			return
		}
		i = len(e.Numbers)
		e.Numbers = append(e.Numbers, Number{Field: string(key), Min: v, Max: v})
	}
	n := &e.Numbers[i]
	n.Count++
	n.Sum, n.Min, n.Max = n.Sum+v, min(n.Min, v), max(n.Max, v)
	n.cycleN, n.cycleSum = grown(n.cycleN, at), grown(n.cycleSum, at)
	n.cycleN[at]++
	n.cycleSum[at] += v
}

func (e *Event) text(key []byte, text string) {
	i := slices.IndexFunc(e.Shares, func(s Share) bool { return s.Field == string(key) })
	if i < 0 {
		if len(e.Shares) == mostFields {
			return
		}
		i = len(e.Shares)
		e.Shares = append(e.Shares, Share{Field: string(key)})
	}
	s := &e.Shares[i]
	if s.over {
		return
	}
	s.Count++
	s.Values, s.over = counted(s.Values, text, 1, 0)
}

// counted adds to the count of a value. The result is true if the values are too many, or too long, for a category.
func counted(values []Value, text string, count, of int64) ([]Value, bool) {
	i := slices.IndexFunc(values, func(v Value) bool { return v.Text == text })
	if i < 0 {
		if len(values) == mostValues || len(text) > mostText {
			return nil, true
		}
		i = len(values)
		values = append(values, Value{Text: text})
	}
	values[i].Count += count
	values[i].Of += of
	return values, false
}

// Outcomes returns the sums. The collector must not be used afterwards.
func (c *Collector) Outcomes() (*Outcomes, error) {
	out := &c.out
	out.Clock, out.Acted = c.Clock, c.Acted
	for _, e := range c.events {
		e.close(len(out.Cycles))
		out.Events = append(out.Events, *e)
	}
	slices.SortFunc(out.Events, func(a, b Event) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Name, b.Name)) })
	return out, c.group()
}

// close completes the lists of an event.
func (e *Event) close(cycles int) {
	if cycles > 0 {
		e.PerCycle = grown(e.PerCycle, cycles-1)
	}
	for i := range e.Numbers {
		n := &e.Numbers[i]
		n.PerCycle = make([]float64, cycles)
		for k := range n.PerCycle {
			n.PerCycle[k] = math.NaN()
			if k < len(n.cycleN) && n.cycleN[k] > 0 {
				n.PerCycle[k] = n.cycleSum[k] / float64(n.cycleN[k])
			}
		}
	}
	e.Shares = slices.DeleteFunc(e.Shares, func(s Share) bool { return s.over || len(s.Values) < 2 })
	for i := range e.Shares {
		s := &e.Shares[i]
		for k := range s.Values {
			s.Values[k].Of = s.Count
		}
		slices.SortStableFunc(s.Values, func(a, b Value) int { return cmp.Compare(b.Count, a.Count) })
	}
}

// group sums up the sessions by attribute.
func (c *Collector) group() error {
	if c.Persona == nil || c.lost {
		return nil
	}
	type attribute struct {
		Group
		over bool
	}
	var all []attribute
	for index, a := range c.agents {
		facts, err := c.Persona(index)
		if err != nil {
			return err
		}
		for _, f := range facts {
			i := slices.IndexFunc(all, func(g attribute) bool { return g.Attribute == f.Name })
			if i < 0 {
				i = len(all)
				all = append(all, attribute{Group: Group{Attribute: f.Name}})
			}
			if !all[i].over {
				all[i].Values, all[i].over = counted(all[i].Values, f.Value, a.acted, a.sessions)
			}
		}
	}
	slices.SortFunc(all, func(a, b attribute) int { return cmp.Compare(a.Attribute, b.Attribute) })
	for _, g := range all {
		if g.over || len(g.Values) < 2 || len(c.out.Groups) == mostAttributes {
			continue
		}
		slices.SortFunc(g.Values, func(a, b Value) int { return cmp.Compare(a.Text, b.Text) })
		c.out.Groups = append(c.out.Groups, g.Group)
	}
	return nil
}

// Share returns Count as a part of Of, from 0 to 1.
func (v Value) Share() float64 { return float64(v.Count) / float64(max(v.Of, 1)) }

// Describe formats the count and its share.
func (v Value) Describe() string {
	return fmt.Sprintf("%s of %s (%.0f%%)", engine.FormatCount(v.Count), engine.FormatCount(v.Of), 100*v.Share())
}

// ShareTitle names the shares of a field.
func (e *Event) ShareTitle(s *Share) string { return e.Name + " by " + s.Field }

// GroupTitle names the sessions that acted by an attribute.
func (o *Outcomes) GroupTitle(g *Group) string {
	what := "Sessions that acted"
	if o.Acted != "" {
		what = "Sessions with " + o.Acted
	}
	return what + " by " + g.Attribute
}
