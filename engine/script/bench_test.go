package script

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// benchNames mimics a session of the engine: an agent whose fields are looked up, and steps.
type benchNames struct{ agent, steps, now value.Value }

func (n *benchNames) Lookup(name string) (value.Value, error) {
	switch name {
	case "agent":
		return n.agent, nil
	case "steps":
		return n.steps, nil
	case "now":
		return n.now, nil
	}
	return nil, nil
}

func benchContext(tb testing.TB) *Context {
	return &Context{
		Names: &benchNames{
			agent: mustDecode(tb, `{"id": "shopper-17", "index": 16, "budget": 80.5, "impulsivity": 0.4,
				"categories": ["books", "toys"], "shopping_frequency": "regular"}`),
			steps: mustDecode(tb, `{"a": {"ok": false}, "browse": {"products": `+products(20)+`}}`),
			now:   value.NewTime(time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)),
		},
		Key: draw.Key{}.Int(7), Field: "bench",
	}
}

func products(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `%s{"id": %d, "name": "Product number %d", "price": %d.5, "stock": %d, "category": "books"}`,
			map[bool]string{true: "[", false: ", "}[i == 0], i, i, i*3+1, i%4)
	}
	return b.String() + "]"
}

func mustDecode(tb testing.TB, text string) value.Value {
	tb.Helper()
	v, err := value.DecodeJSON([]byte(text))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

var benchScope = Scope{"agent", "steps", "now"}

const benchFunctions = `
def choose(agent, products):
    chosen = []
    left = agent.budget
    for p in products:
        if p.stock > 0 and p.price <= left and chance(agent.impulsivity):
            chosen.append({"id": p.id, "quantity": 1})
            left -= p.price
    return chosen
`

func BenchmarkExpr(b *testing.B) {
	for _, test := range []struct{ name, src string }{
		{"condition", `agent.budget > 10 and not steps.a.ok`},
		{"field", `steps.browse.products`},
		{"function with draws", `choose(agent, steps.browse.products)`},
		{"draw", `uniform(0, 1)`},
		{"comprehension", `[p.id for p in steps.browse.products if p.price < agent.budget]`},
	} {
		b.Run(test.name, func(b *testing.B) {
			env, err := New(Config{Functions: &Source{"bench.star", benchFunctions}})
			if err != nil {
				b.Fatal(err)
			}
			x, err := env.Expr(test.src, benchScope)
			if err != nil {
				b.Fatal(err)
			}
			c := benchContext(b)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Eval(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStarlark runs the same condition in go.starlark.net's own interpreter, for comparison.
func BenchmarkStarlark(b *testing.B) {
	for _, test := range []struct{ name, src string }{
		{"condition", `lambda agent, steps: agent.budget > 10 and not steps.a.ok`},
		{"comprehension", `lambda agent, steps: [p.id for p in steps.browse.products if p.price < agent.budget]`},
	} {
		b.Run(test.name, func(b *testing.B) {
			fn, err := starlark.EvalOptions(&syntax.FileOptions{}, new(starlark.Thread), "", test.src, nil)
			if err != nil {
				b.Fatal(err)
			}
			fn.Freeze()
			names := benchContext(b).Names.(*benchNames)
			b.ReportAllocs()
			for b.Loop() {
				thread := new(starlark.Thread)
				thread.SetMaxExecutionSteps(1e6)
				if _, err := starlark.Call(thread, fn, starlark.Tuple{names.agent, names.steps}, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkTemplate(b *testing.B) {
	env, err := New(Config{})
	if err != nil {
		b.Fatal(err)
	}
	t, err := env.Template("You are ${agent.id}, a ${agent.shopping_frequency} shopper with ${agent.budget} to spend. "+
		"It is weekday ${now.weekday}.", benchScope)
	if err != nil {
		b.Fatal(err)
	}
	c := benchContext(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := t.Eval(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFunc(b *testing.B) {
	env, err := New(Config{Functions: &Source{"bench.star", benchFunctions}})
	if err != nil {
		b.Fatal(err)
	}
	f, ok := env.Func("choose")
	if !ok {
		b.Fatal("no function choose")
	}
	c := benchContext(b)
	list := mustDecode(b, products(20))
	agent, _ := c.Names.Lookup("agent")
	arg := func(name string) (value.Value, error) {
		if name == "agent" {
			return agent, nil
		}
		return list, nil
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := f.Call(c, arg); err != nil {
			b.Fatal(err)
		}
	}
}
