package chain

import (
	"context"
	"strconv"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/clock"
	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/service"
)

// turn is one execution of a step: where it stands, what it can see, and its record.
type turn struct {
	x     *execution
	step  *Step
	frame *pass
	path  string
	key   draw.Key // of the path, once keyed
	keyed bool
	asked bool // a service, whose transport keeps the journal
	// connected says that it is in a connector, which sees the options that the step hands over.
	connected bool
	options   script.Value
	more      map[string]script.Value // what a verify sees besides; nil is nothing
	at        int                     // its record in the row
	timed     timed
	view      script.Context // of the expression being evaluated
}

// pass is one way through a block: the outputs of its steps so far, and the step under way.
type pass struct {
	block   *Block
	owner   *turn // the step that the block belongs to; nil in a chain's body
	prefix  string
	outputs []script.Value // of the segments that have ended, in file order
	last    script.Value   // of the last step that ended ok; nil is none
	member  *member        // of a group, whose pass it is; nil is all that is not one step of a group
	input   script.Value   // of the chain whose body the block is, if a step runs that; else nil
	local   string         // the loop's variable; "" is none
	value   script.Value   // of that
	timed   *timed
	steps   script.Value // what expressions see of it, once asked for
	turn    turn
}

// timed is a part of a session that may have a clock of its own, made when something first waits under it.
type timed struct {
	up    *timed
	of    *turn // nil is the chain's
	limit time.Duration
	clock *clock.Clock
}

// start returns the clock, making those above it first.
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

// stop ends the clock if it is t's own.
func (t *timed) stop() {
	if t.clock != nil && t.limit > 0 {
		t.clock.Stop()
	}
	t.clock = nil
}

// cause says why time is over under t; nil while it is not.
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

// record is the step's row. It must not be kept: other steps append to the rows.
func (t *turn) record() *engine.StepRecord { return &t.x.row.Steps[t.at] }

// clock is the step's clock; asking for it says that the step may wait.
func (t *turn) clock() *clock.Clock { return t.timed.start(t.x.s) }

// Context is what an expression in a field of the step evaluates with, until the next one is asked for.
func (t *turn) Context(field string) *script.Context {
	if !t.keyed {
		t.key, t.keyed = t.x.key.Text(t.path), true
	}
	t.view = script.Context{Names: t, Key: t.key, Field: field}
	if t.timed.clock != nil {
		t.view.Done = t.timed.clock.Context().Done()
	} else if ctx := t.x.s.Clocked(); ctx != nil {
		t.view.Done = t.clock().Context().Done()
	}
	return &t.view
}

// Lookup implements script.Names: what an expression of the step can see.
func (t *turn) Lookup(name string) (script.Value, error) {
	if name == "options" && t.connected {
		return t.options, nil
	}
	if v, ok := t.more[name]; ok {
		return v, nil
	}
	switch name {
	case "steps":
		if t.frame.steps == nil {
			t.frame.steps = script.Lazy("steps", visible{t.frame})
		}
		return t.frame.steps, nil
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

// up is the pass around this one, as far as its steps can see it.
func (p *pass) up() *pass {
	if p.owner == nil || p.input != nil {
		return nil
	}
	return p.owner.frame
}

// visible shows the steps that the plan orders before the one under way, in this pass and those around it.
type visible struct{ p *pass }

// Field implements script.Fields.
func (v visible) Field(name string) (script.Value, error) {
	for p := v.p; p != nil; p = p.up() {
		if i, ok := p.block.index[name]; ok {
			if out := p.output(i); out != nil {
				return out, nil
			}
		}
	}
	return nil, nil //nolint:nilnil // script.Fields: no such field is no error
}

// Names implements script.Fields.
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
