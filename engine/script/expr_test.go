package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// clock is the value of now in these tests: a Friday.
var clock = time.Date(2026, 1, 2, 8, 4, 5, 0, time.UTC)

// session returns the dynamic names as a session of the engine would.
func session(tb testing.TB) Vars {
	return Vars{
		"agent": mustDecode(tb, `{"id": "shopper-17", "index": 16, "budget": 80.5, "items": 3, "name": "Ann",
			"tags": ["a", "b"], "shopping_frequency": "regular"}`),
		"steps": value.NewRecord(
			value.Field{Name: "browse", Value: mustDecode(tb, `{"status": 200, "products": [{"id": 1, "price": 5}, {"id": 2, "price": 9.5}]}`)},
			value.Field{Name: "checkout", Value: value.Missing},
		),
		"session":  mustDecode(tb, `{"uuid": "u-1", "cycle": 3}`),
		"input":    mustDecode(tb, `{"text": "hello", "n": null}`),
		"previous": starlark.None,
		"now":      value.NewTime(clock),
	}
}

var scope = Scope{"agent", "session", "steps", "input", "previous", "now"}

func mustEnv(tb testing.TB, functions string, params ...value.Field) *Env {
	tb.Helper()
	c := Config{Params: value.NewRecord(params...)}
	if functions != "" {
		c.Functions = &Source{"test.star", functions}
	}
	env, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return env
}

func mustExpr(tb testing.TB, env *Env, src string) *Expr {
	tb.Helper()
	x, err := env.Expr(src, scope)
	if err != nil {
		tb.Fatalf("%s: %v", src, err)
	}
	return x
}

const shopFunctions = `
CATEGORIES = ["books", "toys", "garden"]
PRICES = {"books": 10, "toys": 20}

def will_shop(agent, now):
    return {"shop": agent.budget > 50 and now.weekday < 5, "reason": "budget %d" % agent.budget}

def choose(agent, products, limit=2):
    "Takes what can be paid."
    chosen = []
    for p in products:
        if p.price <= agent.budget and len(chosen) < limit:
            chosen.append({"id": p.id, "quantity": 1})
    return chosen

def completes(agent, steps):
    return bool(steps.browse) and not steps.checkout

def total(*prices, **more):
    sum = 0
    for p in list(prices) + list(more.values()):
        sum += p
    return sum

def visits():
    seen = []
    def visit(x):
        seen.append(x)
        return len(seen)
    visit("a")
    return visit("b")
`

func TestExpressions(t *testing.T) {
	env := mustEnv(t, shopFunctions, value.Field{Name: "llm_share", Value: starlark.Float(0.25)}, value.Field{Name: "agents", Value: starlark.MakeInt(372)})
	for _, test := range []struct{ src, want string }{
		// the names
		{`params.agents`, `372`},
		{`params["llm_share"]`, `0.25`},
		{`agent.id`, `"shopper-17"`},
		{`"shopper-%d" % (agent.index + 1)`, `"shopper-17"`},
		{`session.cycle`, `3`},
		{`input.text`, `"hello"`},
		{`previous`, `None`},
		{`CATEGORIES[1]`, `"toys"`},
		{`PRICES["toys"] + PRICES.get("x", 1)`, `21`},
		// data are records
		{`agent.items`, `3`},
		{`agent["items"] + agent.items`, `6`},
		{`"items" in agent`, `True`},
		{`"keys" in agent`, `False`},
		{`3 in agent`, `False`},
		{`len(agent)`, `7`},
		{`[k for k in agent][:2]`, `["id", "index"]`},
		{`keys(agent)[0]`, `"id"`},
		{`dict(agent)["name"]`, `"Ann"`},
		{`dict(agent.tags and {"a": 1}, b=2)`, `{"a": 1, "b": 2}`},
		{`hasattr(agent, "name") and not hasattr(agent, "nam")`, `True`},
		{`getattr(agent, "nam", 7)`, `7`},
		{`get(agent, "nam", 7)`, `7`},
		{`get(agent, "name", 7)`, `"Ann"`},
		{`get(input, "n", 7)`, `None`},
		{`get({"a": 1}, "a"), get({}, "a"), get([5], 0), get([5], 3, "none"), get(None, "x", 1)`, `(1, None, 5, "none", 1)`},
		{`get(now, "hour"), get(now, "our", 0)`, `(8, 0)`},
		{`steps.browse == {"products": steps.browse.products, "status": 200}`, `True`},
		{`{"status": 201} == steps.browse`, `False`},
		{`[p.id for p in steps.browse.products if p.price > 5]`, `[2]`},
		{`steps.browse.products[-1].price`, `9.5`},
		{`type(agent)`, `"record"`},
		{`sorted(steps.browse.products, key=lambda p: -p.price)[0].id`, `2`},
		{`total(extra=1, *[p.price for p in steps.browse.products])`, `15.5`},
		{`total(**{"a": 1, "b": 2})`, `3`},
		// steps that did not run
		{`steps.checkout`, `missing`},
		{`steps.checkout.order.totals[3]["x"]`, `missing`},
		{`not steps.checkout.order`, `True`},
		{`bool(steps.checkout)`, `False`},
		{`get(steps.checkout, "order", 5)`, `5`},
		{`get(steps, "checkout", 5)`, `5`},
		{`[x for x in steps.checkout]`, `[]`},
		{`len(steps.checkout), keys(steps.checkout), "x" in steps.checkout`, `(0, [], False)`},
		{`steps.checkout == steps.checkout.x, steps.checkout != steps.browse, steps.checkout == None`, `(True, True, False)`},
		{`str(steps.checkout)`, `"missing"`},
		{`"%s" % steps.checkout`, `"missing"`},
		{`json.encode([steps.checkout])`, `"[null]"`},
		{`steps.checkout[1:]`, `missing`},
		// now
		{`now.weekday, now.hour, now.minute, now.second, now.day, now.month, now.year, now.yearday`, `(4, 8, 4, 5, 2, 1, 2026, 2)`},
		{`now.date`, `"2026-01-02"`},
		{`now.iso`, `"2026-01-02T08:04:05Z"`},
		{`str(now), "%s" % now`, `("2026-01-02T08:04:05Z", "2026-01-02T08:04:05Z")`},
		{`now.unix`, `1767341045`},
		{`now - now, (now + 90.5) - now, now - 60 < now, 60 + now > now, now == now + 0`, `(0.0, 90.5, True, True, True)`},
		// functions of the file
		{`will_shop(agent, now)`, `{"shop": True, "reason": "budget 80"}`},
		{`choose(agent, steps.browse.products)`, `[{"id": 1, "quantity": 1}, {"id": 2, "quantity": 1}]`},
		{`choose(products=steps.browse.products, agent=agent, limit=1)`, `[{"id": 1, "quantity": 1}]`},
		{`completes(agent, steps)`, `True`},
		{`visits()`, `2`},
		// json, math, round
		{`json.decode('{"a": [1, 2.5, {"b": null}]}').a[2].b`, `None`},
		{`json.decode("{", default=3)`, `3`},
		{`json.encode({"a": [1, 2.50, 3.0, "ü\n", None, True, agent.tags, ()]})`, `"{\"a\":[1,2.5,3,\"ü\\n\",null,true,[\"a\",\"b\"],[]]}"`},
		{`math.floor(2.7), math.pow(2, 10), math.pi > 3`, `(2, 1024.0, True)`},
		{`round(2.5), round(-2.5), round(2.4), round(7)`, `(3, -3, 2, 7)`},
		{`round(2.675, 2), round(1.005, 2), round(9.96, 1), round(-9.96, 1), round(99.99, 0), round(3, 1)`, `(2.68, 1.01, 10.0, -10.0, 100.0, 3.0)`},
		{`round(1234.5, -2), round(0.05, 1), round(1e300, 2), round(0.00000123456, 8), round(x=1.25, n=1)`, `(1200.0, 0.1, 1e+300, 1.23e-06, 1.3)`},
		// Starlark
		{"1 if agent.budget > 10 else 0 # a comment", `1`},
		{"agent.budget > 10\n  and agent.index == 16", `True`},
		{"[\n  1,\n  2,\n]", `[1, 2]`},
		{`1, 2`, `(1, 2)`},
		{`{1: "a", (2, 3): "b"}[(2, 3)]`, `"b"`},
		{`{k: v for k, v in zip("ab".elems(), [1, 2])}`, `{"a": 1, "b": 2}`},
		{`[[x * y for x in range(3)] for y in range(2)]`, `[[0, 0, 0], [0, 1, 2]]`},
		{`[f() for f in [lambda: x for x in range(3)]]`, `[2, 2, 2]`},
		{`(lambda a, b=2, *args, c, **kw: (a, b, args, c, kw))(1, c=3, d=4)`, `(1, 2, (), 3, {"d": 4})`},
		{`(lambda n: [n + x for x in [1, 2]])(agent.index)`, `[17, 18]`},
		{`max([1, 5, 3]), min(4, 2), max(["a", "bbb"], key=len), any([0, 1]), all([])`, `(5, 2, "bbb", True, True)`},
		{`sorted([3, 1, 2], reverse=True), reversed([1, 2]), list(enumerate("ab".elems()))`, `([3, 2, 1], [2, 1], [(0, "a"), (1, "b")])`},
		{`"a,b".split(","), ",".join(["x", "y"]), "{} {}".format(1, [agent.name]), "%s-%r" % ("a", "a")`, `(["a", "b"], "x,y", "1 [\"Ann\"]", "a-\"a\"")`},
		{`set([1, 2]) | set([2, 3]), {"a": 1} | {"b": 2}`, `(set([1, 2, 3]), {"a": 1, "b": 2})`},
		{`7 // 2, -7 // 2, 7% 3, -7% 3, 7 / 2, 1 << 4, 6 & 3, 6 | 1, 6 ^ 3, ~5, -agent.index`, `(3, -4, 1, 2, 3.5, 16, 2, 7, 5, -6, -16)`},
		{`2147483647 + 1, 9223372036854775807 * 2, -9223372036854775808 - 1, 4294967296 * 4294967296`, `(2147483648, 18446744073709551614, -9223372036854775809, 18446744073709551616)`},
		{`1 == 1.0, 1 < 1.5, 9007199254740993 == 9007199254740992.0, [1, 2] < [1, 3], "a" < "b", (1,) != (1.0,)`, `(True, True, False, True, True, False)`},
		{`"abc"[1], "abc"[-1:], "abc"[::-1], [1, 2, 3][0:2], range(10)[2:8:3]`, `("b", "c", "cba", [1, 2], range(2, 8, 3))`},
		{`print("x", [1], sep="-")`, `None`},
	} {
		v, err := mustExpr(t, env, test.src).Eval(&Context{Names: session(t)})
		if err != nil {
			t.Errorf("%s: %v", test.src, err)
		} else if v.String() != test.want {
			t.Errorf("%s = %s, want %s", test.src, v, test.want)
		}
	}
}

func TestEvaluationErrors(t *testing.T) {
	env := mustEnv(t, `
def inner(x):
    return x.price

def outer(list):
    return [inner(x) for x in list]

def again(n):
    return again(n - 1)
`)
	for _, test := range []struct{ src, want string }{
		{`agent.nam`, `1:6: record has no field "nam" (did you mean name? it has id, index, budget, items, name, tags, shopping_frequency)`},
		{`agent["bugdet"]`, `1:6: record has no field "bugdet" (did you mean budget? it has id, index, budget, items, name, tags, shopping_frequency)`},
		{`agent.get("x")`, `1:6: record has no field "get" (data has fields, not methods: write get(x, "name", default))`},
		{`agent[3]`, `1:6: the fields of a record have names, got int`},
		{"(1 +\n  agent.index.x)", `2:14: int has no .x field or method`},
		{`previous.x`, `1:9: NoneType has no .x field or method (get(x, "x") returns a default instead)`},
		{`now.our`, `1:4: time has no field "our" (did you mean hour? it has year, month, day, hour, minute, second, weekday, yearday, date, iso, unix)`},
		{`steps.checkout.x > 3`, `1:18: missing > int not implemented (` + missingHint + `)`},
		{`steps.checkout + 1`, `1:16: unknown binary op: missing + int (` + missingHint + `)`},
		{`steps.checkout()`, `1:15: invalid call of non-function (missing) (fields are read without ())`},
		{`agent.id > 3`, `1:10: string > int not implemented (int(x) and float(x) convert a string to a number)`},
		{`{"price": 3}["prise"]`, `1:13: key "prise" not in dict (did you mean "price"?)`},
		{`{"price": 3}.price`, `1:13: dict has no .price field or method (a dict made here has keys, not fields: x["price"])`},
		{`[c for c in "abc"]`, `1:4: string value is not iterable (write x.elems() for its letters, x.split() for its words)`},
		{`1 // (agent.index - 16)`, `1:3: floored division by zero`},
		{`[1][agent.index]`, `1:4: list index 16 out of range [-1:0]`},
		{`agent.tags.append("c")`, `1:18: cannot append to frozen list`},
		{`inner(1, 2)`, `1:6: function inner accepts 1 positional argument (2 given)`},
		{`inner()`, `1:6: function inner missing 1 argument (x)`},
		{`inner(y=1)`, `1:6: function inner got an unexpected keyword argument "y"`},
		{`again(3)`, `test.star:9:17: function again called recursively (use a loop)`},
		{`outer([1])`, `test.star:3:13: int has no .price field or method`},
		{`fail("no", 3)`, `1:5: fail: no 3`},
		{`lambda: agent`, `1:1: the result contains <function lambda>, which is not data`},
		{`[agent.id, lambda: 1]`, `1:1: the result contains <function lambda>, which is not data`},
		{`chance(0.5)`, `1:7: draws are not available here (parameters, constants and the top of a functions file are the same for all agents; draw in an attribute, a step or a function)`},
		{`json.encode(float("nan"))`, `1:12: NaN is not a number that data can hold`},
		{`json.encode({1: 2})`, `1:12: a dict with the key 1 is not data (the keys must be strings)`},
		{`json.encode([{"a": len}])`, `1:12: in 0: in a: builtin_function_or_method is not data`},
		{`json.decode("[1,]")`, `1:12: JSON at offset 3: unexpected ']' where a value should be`},
		{`round("x")`, `1:6: round: got string, want a number`},
		{`round(float("inf"))`, `1:6: +Inf is not a number that data can hold`},
		{`now + 1e10`, `1:5: a time cannot be moved that far (the number is in seconds)`},
		{`now * 2`, `1:5: unknown binary op: time * int`},
	} {
		_, err := mustExpr(t, env, test.src).Eval(&Context{Names: session(t)})
		if _, ok := errors.AsType[*EvalError](err); !ok {
			t.Errorf("%s: got error %v, want an EvalError", test.src, err)
		} else if err.Error() != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.src, err, test.want)
		}
	}
}

func TestTrace(t *testing.T) {
	env := mustEnv(t, "def inner(x):\n    return x.price\n\ndef outer(list):\n    return sorted(list, key=inner)\n")
	_, err := mustExpr(t, env, "1 + outer([agent])").Eval(&Context{Names: session(t)})
	var e *EvalError
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want an EvalError", err)
	}
	want := []Frame{{"inner", "test.star", 2, 13}, {"outer", "test.star", 5, 18}, {"expression", "", 1, 10}}
	if !slices.Equal(e.Trace, want) {
		t.Errorf("trace = %v, want %v", e.Trace, want)
	}
}

func TestCompileErrors(t *testing.T) {
	env := mustEnv(t, shopFunctions)
	for _, test := range []struct{ src, want string }{
		{``, `1:1: the expression is empty`},
		{"  \n ", `1:1: the expression is empty`},
		{`agnt.id`, `1:1: undefined: agnt (did you mean agent?)`},
		{`wil_shop(agent, now)`, `1:1: undefined: wil_shop (did you mean will_shop?)`},
		{`x + y`, "1:1: undefined: x\n1:5: undefined: y"},
		{`last.ok`, `1:1: undefined: last (last is not available here; there is agent, session, steps, input, previous, now)`},
		{`agent.ok == true`, `1:13: undefined: true (write True)`},
		{`a && b`, `1:3: unexpected '&', want primary expression (write: and)`},
		{`!agent`, `1:1: unexpected input character '!' (write: not x, or x != y)`},
		{`agent.id = 3`, `1:10: unexpected '=' (== compares)`},
		{`1 +`, `1:4: the expression ends too early`},
		{"1 +\n  2 +  ", `2:8: the expression ends too early`},
		{`(1, 2`, `1:1: this bracket is not closed`},
		{`1)`, `1:2: unexpected ) (no bracket is open here)`},
		{`1) + (2`, `1:2: unexpected ) (no bracket is open here)`},
		{`[1, (2]`, `1:5: this bracket is not closed (expected ) before the ])`},
		{`"abc`, `1:1: a string is not closed (a string ends on its line, with the same quote)`},
		{`f(x for x in y)`, `1:5: unexpected for, want ','`},
		{`import os`, `1:1: unexpected import, want primary expression (there are no imports; json and math are there already)`},
		{"\n\n   ö.x", "3:4: undefined: ö"},
		{"'ä' + x", "1:7: undefined: x"},
		{strings.Repeat("-", 3000) + "1", "1:"},
		{strings.Repeat("1+", 3000) + "1", "nested too deeply"},
		{`agent.id agent`, `1:10: unexpected identifier (an operator or a comma may be missing before it)`},
		{"(1 +\n 'a' 'b')", `2:6: unexpected string literal (an operator or a comma may be missing before it)`},
		{"load('x')", "1:1: unexpected load, want primary expression"},
	} {
		_, err := env.Expr(test.src, scope)
		if _, ok := errors.AsType[Errors](err); !ok {
			t.Errorf("%q: got error %v, want Errors", test.src, err)
		} else if got := err.Error(); got != test.want && (len(test.src) < 100 || !strings.Contains(got, test.want)) {
			t.Errorf("%q:\n got %s\nwant %s", test.src, got, test.want)
		}
	}
}

func TestRefs(t *testing.T) {
	env := mustEnv(t, shopFunctions)
	for _, test := range []struct {
		src, names, fields, bare string
	}{
		{`1 + 2`, ``, ``, ``},
		{`steps.browse.products[0]`, `steps`, `browse@1:7`, ``},
		{`steps["browse"].x or steps.order`, `steps`, `browse@1:7 order@1:28`, ``},
		{`completes(agent, steps)`, `agent steps`, ``, `steps@1:18`},
		{`get(steps, "browse", 1) and agent.id`, `steps agent`, `browse@1:12`, ``},
		{`steps[agent.id]`, `steps agent`, ``, `steps@1:1`},
		{`[steps.a for steps in [agent.items]]`, `agent`, ``, ``},
		{`(lambda steps: steps.a)(agent)`, `agent`, ``, ``},
		{`(lambda x: steps.a)(agent)`, `steps agent`, `a@1:18`, ``},
		{"(agent.id,\n  (steps).a, total(steps=1))", `agent steps`, `a@2:11`, ``},
		{`[x for x in steps if steps.b]`, `steps`, `b@1:28`, `steps@1:13`},
	} {
		x := mustExpr(t, env, test.src)
		if got := strings.Join(x.Names(), " "); got != test.names {
			t.Errorf("%s: names %q, want %q", test.src, got, test.names)
		}
		show := func(refs []Ref) string {
			var list []string
			for _, r := range refs {
				list = append(list, fmt.Sprintf("%s@%d:%d", r.Name, r.Line, r.Col))
			}
			return strings.Join(list, " ")
		}
		refs := x.Refs("steps")
		if got := show(refs.Fields); got != test.fields {
			t.Errorf("%s: fields %q, want %q", test.src, got, test.fields)
		}
		if got := show(refs.Bare); got != test.bare {
			t.Errorf("%s: bare %q, want %q", test.src, got, test.bare)
		}
	}
}

func TestNamesAreAskedForOnceAndOnlyIfNeeded(t *testing.T) {
	env := mustEnv(t, "")
	names := &countingNames{values: session(t), asked: map[string]int{}}
	x := mustExpr(t, env, "agent.index + agent.budget + len([agent.id for _ in range(3)]) if True or steps else session")
	if _, err := x.Eval(&Context{Names: names}); err != nil {
		t.Fatal(err)
	}
	if names.asked["agent"] != 1 || len(names.asked) != 1 {
		t.Errorf("asked for %v, want agent once", names.asked)
	}
	if _, err := mustExpr(t, env, "steps").Eval(nil); err == nil || err.Error() != "1:1: steps is not available here" {
		t.Errorf("without names: got error %v", err)
	}
	names.err = errors.New("the store is gone")
	if _, err := mustExpr(t, env, "steps").Eval(&Context{Names: names}); !errors.Is(err, names.err) {
		t.Errorf("got error %v, want %v", err, names.err)
	}
}

type countingNames struct {
	values Vars
	asked  map[string]int
	err    error
}

func (n *countingNames) Lookup(name string) (value.Value, error) {
	n.asked[name]++
	return n.values[name], n.err
}

func TestConstantsAreFolded(t *testing.T) {
	var printed []string
	env, err := New(Config{
		Functions: &Source{"test.star", "def maybe(x):\n  return chance(0.5) if x else 7\ndef loud():\n  print('loud')\n  return 1\n"},
		Params:    value.NewRecord(value.Field{Name: "n", Value: starlark.MakeInt(3)}),
		Print:     func(s string) { printed = append(printed, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		src    string
		folded bool
	}{
		{`params.n * 2`, true},
		{`maybe(0)`, true},
		{`maybe(1)`, false},
		{`uniform(0, 1)`, false},
		{`loud()`, false},
		{`agent.id`, false},
		{`params.n > 5 and agent.id`, true},
		{`params.n > 2 and agent.id`, false},
		{`1 // 0`, false},
		{`len(range(1000000)) and [0 for _ in range(100000)]`, false},
		{`"a" * 1000000`, false},
	} {
		if _, ok := mustExpr(t, env, test.src).Const(); ok != test.folded {
			t.Errorf("%s: folded is %v, want %v", test.src, ok, test.folded)
		}
	}
	if len(printed) > 0 {
		t.Errorf("compiling printed %q", printed)
	}
	if _, err := mustExpr(t, env, "loud()").Eval(nil); err != nil || !slices.Equal(printed, []string{"loud"}) {
		t.Errorf("evaluating printed %q, error %v", printed, err)
	}
}

func TestResultsAreFrozen(t *testing.T) {
	env := mustEnv(t, "def f():\n  return [{'a': [1]}]\n")
	v, err := mustExpr(t, env, "f() + [agent.tags]").Eval(&Context{Names: session(t)})
	if err != nil {
		t.Fatal(err)
	}
	list := v.(*starlark.List)
	if err := list.Append(starlark.None); err == nil {
		t.Error("the list can be changed")
	}
	if err := list.Index(0).(*starlark.Dict).SetKey(starlark.String("b"), starlark.None); err == nil {
		t.Error("a dict in it can be changed")
	}
}
