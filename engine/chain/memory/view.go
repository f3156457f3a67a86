// Package memory is a session's view of its agent's memory.
package memory

import (
	"cmp"
	"fmt"
	"slices"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/retrieval"
	"github.com/throng-sim/throng/engine/script/value"
)

// View is a session's view of its agent's memory: its state at the start of the cycle, plus its own writes. Fields that
// were never set are missing.
type View struct {
	base    *engine.Memory
	letters []engine.Letter // messages at the start of the session, in order of arrival
	Delta   engine.Delta    // writes that are visible here
	Own     *engine.Delta   // for a step of a group: its own writes; else nil
	seen    []seen          // decoded or written
	read    value.Value     // the inbox, once decoded
	noted   value.Value     // the notes, once decoded, until changed
	weight  int             // upper bound of the remembered bytes; 0 is not known yet
	draft   Writing         // of the step that is writing
	rooms
}

// New returns a session's view of its agent's memory; base may be nil.
func New(base *engine.Memory) *View {
	m := &View{}
	m.Begin(base, nil)
	return m
}

// Begin makes an empty view that of a session, which starts with its inbox and messages from outside. A session that
// succeeds has read them all.
func (m *View) Begin(base *engine.Memory, outside []engine.Letter) {
	m.base, m.letters = base, outside
	if base != nil && len(base.Inbox) > 0 {
		m.letters = base.Inbox
		if len(outside) > 0 {
			m.letters = slices.Concat(base.Inbox, outside)
		}
		if !slices.IsSortedFunc(m.letters, byArrival) {
			m.letters = slices.SortedStableFunc(slices.Values(m.letters), byArrival)
		}
	}
	m.Delta.Read = len(m.letters) > 0
}

// Reset empties m after a session, for another one.
func (m *View) Reset() {
	if clear(m.seen); cap(m.seen) > most {
		m.seen = nil
	}
	m.draft.empty(most)
	m.base, m.letters, m.Delta, m.Own, m.seen = nil, nil, engine.Delta{}, nil, m.seen[:0]
	m.read, m.noted, m.weight = nil, nil, 0
}

// byArrival orders letters by their arrival.
func byArrival(a, b engine.Letter) int { return cmp.Compare(arrival(a), arrival(b)) }

// arrival is the cycle in which a letter can be read: messages from agents arrive one cycle later.
func arrival(l engine.Letter) int {
	if l.From == engine.Outside {
		return l.Cycle
	}
	return l.Cycle + 1
}

// Field implements value.Fields.
func (m *View) Field(name string) (value.Value, error) {
	if i := m.find(name); i >= 0 {
		return m.seen[i].value, nil
	}
	for _, fields := range [][]engine.Field{m.Delta.Set, m.base.FieldList()} {
		for _, f := range fields {
			if f.Name != name {
				continue
			}
			v, err := value.DecodeJSON(f.Value)
			if err != nil {
				return nil, fmt.Errorf("the memory %s: %w", name, err)
			}
			m.Keep(name, v)
			return v, nil
		}
	}
	return value.Missing, nil
}

// Names implements value.Fields.
func (m *View) Names() []string {
	var names []string
	for _, f := range m.base.Apply(&m.Delta).FieldList() {
		names = append(names, f.Name)
	}
	return names
}

// Notes returns the agent's list of notes, oldest first.
func (m *View) Notes() (value.Value, error) {
	if m.noted != nil {
		return m.noted, nil
	}
	after := m.Now()
	notes := make([]value.Value, len(after.Notes))
	for i, n := range after.Notes {
		var err error
		if notes[i], err = value.DecodeJSON(n); err != nil {
			return nil, fmt.Errorf("note %d: %w", i+1, err)
		}
	}
	m.noted = value.NewList(notes)
	return m.noted, nil
}

// Now returns the memory with the session's writes. The caller must not modify it.
func (m *View) Now() *engine.Memory {
	if after := m.base.Apply(&m.Delta); after != nil {
		return after
	}
	return &engine.Memory{}
}

// Inbox returns the messages at the start of the session; name returns an agent's id. Messages from outside have no
// sender.
func (m *View) Inbox(name func(agent int) (string, error)) (value.Value, error) {
	if m.read != nil {
		return m.read, nil
	}
	letters := make([]value.Value, len(m.letters))
	for i, l := range m.letters {
		var sender value.Value = starlark.None
		if l.From != engine.Outside {
			from, err := name(l.From)
			if err != nil {
				return nil, err
			}
			sender = starlark.String(from)
		}
		body, err := value.DecodeJSON(l.Body)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		said := body.(*value.Record) // as say wrote it
		text, _ := said.Field("text")
		data, _ := said.Field("data")
		letters[i] = inboxShape.Record(sender, starlark.MakeInt(l.Cycle), text, data)
	}
	m.read = value.NewList(letters)
	return m.read, nil
}

// Letters returns the number of messages of the inbox.
func (m *View) Letters() int { return len(m.letters) }

var inboxShape = value.NewShape("sender", "cycle", "text", "data")

// Say holds a message until the session succeeds.
func (m *View) Say(message engine.Message) {
	if m.Own != nil {
		m.Own.Said = append(m.Own.Said, message)
	} else if m.Delta.Said == nil {
		m.Delta.Said = begun(&m.said)
	}
	m.Delta.Said = append(m.Delta.Said, message)
}

// seen is a field that was decoded or written.
type seen struct {
	name  string
	value value.Value
}

// find returns the place of a field in what was seen, or -1.
func (m *View) find(name string) int {
	return slices.IndexFunc(m.seen, func(s seen) bool { return s.name == name })
}

// Keep sets a field of the memory.
func (m *View) Keep(name string, v value.Value) {
	if i := m.find(name); i >= 0 {
		m.seen[i].value = v
		return
	}
	m.seen = append(m.seen, seen{name, v})
}

// Write adds to the session's writes.
func (m *View) Write(d *engine.Delta) {
	if m.Own == nil && m.Delta.Set == nil && len(d.Set) > 0 {
		m.Delta.Set = begun(&m.set)
	}
	add(&m.Delta, d)
	m.noted = nil
	if m.weight > 0 {
		m.weight += Size(d.Set, d.Notes, d.Kept)
	}
	if m.Own != nil {
		add(m.Own, d)
	}
}

// add applies d after the earlier changes.
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
	to.Kept = retrieval.Merge(to.Kept, d.Kept)
	if d.Keep > 0 {
		to.Keep = d.Keep
	}
}

// Fork makes of a view of the same content whose writes do not change m.
func (m *View) Fork(to *View) {
	*to = *m
	to.seen, to.Own, to.draft, to.rooms = nil, nil, Writing{}, rooms{}
	to.Delta.Set, to.Delta.Notes, to.Delta.Said = slices.Clone(m.Delta.Set), slices.Clone(m.Delta.Notes), slices.Clone(m.Delta.Said)
}

// Join applies a fork's writes.
func (m *View) Join(d *engine.Delta) {
	for _, f := range d.Set {
		m.seen = slices.DeleteFunc(m.seen, func(s seen) bool { return s.name == f.Name })
	}
	m.Write(d)
}

const (
	// Max limits an agent's memory, including notes.
	Max = 4 << 20
)

// Check returns an error if a step writes more than an agent may remember.
func (m *View) Check(more *engine.Delta) error {
	if m.weight == 0 {
		m.weight = 1
		if m.base != nil {
			m.weight += Size(m.base.Fields, m.base.Notes, m.base.Kept)
		}
	}
	if m.weight+Size(more.Set, more.Notes, more.Kept) <= Max {
		return nil // even if none of it replaced existing memory
	}
	after := engine.Delta{Set: slices.Clone(m.Delta.Set), Notes: slices.Clone(m.Delta.Notes), Keep: m.Delta.Keep, Replace: m.Delta.Replace, Kept: m.Delta.Kept}
	add(&after, more)
	if all := m.base.Apply(&after); Size(all.Fields, all.Notes, all.Kept) > Max {
		return TooMuch()
	}
	return nil
}

// TooMuch returns the error of an agent that remembers more than Max bytes.
func TooMuch() error {
	return engine.Fail(engine.Script, "the agent would remember more than %d MB; `keep` bounds its notes, and `dimensions` of a recall step their embeddings", Max>>20)
}

// Size returns the size of fields, notes, and what is kept with notes, in bytes.
func Size(fields []engine.Field, notes [][]byte, kept []retrieval.Kept) int {
	n := retrieval.Size(kept)
	for _, f := range fields {
		n += len(f.Name) + len(f.Value)
	}
	for _, note := range notes {
		n += len(note)
	}
	return n
}
