package script

import (
	"testing"

	"github.com/throng-sim/throng/engine/script/value"
)

// nested are names whose values are expressions in the same context.
type nested struct {
	ctx *Context
	of  map[string]*Expr
}

func (n *nested) Lookup(name string) (value.Value, error) { return n.of[name].Eval(n.ctx) }

// TestEvaluator evaluates an expression that evaluates others, with the evaluator of all of them, then one that fails, and one after a
// panic.
func TestEvaluator(t *testing.T) {
	env := mustEnv(t, "def twice(x):\n    return [y + x for y in [x]][0]")
	compile := func(src string) *Expr {
		e, err := env.Expr(src, Scope{"a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	e := &Evaluator{}
	names := &nested{of: map[string]*Expr{"a": compile("twice(b) + 1"), "b": compile("len('x' * 20)")}}
	names.ctx = &Context{Names: names, Evaluator: e}
	sum, fails := compile("[twice(a), b, twice(2)]"), compile("twice(a) // (b - 20)")
	check := func() {
		t.Helper()
		v, err := sum.Eval(names.ctx)
		if err != nil || v.String() != "[82, 20, 4]" {
			t.Errorf("got %v, error %v; want [82, 20, 4]", v, err)
		}
	}
	check()
	if v, err := fails.Eval(names.ctx); err == nil {
		t.Errorf("got %v, want an error", v)
	}
	if e.busy {
		t.Error("the evaluator is in use after an error")
	}
	check()
	func() {
		defer func() { _ = recover() }()
		_, _ = compile("[a, b]").Eval(&Context{Names: panics{}, Evaluator: e})
		t.Error("no panic")
	}()
	check()
}

type panics struct{}

func (panics) Lookup(string) (value.Value, error) { panic("a name panics") }
