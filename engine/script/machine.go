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

// Limits bound one evaluation. They are counts, not times, so that a script fails the same way on every machine.
type Limits struct {
	// Steps is how many operations an evaluation may take. Work inside an operation (copying, comparing, searching)
	// counts by its size. 0 means 5 million, a few tenths of a second.
	Steps uint64
	// Bytes is how much an evaluation may build, including dropped values. 0 means 32 MB.
	Bytes int64
}

const (
	defaultSteps = 5_000_000
	defaultBytes = 32 << 20
	slice        = 10_000 // steps between checks of Done
	bytesPerStep = 64     // bytes of work inside an operation that count as one step
	maxBits      = 1 << 16
	maxCalls     = 200
	maxProblem   = 4000 // maximum bytes of an error message, which may include data
)

// Approximate memory sizes of values in the Starlark library.
const (
	wordSize  = 16 // an element of a list: an interface
	listSize  = 64
	dictSize  = 560 // its first eight entries are inline
	entrySize = 128
	closeSize = 96
)

// Names provides the values of dynamic names to an evaluation. It looks up each at most once, on first use.
type Names interface {
	// Lookup returns the frozen value of a name. nil without an error means that the name is not available here.
	Lookup(name string) (Value, error)
}

// Vars are names with known values.
type Vars map[string]Value

// Lookup returns the value of a name.
func (v Vars) Lookup(name string) (Value, error) { return v[name], nil }

// Context is the input of one evaluation. The zero value has no names and no draws, and cannot be stopped.
type Context struct {
	// Names are the values of the dynamic names.
	Names Names
	// Key and Field select the stream of draws, Key.Text(Field). Without a Field a draw is an error.
	Key   draw.Key
	Field string
	// Done stops the evaluation when it is closed. A nil channel never stops it.
	Done <-chan struct{}
}

var noContext Context

// machine is the state of one evaluation. Its goroutine owns it; machines are pooled.
type machine struct {
	ctx   *Context
	print func(string)

	steps, pause, limit uint64
	bytes, maxBytes     int64
	made                bool // something was built, so the result may be mutable
	printed             bool
	drawing             bool
	source              draw.Source

	names  []string // dynamic names, and the values looked up so far
	slots  []Value
	top    *frame // frame of the innermost running function
	calls  int
	frames []*frame // in use up to depth
	depth  int
	text   []byte
	sketch *sketch // keys that this evaluation put into tables; nil until the first
}

// frame is one call of a function, or the evaluation of an expression. Before the call, locals hold the arguments.
type frame struct {
	m      *machine
	fn     *closure // nil for an expression
	locals []Value
	result Value
	caller *frame
}

var machines = sync.Pool{New: func() any { return new(machine) }}

// start returns a machine for one evaluation; release returns it to the pool.
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

// release resets the machine for the next evaluation. It is not called after a panic: that machine is dropped.
func (m *machine) release() {
	for m.depth > 0 {
		m.pop(m.frames[m.depth-1])
	}
	if cap(m.text) > 64<<10 || len(m.frames) > 64 {
		return // too large to keep
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

// step charges n steps.
func (m *machine) step(n int) error {
	m.steps += uint64(n)
	if m.steps < m.pause {
		return nil
	}
	return m.look()
}

// look checks the step limit and Done, every slice of steps.
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

// work charges the steps for processing n bytes.
func (m *machine) work(n int) error { return m.step(n / bytesPerStep) }

// charge charges n bytes before they are allocated.
func (m *machine) charge(n int) error {
	m.made = true
	if m.bytes += int64(n); m.bytes > m.maxBytes || n < 0 {
		m.bytes = m.maxBytes + 1
		return tooBig("the script builds too much data: more than %d bytes", m.maxBytes)
	}
	return m.step(n / bytesPerStep)
}

// chargeMany charges n times size bytes; the product may overflow.
func (m *machine) chargeMany(n, size int) error {
	if n > 0 && size > math.MaxInt/n {
		return m.charge(-1)
	}
	return m.charge(n * size)
}

// left returns how many bytes may still be charged.
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

// foreignError is an error from Names or Fields, which may evaluate expressions of their own. It already has a
// position elsewhere, so it is not extended.
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
			return nil, &problem{"draws are not available here", "parameters, constants and the top of a " +
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

// grow makes room for n values and keeps the existing ones.
func (fr *frame) grow(n int) {
	if cap(fr.locals) < n {
		locals := make([]Value, n)
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
	if p, ok := err.(*problem); ok { //nolint:errorlint // a wrapped one has its hint in the text
		e.Problem, e.Hint = p.text, p.hint
	}
	e.Problem, e.Hint = cut(e.Problem, maxProblem), cut(e.Hint, maxProblem)
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
func (m *machine) settle(v Value) (Value, error) {
	if !m.made {
		return v, nil // from the context or a constant, so already immutable
	}
	if err := m.check(v, 0); err != nil {
		return nil, err
	}
	v.Freeze()
	return v, nil
}

// check reports values that must not leave an evaluation: functions, and values too deep to freeze. It stops at
// records, which are already data.
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
