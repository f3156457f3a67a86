package script

import (
	"errors"

	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// closure is a function defined by a script, with its captured variables. Call it through Func, not starlark.Call.
type closure struct {
	code     *funcode
	defaults []value.Value // defaults of the last parameters; nil means no default
	free     []*cell
	frozen   bool
}

// funcode is the compiled code that all closures of a function share.
type funcode struct {
	name            string
	pos             syntax.Position
	params          []string // number of parameters without *args and **kwargs
	positional      int      // number of parameters that may be passed by position
	varargs, kwargs bool
	nlocals         int
	cells           []int // locals shared with inner functions
	body            exec
}

// cell is a local variable shared between closures.
type cell struct{ v value.Value }

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

// CallInternal makes closures implement starlark.Callable. It only returns an error, because a call needs a machine.
func (f *closure) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (value.Value, error) {
	return nil, errForeignCall
}

// native is a built-in function of this package.
type native struct {
	name string
	fn   func(m *machine, args starlark.Tuple, kwargs []starlark.Tuple) (value.Value, error)
}

func (n *native) String() string        { return "<built-in function " + n.name + ">" }
func (n *native) Type() string          { return "builtin_function_or_method" }
func (n *native) Name() string          { return n.name }
func (n *native) Truth() starlark.Bool  { return true }
func (n *native) Hash() (uint32, error) { return starlark.String(n.name).Hash() }
func (n *native) Freeze()               {}

// CallInternal makes natives implement starlark.Callable. It only returns an error, because a call needs a machine.
func (n *native) CallInternal(*starlark.Thread, starlark.Tuple, []starlark.Tuple) (value.Value, error) {
	return nil, errForeignCall
}

var (
	_ starlark.Callable = (*closure)(nil)
	_ starlark.Callable = (*native)(nil)
)
