package chain

import (
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
)

// remember writes to the agent's memory; its output is what it set.
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
		if !Identifier.MatchString(name) {
			e.Key.Errorf("letters, digits and _", "%q cannot be the name of a memory", name)
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
	for i, v := range m.values {
		var err error
		if values[i], err = v.Eval(t); err != nil {
			return nil, err
		}
	}
	memory := t.x.in.Memory
	for i, name := range m.names {
		if err := memory.set(name, values[i]); err != nil {
			return nil, err
		}
	}
	var note script.Value
	if m.note != nil {
		var err error
		if note, err = m.note.Eval(t); err != nil {
			return nil, err
		}
	}
	if err := memory.note(note, m.keep); err != nil {
		return nil, err
	}
	return m.shape.Record(values...), nil
}
