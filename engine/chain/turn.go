package chain

import (
	"context"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
)

// turn is one execution of a step: its position, the names it can see, and its record.
type turn struct {
	x     *execution
	step  *Step
	frame *pass
	path  string
	key   draw.Key // for its draws, once keyed
	keyed bool
	asked bool // a service, whose transport keeps the journal
	// connected means that it is in a connector, which sees the options passed by the step.
	connected bool
	options   value.Value
	more      map[string]value.Value // additional names for a verify; nil for none
	at        int                    // its record in the row
	timed     timed
	view      script.Context // field of the expression being evaluated
}

// pass is one execution of a block: the outputs of its steps so far, and the current step.
type pass struct {
	block   *Block
	owner   *turn // the step that contains the block; nil for a chain's body
	prefix  string
	paths   []string      // of the block's steps; nil if they are not known
	outputs []value.Value // outputs of the segments that have ended, in file order
	last    value.Value   // output of the last successful step; nil if there is none
	member  *member       // the group of the pass; nil unless it is one step of a group
	input   value.Value   // the chain whose body the block is, if a step runs it; else nil
	local   string        // the loop's variable; "" for none
	value   value.Value   // its value
	tool    bool          // its step is a tool, whose arguments are the input
	timed   *timed
	steps   value.Lazy // shows the steps to expressions
	turn    turn
}

// timed is a part of a session that may have its own clock, created on the first wait under it.
type timed struct {
	up    *timed
	of    *turn // nil is the chain's
	limit time.Duration
	clock *clock.Clock
}

// start returns the clock, creating the enclosing ones first.
func (t *timed) start(s *engine.Session) *clock.Clock {
	if t.clock == nil {
		up := s.Clock()
		if t.up != nil {
			up = t.up.start(s)
		}
		t.clock = up
		if t.limit > 0 {
			t.clock = up.Child(t.limit, t.overtime())
		}
	}
	return t.clock
}

func (t *timed) overtime() error {
	if t.of == nil {
		return &engine.TimeoutError{What: "chain", Limit: t.limit}
	}
	return &service.Overtime{Path: t.of.path, Limit: t.limit}
}

// stop stops the clock if it is t's own.
func (t *timed) stop() {
	if t.clock != nil && t.limit > 0 {
		t.clock.Stop()
	}
	t.clock = nil
}

// cause returns why time is over under t, or nil.
func (t *timed) cause() error {
	for ; t != nil; t = t.up {
		if t.clock == nil {
			continue
		}
		if ctx := t.clock.Context(); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return nil
	}
	return nil
}

// record returns the step's row. Do not keep it: other steps append to the rows.
func (t *turn) record() *engine.StepRecord { return &t.x.row.Steps[t.at] }

// clock returns the step's clock. Calling it marks the step as one that may wait.
func (t *turn) clock() *clock.Clock { return t.timed.start(t.x.s) }

// call returns a call of the step to a service.
func (t *turn) call(s *Service) *service.Call {
	call := &service.Call{Session: t.x.s, Clock: t.clock(), Path: t.path, Retry: t.retry(), Secrets: t.bound(s).Concealed}
	if s.Cookies {
		call.Cookies = &service.Cookies{Set: t.x.cookies.Of(s.Name)}
	}
	return call
}

// retry is the retry policy of the step.
func (t *turn) retry() engine.Retry { return t.step.retry.Over(t.x.s.Settings().Retry) }

// data evaluates a value as data; nil is missing.
func (t *turn) data(v expr.Value) (value.Value, error) {
	if v == nil {
		return value.Missing, nil
	}
	out, err := v.Eval(t)
	if err != nil {
		return nil, err
	}
	return value.Data(out)
}

// compute evaluates an expression as data, and counts its time as the step's own.
func (t *turn) compute(e *script.Expr, field string) (out value.Value, err error) {
	err = t.spent(func() error {
		out, err = e.Eval(t.Context(field))
		return err
	})
	if err != nil {
		return nil, err
	}
	return value.Data(out)
}

// Context returns the context for an expression in a field of the step, valid until the next call.
func (t *turn) Context(field string) *script.Context {
	v := &t.view
	v.Names, v.Field, v.Done, v.Evaluator = t, field, nil, t.x.scripts
	if v.Key, v.Path = t.key, ""; !t.keyed {
		v.Key, v.Path = t.x.key, t.path
	}
	if t.timed.clock != nil {
		t.view.Done = t.timed.clock.Context().Done()
	} else if ctx := t.x.s.Clocked(); ctx != nil {
		t.view.Done = t.clock().Context().Done()
	}
	return &t.view
}

// pathKey returns the key for the draws of the step.
func (t *turn) pathKey() draw.Key {
	if !t.keyed {
		t.key, t.keyed = t.x.key.Text(t.path), true
	}
	return t.key
}

// Lookup implements script.Names: the names that an expression of the step can see.
func (t *turn) Lookup(name string) (value.Value, error) {
	if name == "options" && t.connected {
		return t.options, nil
	}
	if v, ok := t.more[name]; ok {
		return v, nil
	}
	switch name {
	case "steps":
		t.frame.steps = *value.NewLazy("steps", visible{t.frame})
		return &t.frame.steps, nil
	case "previous":
		return t.previous(), nil
	}
	for p := t.frame; p != nil; p = p.up() {
		if p.local == name {
			return p.value, nil
		}
		if p.input != nil && name == "input" {
			return p.input, nil
		}
	}
	return t.x.in.World.Lookup(name)
}

// up returns the enclosing pass, as far as the current steps can see it.
func (p *pass) up() *pass {
	if p.owner == nil || p.input != nil {
		return nil
	}
	return p.owner.frame
}

// visible shows the steps that precede the current one in the plan, in this pass and the enclosing ones.
type visible struct{ p *pass }

// Field implements value.Fields.
func (v visible) Field(name string) (value.Value, error) {
	for p := v.p; p != nil; p = p.up() {
		if i, ok := p.block.index[name]; ok {
			if out := p.output(i); out != nil {
				return out, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // value.Fields: a missing field is not an error
}

// Names implements value.Fields.
func (v visible) Names() []string {
	var names []string
	for p := v.p; p != nil; p = p.up() {
		n := len(p.outputs)
		if p.member != nil {
			n = p.member.group.segment.to
		}
		for i, s := range p.block.Steps[:n] {
			if p.output(i) != nil {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

func itoa(i int) string { return strconv.Itoa(i) }
