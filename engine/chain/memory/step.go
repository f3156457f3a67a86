package memory

import (
	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
)

// Step holds the keys of a remember step. It writes to the agent's memory, all or nothing; its output is what it set. keep limits the
// notes by number. A list replaces all notes, as when a step consolidates them; note is added after it.
type Step struct {
	Shape  *value.Shape // of its output
	names  []string
	values []expr.Value
	note   expr.Value
	keep   expr.Value // a number of notes, or a list of those to keep; nil for neither
}

// ReadStep reads the keys of a step.
func ReadStep(c *expr.Compiler, n *doc.Node) *Step {
	s := &Step{note: c.Data(n.Get("note"), "note")}
	for _, e := range n.Get("set").Entries() {
		name := e.Key.Text()
		if !expr.IsName(name) {
			e.Key.Errorf(expr.NameHint, "%q cannot be the name of a memory", name)
		}
		s.names = append(s.names, name)
		s.values = append(s.values, c.Data(e.Value, "set."+name))
	}
	s.Shape = value.NewShape(s.names...)
	if k := n.Get("keep"); k != nil {
		s.keep = c.Data(k, "keep")
		if c, ok := s.keep.(expr.Const); ok && c.V != nil {
			if _, err := keepingOf(c.V); err != nil {
				k.Errorf("", "%v", err)
			}
		}
	}
	if len(s.names) == 0 && s.note == nil && s.keep == nil {
		n.Errorf("`set: {name: value}` or `note: text`", "nothing to remember")
	}
	return s
}

// most is the length of the lists that a session may leave to the next one.
const most = 64

// Writing is what a step writes.
type Writing struct {
	Delta  engine.Delta
	Note   []byte        // the last of the delta's notes, if the step has one; else nil
	Values []value.Value // of the fields that it sets
}

// empty removes all references to data, and lists that have become long.
func (w *Writing) empty(long int) {
	set := w.Delta.Set
	clear(w.Values)
	clear(set)
	if cap(set) > long {
		w.Values, set = nil, nil
	}
	*w = Writing{Values: w.Values[:0], Delta: engine.Delta{Set: set[:0]}}
}

// Eval evaluates a step and returns what it writes to m, valid until the next call. data evaluates a value to data and to its JSON text.
func (s *Step) Eval(m *View, data func(of expr.Value) (value.Value, []byte, error)) (*Writing, error) {
	w := &m.draft
	w.empty(max(len(s.values), most))
	size := 0
	for i, of := range s.values {
		v, text, err := data(of)
		if err != nil {
			return nil, err
		}
		if size += len(text); size > Max {
			return nil, TooMuch()
		}
		w.Values, w.Delta.Set = append(w.Values, v), append(w.Delta.Set, engine.Field{Name: s.names[i], Value: text})
	}
	keep := keeping{}
	if s.keep != nil {
		v, _, err := data(s.keep)
		if err != nil {
			return nil, err
		}
		if keep, err = keepingOf(v); err != nil {
			return nil, err
		}
	}
	keep.apply(&w.Delta)
	if s.note == nil {
		return w, nil
	}
	v, text, err := data(s.note)
	if err != nil {
		return nil, err
	}
	if v != starlark.None {
		w.Note, w.Delta.Notes = text, append(w.Delta.Notes, text)
	}
	return w, nil
}

// Show shows a session what a step wrote to m.
func (s *Step) Show(m *View, w *Writing) {
	for i, name := range s.names {
		m.Keep(name, w.Values[i])
	}
}
