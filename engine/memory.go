package engine

import (
	"cmp"
	"slices"

	"github.com/throng-sim/throng/engine/retrieval"
)

// Field is one named value of an agent's memory; Value is JSON text.
type Field struct {
	Name  string `cbor:"1,keyasint"`
	Value []byte `cbor:"2,keyasint"`
}

// Memory is what an agent remembers from cycle to cycle. It is nil for an agent without memory.
type Memory struct {
	Fields []Field  `cbor:"1,keyasint,omitempty"`
	Notes  [][]byte `cbor:"2,keyasint,omitempty"` // JSON texts, oldest first
	// Inbox holds the messages since the agent's last session that ended well, ordered by cycle, sender and step.
	Inbox []Letter `cbor:"3,keyasint,omitempty"`
	// ReadTo is the cycle after the one in which the inbox was last read.
	ReadTo int              `cbor:"4,keyasint,omitempty"`
	Kept   []retrieval.Kept `cbor:"5,keyasint,omitempty"` // with notes, for recall; sorted by note
}

// Outside is the From of letters from outside the run.
const Outside = -1

// Letter is a message in an inbox.
type Letter struct {
	From  int    `cbor:"1,keyasint"` // agent
	Cycle int    `cbor:"2,keyasint"` // in which it was sent
	Body  []byte `cbor:"3,keyasint"` // JSON text
}

// Message is a message from a session to other agents.
type Message struct {
	To   []int  `cbor:"1,keyasint"` // agents
	Body []byte `cbor:"2,keyasint"` // JSON text
}

// Delta is the change that one session makes to its agent's memory.
type Delta struct {
	Set   []Field  `cbor:"1,keyasint,omitempty"`
	Notes [][]byte `cbor:"2,keyasint,omitempty"`
	Keep  int      `cbor:"3,keyasint,omitempty"` // number of latest notes to keep; 0 means DefaultNotes
	// Read empties the inbox that the session began with.
	Read bool      `cbor:"4,keyasint,omitempty"`
	Said []Message `cbor:"5,keyasint,omitempty"`
	// Replace means that Notes replace the agent's existing notes.
	Replace bool             `cbor:"6,keyasint,omitempty"`
	Kept    []retrieval.Kept `cbor:"7,keyasint,omitempty"` // changes for [retrieval.Merge]
}

// DefaultNotes is the number of notes an agent keeps unless its scenario sets one.
const DefaultNotes = 100

// MostLetters is the maximum number of messages in an inbox. The latest are kept.
const MostLetters = 1000

// Empty reports whether d changes nothing.
func (d *Delta) Empty() bool { return d == nil || !d.changes() && len(d.Said) == 0 }

// changes reports whether d changes its own agent's memory.
func (d *Delta) changes() bool {
	return len(d.Set) > 0 || len(d.Notes) > 0 || d.Keep != 0 || d.Read || d.Replace || len(d.Kept) > 0
}

// SortByTurn sorts agents by their turn in a cycle of a sequential run. The order is drawn from the seed.
func SortByTurn[T int | int32](agents []T, seed uint64, cycle int) {
	turn := func(agent T) uint64 { return SessionKey(seed, cycle, int(agent)).Text("turn").Source().Uint64() }
	slices.SortFunc(agents, func(a, b T) int { return cmp.Or(cmp.Compare(turn(a), turn(b)), cmp.Compare(a, b)) })
}

// Apply returns the memory after d, without the messages sent to the agent. m may be nil and is not changed.
func (m *Memory) Apply(d *Delta) *Memory { return m.ApplyFor(d, 0) }

// ApplyFor is Apply with room in an empty inbox for the letters that follow.
func (m *Memory) ApplyFor(d *Delta, letters int) *Memory {
	if d == nil || !d.changes() {
		return m
	}
	next := newMemory(max(len(m.FieldList()), len(d.Set)), letters)
	if m != nil {
		next.Fields = append(next.Fields, m.Fields...)
		if !d.Replace {
			next.Notes = append(next.Notes, m.Notes...)
		}
		next.ReadTo, next.Kept = m.ReadTo, m.Kept
		if !d.Read && len(m.Inbox) > 0 {
			next.Inbox = m.Inbox
		}
	}
	for _, f := range d.Set {
		next.set(f)
	}
	next.Notes = append(next.Notes, d.Notes...)
	keep := d.Keep
	if keep <= 0 {
		keep = DefaultNotes
	}
	// A delta without notes does not contain the scenario's number of notes.
	drop := len(next.Notes) - keep
	if drop < 0 || len(d.Notes) == 0 && d.Keep <= 0 {
		drop = 0
	}
	left := next.Notes[drop:]
	next.Notes, next.Kept = left, retrieval.Commit(next.Kept, d.Kept, next.Notes[:drop], left, d.Replace)
	return next
}

// newMemory returns an empty memory with room for fields and letters, in the same allocation if there is one of them.
func newMemory(fields, letters int) *Memory {
	switch {
	case fields == 1 && letters == 1:
		m := &struct {
			Memory
			field  [1]Field
			letter [1]Letter
		}{}
		m.Fields, m.Inbox = m.field[:0], m.letter[:0]
		return &m.Memory
	case fields == 1:
		m := &struct {
			Memory
			field [1]Field
		}{}
		m.Fields = m.field[:0]
		m.Inbox = slices.Grow([]Letter(nil), letters)
		return &m.Memory
	}
	return &Memory{Fields: slices.Grow([]Field(nil), fields), Inbox: slices.Grow([]Letter(nil), letters)}
}

func (m *Memory) set(f Field) {
	for i := range m.Fields {
		if m.Fields[i].Name == f.Name {
			m.Fields[i] = f
			return
		}
	}
	m.Fields = append(m.Fields, f)
}

// FieldList returns the fields of the memory; m may be nil.
func (m *Memory) FieldList() []Field {
	if m == nil {
		return nil
	}
	return m.Fields
}
