package script

import (
	"errors"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// closure is a function that a script defined, with what it captured. It is called through Func, not starlark.Call.
type closure struct {
	code     *funcode
	defaults []Value // of the last parameters; nil where there is none
	free     []*cell
	frozen   bool
}

// funcode is what all closures of a function share.
type funcode struct {
	name            string
	pos             syntax.Position
	params          []string // without *args and **kwargs
	positional      int      // how many of them may be given by position
	varargs, kwargs bool
	nlocals         int
	cells           []int // locals that closures share
	body            exec
}

// cell is a local variable that a closure shares.
type cell struct{ v Value }

func (c *cell) String() string        { return "cell" }
func (c *cell) Type() string          { return "cell" }
func (c *cell) Truth() starlark.Bool  { return true }
func (c *cell) Hash() (uint32, error) { return 0, errors.New("unhashable type: cell") }
func (c *cell) Freeze() {
	if c.v != nil {
		c.v.Freeze()
	}
}

func (f *closure) String() string        { return "<function " + f.code.name + ">" }
func (f *closure) Type() string          { return "function" }
func (f *closure) Name() string          { return f.code.name }
func (f *closure) Truth() starlark.Bool  { return true }
func (f *closure) Hash() (uint32, error) { return starlark.String(f.code.name).Hash() }
func (f *closure) Freeze() {
	if f.frozen {
		return
	}
	f.frozen = true
	for _, v := range f.defaults {
		if v != nil {
			v.Freeze()
		}
	}
	for _, c := range f.free {
		c.Freeze()
	}
}

var errForeignCall = errors.New("a function of a script can only be called by a script")

// CallInternal makes functions Callable, which is how Starlark knows them; calling them takes a machine.
func (f *closure) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (Value, error) {
	return nil, errForeignCall
}

// native is a function of this package.
type native struct {
	name string
	fn   func(m *machine, args starlark.Tuple, kwargs []starlark.Tuple) (Value, error)
}

func (n *native) String() string        { return "<built-in function " + n.name + ">" }
func (n *native) Type() string          { return "builtin_function_or_method" }
func (n *native) Name() string          { return n.name }
func (n *native) Truth() starlark.Bool  { return true }
func (n *native) Hash() (uint32, error) { return starlark.String(n.name).Hash() }
func (n *native) Freeze()               {}

// CallInternal makes natives Callable; calling them takes a machine.
func (n *native) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (Value, error) {
	return nil, errForeignCall
}

var (
	_ starlark.Callable = (*closure)(nil)
	_ starlark.Callable = (*native)(nil)
)
