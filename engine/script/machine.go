package script

import (
	"fmt"
	"sync"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

const (
	maxBits    = 1 << 16 // of an int that an operator returns
	maxCalls   = 200     // depth of nested calls
	maxProblem = 4000    // bytes of an error message, which may include data

	closureSize = 96 // approximate bytes of a function without its defaults and variables
)

// Names provides the values of dynamic names to an evaluation. It looks up each at most once, on first use.
type Names interface {
	// Lookup returns the frozen value of a name. nil without an error means that the name is not available here.
	Lookup(name string) (value.Value, error)
}

// Vars are names with known values.
type Vars map[string]value.Value

// Lookup returns the value of a name.
func (v Vars) Lookup(name string) (value.Value, error) { return v[name], nil }

// Context is the input of one evaluation. The zero value has no names and no draws, and cannot be stopped.
type Context struct {
	// Names are the values of the dynamic names.
	Names Names
	// Key, Path and Field select the stream of draws, Key.Text(Path).Text(Field), or Key.Text(Field) without a Path.
	// Without a Field a draw is an error.
	Key   draw.Key
	Path  string
	Field string
	// Done stops the evaluation when it is closed. A nil channel never stops it.
	Done <-chan struct{}
	// Evaluator, if set, is used unless an outer evaluation uses it.
	Evaluator *Evaluator
}

// Evaluator is memory for one evaluation after another. Its goroutine owns it.
type Evaluator struct {
	machine machine
	busy    bool // stays set after a panic
}

var noContext Context

// machine is the state of one evaluation. Its goroutine owns it; machines without an Evaluator are pooled.
type machine struct {
	meter.Meter

	ctx     *Context
	print   func(string)
	printed bool
	drawing bool
	source  draw.Source

	names  []string      // dynamic names
	slots  []value.Value // values of the names looked up so far
	top    *frame        // frame of the innermost running function
	calls  int           // number of running functions
	frames []*frame      // in use up to depth
	depth  int
	text   []byte // buffer for the text of a value
	out    []byte // buffer for the text of a template
	owner  *Evaluator
}

// frame is one call of a function, or the evaluation of an expression. Before the call, locals hold the arguments.
type frame struct {
	m      *machine
	fn     *closure // nil for an expression
	locals []value.Value
	result value.Value
	caller *frame
}

var machines = sync.Pool{New: func() any { return new(machine) }}

// start returns a machine for one evaluation; release returns it to the pool.
func start(ctx *Context, env *Env, names []string) *machine {
	if ctx == nil {
		ctx = &noContext
	}
	m := free(ctx.Evaluator)
	m.ctx, m.print = ctx, env.print
	m.Start(env.limits, ctx.Done)
	m.names = names
	for len(m.slots) < len(names) {
		m.slots = append(m.slots, nil)
	}
	return m
}

// free returns a machine that no evaluation uses.
func free(e *Evaluator) *machine {
	if e == nil || e.busy {
		return machines.Get().(*machine)
	}
	e.busy = true
	e.machine.owner = e
	return &e.machine
}

// release resets the machine for the next evaluation. It is not called after a panic: that machine is dropped.
func (m *machine) release() {
	for m.depth > 0 {
		m.pop(m.frames[m.depth-1])
	}
	owner := m.owner
	if cap(m.text) > 64<<10 || cap(m.out) > 64<<10 || len(m.frames) > 64 { // too large to keep
		if owner != nil {
			*owner = Evaluator{}
		}
		return
	}
	clear(m.slots)
	m.ctx, m.print, m.names, m.top = nil, nil, nil, nil
	m.calls = 0
	m.printed, m.drawing = false, false
	if owner != nil {
		owner.busy = false
		return
	}
	machines.Put(m)
}

// name returns the value of the i-th dynamic name.
func (m *machine) name(i int) (value.Value, error) {
	if v := m.slots[i]; v != nil {
		return v, nil
	}
	if m.ctx.Names != nil {
		v, err := m.ctx.Names.Lookup(m.names[i])
		if err != nil {
			return nil, value.LookupError(m.names[i], err)
		}
		if v != nil {
			m.slots[i] = v
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s is not available here", m.names[i])
}

// draws returns this evaluation's stream.
func (m *machine) draws() (*draw.Source, error) {
	if !m.drawing {
		if m.ctx.Field == "" {
			return nil, value.NewError("draws are not available here", "parameters, constants and the top of a "+
				"functions file are the same for all agents; draw in an attribute, a step or a function")
		}
		key := m.ctx.Key
		if m.ctx.Path != "" {
			key = key.Text(m.ctx.Path)
		}
		m.source = *key.Text(m.ctx.Field).Source()
		m.drawing = true
	}
	return &m.source, nil
}

// push returns a frame with room for n values, all nil.
func (m *machine) push(n int) *frame {
	if m.depth == len(m.frames) {
		m.frames = append(m.frames, &frame{m: m})
	}
	fr := m.frames[m.depth]
	m.depth++
	if cap(fr.locals) < n {
		fr.locals = make([]value.Value, n, n+4)
	}
	fr.locals = fr.locals[:n]
	return fr
}

// grow makes room for n values and keeps the existing ones.
func (fr *frame) grow(n int) {
	if cap(fr.locals) < n {
		locals := make([]value.Value, n)
		copy(locals, fr.locals)
		fr.locals = locals
	}
	fr.locals = fr.locals[:n]
}

// pop releases the frame that was pushed last.
func (m *machine) pop(fr *frame) {
	clear(fr.locals)
	fr.locals = fr.locals[:0]
	fr.fn, fr.result, fr.caller = nil, nil, nil
	m.depth--
}

// fault adds a position to an error, unless a deeper frame already did.
func (fr *frame) fault(pos syntax.Position, err error) error {
	if e, ok := err.(*EvalError); ok { //nolint:errorlint // only one that is not wrapped has its place already
		return e
	}
	e := &EvalError{Problem: err.Error(), Trace: []Frame{fr.at(pos)}, cause: err}
	if p, ok := err.(*value.Error); ok { //nolint:errorlint // a wrapped one has its hint in the text
		e.Problem, e.Hint = p.Problem, p.Hint
	}
	e.Problem, e.Hint = value.Shorten(e.Problem, maxProblem), value.Shorten(e.Hint, maxProblem)
	return e
}

// through adds the position of a call to an error that it returned.
func (fr *frame) through(pos syntax.Position, err error) error {
	if e, ok := err.(*EvalError); ok { //nolint:errorlint // see fault
		e.Trace = append(e.Trace, fr.at(pos))
		return e
	}
	return fr.fault(pos, err)
}

// at returns a position in the frame's code.
func (fr *frame) at(pos syntax.Position) Frame {
	f := Frame{Func: "expression", File: pos.Filename(), Line: int(pos.Line), Col: int(pos.Col)}
	if fr.fn != nil {
		f.Func = fr.fn.code.name
	}
	return f
}

// settle prepares the result of an evaluation for the caller: no functions, no deeper than data may be, and frozen.
func settle(m *meter.Meter, v value.Value) (value.Value, error) {
	if !m.Built() {
		return v, nil // from the context or a constant, so already immutable
	}
	if err := checkResult(m, v, 0); err != nil {
		return nil, err
	}
	v.Freeze()
	return v, nil
}

// checkResult reports values that must not leave an evaluation: functions, and values too deep to freeze. It stops at
// records, which are already data.
func checkResult(m *meter.Meter, v value.Value, depth int) error {
	switch v := v.(type) {
	case starlark.Int, starlark.Float, starlark.String, starlark.Bool, starlark.NoneType, *value.Record:
		return nil
	case *starlark.List:
		return checkElems(m, v, depth)
	case starlark.Tuple:
		return checkElems(m, v, depth)
	case *starlark.Dict, *starlark.Set:
		return checkTable(m, v.(starlark.Iterable), depth)
	case starlark.Callable:
		return fmt.Errorf("the result contains %s, which is not data", v)
	}
	return nil
}

// checkElems checks the elements of a list or tuple.
func checkElems(m *meter.Meter, seq starlark.Indexable, depth int) error {
	if depth == meter.MaxDepth {
		return meter.ErrTooDeep
	}
	n := seq.Len()
	if err := m.Step(n); err != nil {
		return err
	}
	for i := range n {
		if err := checkResult(m, seq.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkTable checks the entries of a dict or set.
func checkTable(m *meter.Meter, table starlark.Iterable, depth int) error {
	if depth == meter.MaxDepth {
		return meter.ErrTooDeep
	}
	d, _ := table.(*starlark.Dict)
	iter := table.Iterate()
	defer iter.Done()
	var k, v value.Value
	for iter.Next(&k) {
		err := m.Step(1)
		if err == nil {
			err = checkResult(m, k, depth+1)
		}
		if err == nil && d != nil {
			if v, _, err = d.Get(k); err == nil {
				err = checkResult(m, v, depth+1)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
