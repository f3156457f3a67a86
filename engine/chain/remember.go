package chain

import (
	"bytes"
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/memory"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/value"
)

// remember is a remember step.
type remember struct {
	step    *memory.Step
	recalls *bool // steps of the file recall notes; known when all are read
}

func readRemember(r *reader, n *doc.Node) action {
	return &remember{memory.ReadStep(&r.Compiler, n), recalling(r.Reader)}
}

func (m *remember) run(t *turn) (value.Value, error) {
	w, err := m.step.Eval(t.x.in.Memory, func(of expr.Value) (value.Value, []byte, error) {
		v, err := t.data(of)
		if err != nil {
			return nil, nil, err
		}
		if text := value.ShortJSON(v); text != nil {
			return v, text, nil
		}
		t.x.text, err = value.AppendJSON(t.x.text[:0], v)
		return v, bytes.Clone(t.x.text), err
	})
	if err != nil {
		return nil, err
	}
	t.x.kept += len(w.Note)
	if *m.recalls {
		t.x.in.Memory.Date(w, t.x.s.Cycle)
	}
	if err := t.writes(&w.Delta); err != nil {
		return nil, err
	}
	m.step.Show(t.x.in.Memory, w)
	return t.x.output(t, m.step.Shape, w.Values...), nil
}

// writes adds to the agent's memory, within its limit and the run's memory budget.
func (t *turn) writes(d *engine.Delta) error {
	if err := t.x.in.Memory.Check(d); err != nil {
		return err
	}
	if err := t.remembers(int64(memory.Size(d.Set, d.Notes, d.Kept))); err != nil {
		return err
	}
	t.x.in.Memory.Write(d)
	return nil
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
