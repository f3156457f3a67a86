package chain

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"go.starlark.net/starlark"
)

// remember writes to the agent's memory, all or nothing; its output is what it set.
type remember struct {
	names  []string
	values []Value
	shape  *script.Shape
	note   Value
	keep   int
}

func readRemember(r *reader, n *doc.Node) action {
	m := &remember{note: r.value(n.Get("note"), "note")}
	for _, e := range n.Get("set").Entries() {
		name := e.Key.Text()
		if !IsName(name) {
			e.Key.Errorf(NameHint, "%q cannot be the name of a memory", name)
		}
		m.names = append(m.names, name)
		m.values = append(m.values, r.value(e.Value, "set."+name))
	}
	m.shape = script.NewShape(m.names...)
	if k := n.Get("keep"); k != nil {
		m.keep = k.Int(1, 100_000)
	}
	if len(m.names) == 0 && m.note == nil && m.keep == 0 {
		n.Errorf("`set: {name: value}` or `note: text`", "nothing to remember")
	}
	return m
}

func (m *remember) run(t *turn) (script.Value, error) {
	values := make([]script.Value, len(m.values))
	fields := make([]engine.Field, len(m.values))
	size := 0
	for i, of := range m.values {
		v, text, err := data(t, of)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > maxMemory {
			return nil, tooMuchMemory()
		}
		values[i], fields[i] = v, engine.Field{Name: m.names[i], Value: text}
	}
	written := &engine.Delta{Set: fields, Keep: m.keep}
	if m.note != nil {
		v, text, err := data(t, m.note)
		if err != nil {
			return nil, err
		}
		if v != starlark.None {
			written.Notes = [][]byte{text}
			t.x.kept += len(text)
		}
	}
	memory := t.x.in.Memory
	if err := memory.check(written); err != nil {
		return nil, err
	}
	for i, f := range fields {
		memory.keep(f.Name, values[i])
	}
	memory.write(written)
	return m.shape.Record(values...), nil
}
