package engine

// Field is one named value of an agent's memory; Value is JSON text.
type Field struct {
	Name  string `cbor:"1,keyasint"`
	Value []byte `cbor:"2,keyasint"`
}

// Memory is what an agent remembers from cycle to cycle. An agent without any has none (nil).
type Memory struct {
	Fields []Field  `cbor:"1,keyasint,omitempty"`
	Notes  [][]byte `cbor:"2,keyasint,omitempty"` // JSON texts, oldest first
}

// Delta is what one session changes in its agent's memory.
type Delta struct {
	Set   []Field  `cbor:"1,keyasint,omitempty"`
	Notes [][]byte `cbor:"2,keyasint,omitempty"`
	Keep  int      `cbor:"3,keyasint,omitempty"` // how many notes are kept, the newest; 0 is DefaultNotes
}

// DefaultNotes is how many notes an agent keeps where its scenario does not say.
const DefaultNotes = 100

// Empty reports whether d changes nothing.
func (d *Delta) Empty() bool { return d == nil || len(d.Set) == 0 && len(d.Notes) == 0 && d.Keep == 0 }

// Apply returns the memory after d; m may be nil and is not changed.
func (m *Memory) Apply(d *Delta) *Memory {
	if d.Empty() {
		return m
	}
	var next Memory
	if m != nil {
		next.Fields = append(next.Fields, m.Fields...)
		next.Notes = append(next.Notes, m.Notes...)
	}
	for _, f := range d.Set {
		next.set(f)
	}
	next.Notes = append(next.Notes, d.Notes...)
	keep := d.Keep
	if keep <= 0 {
		keep = DefaultNotes
	}
	// A delta without notes does not know how many its scenario keeps.
	if n := len(next.Notes); n > keep && (len(d.Notes) > 0 || d.Keep > 0) {
		next.Notes = next.Notes[n-keep:]
	}
	return &next
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

// FieldList returns the fields of a memory that may be nil.
func (m *Memory) FieldList() []Field {
	if m == nil {
		return nil
	}
	return m.Fields
}
