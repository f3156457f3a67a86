package chain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// Memory is what a session sees of its agent's memory: as of the start of the cycle, with what it wrote itself.
// Fields that were never set are missing.
type Memory struct {
	base    *engine.Memory
	letters []engine.Letter         // that the session begins with, in the order of their arrival
	delta   engine.Delta            // what was written since, as far as it can be seen here
	own     *engine.Delta           // of a step of a group: what it wrote itself; else nil
	seen    map[string]script.Value // decoded or written
	read    script.Value            // the inbox, once decoded
	noted   script.Value            // the notes, once decoded, until others are written
	weight  int                     // at most, of what is remembered, in bytes; 0 is not known yet
}

// NewMemory returns the view of a session on its agent's memory; base may be nil.
func NewMemory(base *engine.Memory) *Memory {
	m := &Memory{}
	m.Reset(base, nil)
	return m
}

// Reset makes m the view of another session, which begins with messages from outside beside those in its inbox. A
// session that ends well has read them, whether it looked or not.
func (m *Memory) Reset(base *engine.Memory, outside []engine.Letter) {
	*m = Memory{base: base, letters: outside}
	if base != nil && len(base.Inbox) > 0 {
		m.letters = slices.Concat(base.Inbox, outside)
		slices.SortStableFunc(m.letters, func(a, b engine.Letter) int { return cmp.Compare(arrival(a), arrival(b)) })
	}
	m.delta.Read = len(m.letters) > 0
}

// arrival is the cycle that a letter is there for: what agents say takes one.
func arrival(l engine.Letter) int {
	if l.From == engine.Outside {
		return l.Cycle
	}
	return l.Cycle + 1
}

// Field implements script.Fields.
func (m *Memory) Field(name string) (script.Value, error) {
	if v, ok := m.seen[name]; ok {
		return v, nil
	}
	for _, fields := range [][]engine.Field{m.delta.Set, m.base.FieldList()} {
		for _, f := range fields {
			if f.Name != name {
				continue
			}
			v, err := script.DecodeJSON(f.Value)
			if err != nil {
				return nil, fmt.Errorf("the memory %s: %w", name, err)
			}
			m.keep(name, v)
			return v, nil
		}
	}
	return script.Missing, nil
}

// Names implements script.Fields.
func (m *Memory) Names() []string {
	var names []string
	for _, f := range m.base.Apply(&m.delta).FieldList() {
		names = append(names, f.Name)
	}
	return names
}

// Notes is the agent's list of notes, oldest first.
func (m *Memory) Notes() (script.Value, error) {
	if m.noted != nil {
		return m.noted, nil
	}
	after := m.base.Apply(&m.delta)
	if after == nil {
		return script.NewList(nil), nil
	}
	notes := make([]script.Value, len(after.Notes))
	for i, n := range after.Notes {
		var err error
		if notes[i], err = script.DecodeJSON(n); err != nil {
			return nil, fmt.Errorf("note %d: %w", i+1, err)
		}
	}
	m.noted = script.NewList(notes)
	return m.noted, nil
}

// Inbox is the list of messages that the session began with; name says how agents are called. What comes from outside
// has no sender.
func (m *Memory) Inbox(name func(agent int) (string, error)) (script.Value, error) {
	if m.read != nil {
		return m.read, nil
	}
	letters := make([]script.Value, len(m.letters))
	for i, l := range m.letters {
		var sender script.Value = starlark.None
		if l.From != engine.Outside {
			from, err := name(l.From)
			if err != nil {
				return nil, err
			}
			sender = starlark.String(from)
		}
		body, err := script.DecodeJSON(l.Body)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		said := body.(*script.Record) // as say wrote it
		text, _ := said.Field("text")
		data, _ := said.Field("data")
		letters[i] = inboxShape.Record(sender, starlark.MakeInt(l.Cycle), text, data)
	}
	m.read = script.NewList(letters)
	return m.read, nil
}

var inboxShape = script.NewShape("sender", "cycle", "text", "data")

// say keeps a message until the session has ended well.
func (m *Memory) say(message engine.Message) { m.write(&engine.Delta{Said: []engine.Message{message}}) }

func (m *Memory) keep(name string, v script.Value) {
	if m.seen == nil {
		m.seen = map[string]script.Value{}
	}
	m.seen[name] = v
}

// write adds to what was written.
func (m *Memory) write(d *engine.Delta) {
	add(&m.delta, d)
	m.noted = nil
	if m.weight > 0 {
		m.weight += weightOf(d.Set, d.Notes)
	}
	if m.own != nil {
		add(m.own, d)
	}
}

// add changes a delta as d does what came before.
func add(to, d *engine.Delta) {
	for _, f := range d.Set {
		if i := slices.IndexFunc(to.Set, func(g engine.Field) bool { return g.Name == f.Name }); i >= 0 {
			to.Set[i] = f
		} else {
			to.Set = append(to.Set, f)
		}
	}
	if d.Replace {
		to.Notes, to.Replace, to.Keep = nil, true, 0
	}
	to.Notes = append(to.Notes, d.Notes...)
	to.Said = append(to.Said, d.Said...)
	if d.Keep > 0 {
		to.Keep = d.Keep
	}
}

// fork makes of to a view that shows what m does and is written to without changing m.
func (m *Memory) fork(to *Memory) {
	*to = *m
	to.seen, to.own = nil, nil
	to.delta.Set, to.delta.Notes, to.delta.Said = slices.Clone(m.delta.Set), slices.Clone(m.delta.Notes), slices.Clone(m.delta.Said)
}

// join writes what a fork wrote.
func (m *Memory) join(d *engine.Delta) {
	for _, f := range d.Set {
		delete(m.seen, f.Name)
	}
	m.write(d)
}
