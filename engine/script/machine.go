package script

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/throng-sim/throng/engine/internal/draw"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Limits bound one evaluation. Both are counts, not times, so that what fails fails everywhere.
type Limits struct {
	// Steps is how many operations an evaluation may take; work inside an operation (copying, comparing, searching)
	// counts by its size. 0 means 5 million, some tenths of a second.
	Steps uint64
	// Bytes is how much an evaluation may build, counting what it dropped again. 0 means 32 MB.
	Bytes int64
}

const (
	defaultSteps = 5_000_000
	defaultBytes = 32 << 20
	slice        = 10_000 // steps between two looks at Done
	bytesPerStep = 64     // of work inside an operation that is worth one step
	maxBits      = 1 << 16
	maxCalls     = 200
	maxProblem   = 4000 // bytes of what an error says, which may show data
)

// What values take in memory, roughly, as the Starlark library lays them out.
const (
	wordSize  = 16 // an element of a list: an interface
	listSize  = 64
	dictSize  = 560 // its first eight entries are inline
	entrySize = 128
	closeSize = 96
)

// Names gives the values of dynamic names to an evaluation, each at most once and only if it is needed.
type Names interface {
	// Lookup returns the value of a name, frozen. nil without an error means that the name has no value here.
	Lookup(name string) (Value, error)
}

// Vars are names with their values at hand.
type Vars map[string]Value

// Lookup returns the value of a name.
func (v Vars) Lookup(name string) (Value, error) { return v[name], nil }

// Context is what is particular to one evaluation. The zero value has no names, no draws and cannot be stopped.
type Context struct {
	// Names are the values of the dynamic names.
	Names Names
	// Key and Field name the stream of draws, Key.Text(Field). Without a Field a draw is an error.
	Key   draw.Key
	Field string
	// Done stops the evaluation when it is closed. nil never does.
	Done <-chan struct{}
}

var noContext Context

// machine is the state of one evaluation. Its goroutine owns it; machines are used again.
type machine struct {
	ctx   *Context
	print func(string)

	steps, pause, limit uint64
	bytes, maxBytes     int64
	made                bool // something was built: the result may be mutable
	printed             bool
	drawing             bool
	source              draw.Source

	names  []string // dynamic names, and their values as far as they were asked for
	slots  []Value
	top    *frame // of the innermost function that runs
	calls  int
	frames []*frame // in use up to depth
	depth  int
	text   []byte
	sketch *sketch // of the keys that this evaluation put into tables; nil until there are some
}

// frame is one call of a function, or the evaluation of an expression. Until the function runs, locals are its
// arguments.
type frame struct {
	m      *machine
	fn     *closure // nil for an expression
	locals []Value
	result Value
	caller *frame
}

var machines = sync.Pool{New: func() any { return new(machine) }}

// start returns a machine for one evaluation; release gives it back.
func start(ctx *Context, env *Env, names []string) *machine {
	if ctx == nil {
		ctx = &noContext
	}
	m := machines.Get().(*machine)
	m.ctx, m.print = ctx, env.print
	m.limit, m.maxBytes = env.limits.Steps, env.limits.Bytes
	m.pause = min(slice, m.limit)
	m.names = names
	for len(m.slots) < len(names) {
		m.slots = append(m.slots, nil)
	}
	return m
}

// release makes the machine fit for the next evaluation. After a panic it is not called: the machine is lost.
func (m *machine) release() {
	for m.depth > 0 {
		m.pop(m.frames[m.depth-1])
	}
	if cap(m.text) > 64<<10 || len(m.frames) > 64 {
		return // not worth keeping
	}
	clear(m.slots)
	m.ctx, m.print, m.names, m.top = nil, nil, nil, nil
	if m.sketch != nil {
		clear(m.sketch[:])
	}
	m.steps, m.bytes, m.calls = 0, 0, 0
	m.made, m.printed, m.drawing = false, false, false
	machines.Put(m)
}

// step takes n steps.
func (m *machine) step(n int) error {
	m.steps += uint64(n)
	if m.steps < m.pause {
		return nil
	}
	return m.look()
}

// look is taken every slice of steps.
func (m *machine) look() error {
	if m.steps >= m.limit {
		return &limitError{ErrTooLong, fmt.Sprintf("the script runs too long: more than %d steps", m.limit)}
	}
	select {
	case <-m.ctx.Done:
		return ErrStopped
	default:
	}
	m.pause = min(m.steps+slice, m.limit)
	return nil
}

// work takes the steps for going over n bytes.
func (m *machine) work(n int) error { return m.step(n / bytesPerStep) }

// charge takes n bytes, before they are allocated.
func (m *machine) charge(n int) error {
	m.made = true
	if m.bytes += int64(n); m.bytes > m.maxBytes || n < 0 {
		m.bytes = m.maxBytes + 1
		return tooBig("the script builds too much data: more than %d bytes", m.maxBytes)
	}
	return m.step(n / bytesPerStep)
}

// chargeMany takes n times size bytes, which may overflow.
func (m *machine) chargeMany(n, size int) error {
	if n > 0 && size > math.MaxInt/n {
		return m.charge(-1)
	}
	return m.charge(n * size)
}

// left is how many bytes may still be charged.
func (m *machine) left() int { return int(max(m.maxBytes-m.bytes, 0)) }

// name returns the value of the i-th dynamic name.
func (m *machine) name(i int) (Value, error) {
	if v := m.slots[i]; v != nil {
		return v, nil
	}
	if m.ctx.Names != nil {
		v, err := m.ctx.Names.Lookup(m.names[i])
		if err != nil {
			return nil, foreignError(m.names[i], err)
		}
		if v != nil {
			m.slots[i] = v
			return v, nil
		}
	}
	return nil, fmt.Errorf("%s is not available here", m.names[i])
}

// foreignError is an error that came out of Names or Fields, which may evaluate expressions of their own: their
// errors have a place that is not here, and are not ours to extend.
func foreignError(name string, err error) error {
	if _, ok := errors.AsType[*EvalError](err); ok {
		return fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// draws returns this evaluation's stream.
func (m *machine) draws() (*draw.Source, error) {
	if !m.drawing {
		if m.ctx.Field == "" {
			return nil, &problem{"there is nothing to draw from here", "parameters, constants and the top of a " +
				"functions file are the same for all agents; draw in an attribute, a step or a function"}
		}
		m.source = *m.ctx.Key.Text(m.ctx.Field).Source()
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
		fr.locals = make([]Value, n, n+4)
	}
	fr.locals = fr.locals[:n]
	return fr
}

// grow makes room for n values, keeping those that are there.
func (fr *frame) grow(n int) {
	if cap(fr.locals) < n {
		locals := make([]Value, n)
		copy(locals, fr.locals)
		fr.locals = locals
	}
	fr.locals = fr.locals[:n]
}

// pop gives back the frame that was pushed last.
func (m *machine) pop(fr *frame) {
	clear(fr.locals)
	fr.locals = fr.locals[:0]
	fr.fn, fr.result, fr.caller = nil, nil, nil
	m.depth--
}

// fault gives an error its place, unless a deeper one has.
func (fr *frame) fault(pos syntax.Position, err error) error {
	if e, ok := err.(*EvalError); ok { //nolint:errorlint // only one that is not wrapped has its place already
		return e
	}
	e := &EvalError{Problem: err.Error(), Trace: []Frame{fr.at(pos)}, cause: err}
	if p, ok := err.(*problem); ok { //nolint:errorlint // a wrapped one has its hint in the text
		e.Problem, e.Hint = p.text, p.hint
	}
	e.Problem, e.Hint = cut(e.Problem, maxProblem), cut(e.Hint, maxProblem)
	return e
}

// through adds the place of a call to an error that came out of it.
func (fr *frame) through(pos syntax.Position, err error) error {
	if e, ok := err.(*EvalError); ok { //nolint:errorlint // see fault
		e.Trace = append(e.Trace, fr.at(pos))
		return e
	}
	return fr.fault(pos, err)
}

// at is a position in what the frame runs.
func (fr *frame) at(pos syntax.Position) Frame {
	f := Frame{Func: "expression", File: pos.Filename(), Line: int(pos.Line), Col: int(pos.Col)}
	if fr.fn != nil {
		f.Func = fr.fn.code.name
	}
	return f
}

// settle makes the result of an evaluation fit to be handed on: data, or at least no function, not deeper than data
// may be, and frozen.
func (m *machine) settle(v Value) (Value, error) {
	if !m.made {
		return v, nil // from the context or a constant: immutable already
	}
	if err := m.check(v, 0); err != nil {
		return nil, err
	}
	v.Freeze()
	return v, nil
}

// check reports what must not leave an evaluation: functions, and what is too deep to freeze. Records stop it, they are
// data already.
func (m *machine) check(v Value, depth int) error {
	switch v := v.(type) {
	case starlark.Int, starlark.Float, starlark.String, starlark.Bool, starlark.NoneType, *Record:
		return nil
	case *starlark.List:
		return m.checkElems(v, depth)
	case starlark.Tuple:
		return m.checkElems(v, depth)
	case *starlark.Dict, *starlark.Set:
		return m.checkTable(v.(starlark.Iterable), depth)
	case starlark.Callable:
		return fmt.Errorf("the result contains %s, which is not data", v)
	}
	return nil
}

// checkElems checks the elements of a list or tuple.
func (m *machine) checkElems(seq starlark.Indexable, depth int) error {
	if depth == maxDepth {
		return errDeep
	}
	n := seq.Len()
	if err := m.step(n); err != nil {
		return err
	}
	for i := range n {
		if err := m.check(seq.Index(i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkTable checks the entries of a dict or set.
func (m *machine) checkTable(table starlark.Iterable, depth int) error {
	if depth == maxDepth {
		return errDeep
	}
	d, _ := table.(*starlark.Dict)
	iter := table.Iterate()
	defer iter.Done()
	var k, v Value
	for iter.Next(&k) {
		err := m.step(1)
		if err == nil {
			err = m.check(k, depth+1)
		}
		if err == nil && d != nil {
			if v, _, err = d.Get(k); err == nil {
				err = m.check(v, depth+1)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}
