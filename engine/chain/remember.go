package chain

import (
	"context"
	"fmt"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
)

// remember writes to the agent's memory, all or nothing; its output is what it set. keep limits the notes by number. A
// list replaces all notes, as when a step consolidates them; note is added after it.
type remember struct {
	names  []string
	values []expr.Value
	shape  *value.Shape
	note   expr.Value
	keep   expr.Value // a number of notes, or a list of those to keep; nil for neither
}

// maxNotes is how many notes an agent can keep.
const maxNotes = 100_000

func readRemember(r *reader, n *doc.Node) action {
	m := &remember{note: r.Data(n.Get("note"), "note")}
	for _, e := range n.Get("set").Entries() {
		name := e.Key.Text()
		if !expr.IsName(name) {
			e.Key.Errorf(expr.NameHint, "%q cannot be the name of a memory", name)
		}
		m.names = append(m.names, name)
		m.values = append(m.values, r.Data(e.Value, "set."+name))
	}
	m.shape = value.NewShape(m.names...)
	if k := n.Get("keep"); k != nil {
		m.keep = r.Data(k, "keep")
		if c, ok := m.keep.(expr.Const); ok && c.V != nil {
			if _, err := keepingOf(c.V); err != nil {
				k.Errorf("", "%v", err)
			}
		}
	}
	if len(m.names) == 0 && m.note == nil && m.keep == nil {
		n.Errorf("`set: {name: value}` or `note: text`", "nothing to remember")
	}
	return m
}

func (m *remember) run(t *turn) (value.Value, error) {
	values := make([]value.Value, len(m.values))
	fields := make([]engine.Field, len(m.values))
	size := 0
	for i, of := range m.values {
		v, text, err := data(t, of)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > memory.Max {
			return nil, memory.TooMuch()
		}
		values[i], fields[i] = v, engine.Field{Name: m.names[i], Value: text}
	}
	keep, err := m.kept(t)
	if err != nil {
		return nil, err
	}
	note, err := m.noted(t)
	if err != nil {
		return nil, err
	}
	written := keep.delta()
	written.Set = fields
	if note != nil {
		written.Notes = append(written.Notes, note)
		t.x.kept += len(note)
	}
	view := t.x.in.Memory
	if err := view.Check(written); err != nil {
		return nil, err
	}
	if err := t.remembers(int64(memory.Size(written.Set, written.Notes))); err != nil {
		return nil, err
	}
	for i, f := range fields {
		view.Keep(f.Name, values[i])
	}
	view.Write(written)
	return m.shape.Record(values...), nil
}

// rememberFree is how much a step may write before it claims from the run's memory budget, in bytes. The rest counts
// only at the barrier.
const rememberFree = 16 << 10

// remembers claims memory for the agent's writes from the run's memory budget.
func (t *turn) remembers(n int64) error {
	if n <= rememberFree || t.x.s.TryRemember(n) {
		return nil
	}
	return t.throttled(func(ctx context.Context) error { return t.x.s.Remember(ctx, t.path, n) })
}

// noted evaluates note; nil means no note.
func (m *remember) noted(t *turn) ([]byte, error) {
	if m.note == nil {
		return nil, nil
	}
	v, text, err := data(t, m.note)
	if err != nil || v == starlark.None {
		return nil, err
	}
	return text, nil
}

// keeping is the number of newest notes to keep, or the list that replaces all notes.
type keeping struct {
	most  int      // 0 if unset
	notes [][]byte // JSON texts; nil if unset
}

// delta returns the change. Without an explicit number, more notes than the default may stay.
func (k keeping) delta() *engine.Delta {
	d := &engine.Delta{Keep: k.most}
	if k.notes != nil {
		d.Notes, d.Replace = k.notes, true
		if len(k.notes) > engine.DefaultNotes {
			d.Keep = len(k.notes)
		}
	}
	return d
}

// kept evaluates keep.
func (m *remember) kept(t *turn) (keeping, error) {
	if m.keep == nil {
		return keeping{}, nil
	}
	v, _, err := data(t, m.keep)
	if err != nil {
		return keeping{}, err
	}
	return keepingOf(v)
}

func keepingOf(v value.Value) (k keeping, err error) {
	switch v := v.(type) {
	case starlark.NoneType: // the list came from a step that did not run
		return k, nil
	case starlark.Int:
		if n, ok := v.Int64(); ok && n >= 1 && n <= maxNotes {
			k.most = int(n)
			return k, nil
		}
	case *starlark.List:
		if v.Len() > maxNotes {
			return k, fmt.Errorf("keep is a list of %d notes; at most %d", v.Len(), maxNotes)
		}
		k.notes = make([][]byte, v.Len())
		for i := range k.notes {
			if k.notes[i], err = value.AppendJSON(nil, v.Index(i)); err != nil {
				return k, err
			}
		}
		return k, nil
	}
	return k, fmt.Errorf("keep is %s; it must be a number from 1 to %d, or a list of the notes to keep", value.Shown(v), maxNotes)
}
