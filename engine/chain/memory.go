package chain

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// Memory is what a session sees of its agent's memory: as of the start of the cycle, with what it wrote itself.
// Fields that were never set are missing.
type Memory struct {
	base  *engine.Memory
	delta engine.Delta
	seen  map[string]script.Value // decoded or written
}

// NewMemory returns the view of a session on its agent's memory; base may be nil.
func NewMemory(base *engine.Memory) *Memory { return &Memory{base: base} }

// Field implements script.Fields.
func (m *Memory) Field(name string) (script.Value, error) {
	if v, ok := m.seen[name]; ok {
		return v, nil
	}
	if m.base != nil {
		for _, f := range m.base.Fields {
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
	return script.NewList(notes), nil
}

func (m *Memory) keep(name string, v script.Value) {
	if m.seen == nil {
		m.seen = map[string]script.Value{}
	}
	m.seen[name] = v
}

// set writes a field.
func (m *Memory) set(name string, v script.Value) error {
	text, err := script.AppendJSON(nil, v)
	if err != nil {
		return err
	}
	m.keep(name, v)
	m.delta.Set = append(m.delta.Set, engine.Field{Name: name, Value: text})
	return nil
}

// note appends to the notes; keep is how many stay, 0 as before.
func (m *Memory) note(v script.Value, keep int) error {
	if v != nil && v != starlark.None {
		text, err := script.AppendJSON(nil, v)
		if err != nil {
			return err
		}
		m.delta.Notes = append(m.delta.Notes, text)
	}
	if keep > 0 {
		m.delta.Keep = keep
	}
	return nil
}
