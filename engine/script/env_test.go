package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

func TestFunctionFileErrors(t *testing.T) {
	for _, test := range []struct{ src, want string }{
		{"def f(:\n  pass\n", "f.star:1:7: unexpected ':', want ')'"},
		{"def f():\npass\n", "f.star:2:1: unexpected pass, want indent"},
		{
			"def f():\n  return agnt\n\nX = f2()\n\ndef g():\n  retrun(y)\n",
			"f.star:2:10: undefined: agnt (did you mean agent? functions get it as a parameter: def f(agent))\nf.star:4:5: undefined: f2 (did you mean f?)\n" +
				"f.star:7:3: undefined: retrun (did you mean return?)\nf.star:7:10: undefined: y",
		},
		{"def f():\n  return agent.id\n", "f.star:2:10: undefined: agent (functions get it as a parameter: def f(agent))"},
		{"X = 1\nX = 2\n", "f.star:2:1: cannot reassign global X (a name at the top of the file is defined once)"},
		{"def f():\n  while True:\n    pass\n", "f.star:2:3: there are no while loops (write: for _ in range(n), and leave it with break)"},
		{"load('x.star', 'y')\n", "f.star:1:1: load is not available (a scenario has one functions file)"},
		{"def f():\n  load('x.star', 'y')\n", "f.star:2:3: load statement within a function"},
		{"return 1\n", "f.star:1:1: return statement not within a function"},
		{"X = true\nY = sum([1])\n", "f.star:1:5: undefined: true (write True)\nf.star:2:5: undefined: sum (add up in a loop)"},
		{"def f(x):\n  return x.y\n\nX = [\n  f(1),\n]\n", "f.star:5:4: int has no .y field or method, at f.star:2:11"},
		{"X = 1 // 0\n", "f.star:1:7: floored division by zero"},
		{"def f():\n  break\n", "f.star:2:3: break not in a loop"},
		{"X = 'abc\n", "f.star:1:5: unexpected newline in string (the closing quote is missing)"},
		{"for i in range(1 << 40):\n  pass\n", "f.star:1:1: the script runs too long: more than 5000000 steps"},
		{"X = params.n\nY = params.m\n", `f.star:2:11: record has no field "m" (it has n)`},
		{"X = " + strings.Repeat("[", 900) + strings.Repeat("]", 900) + "\n", "f.star:1:82: excessive nesting"},
		{"X = " + strings.Repeat("1 + ", 5000) + "1\n", "nested too deeply"},
		{
			"X = []\n[X.append([]) for _ in range(3)]\ndef deep():\n  x = []\n  for i in range(1000):\n    x = [x]\n  return x\nY = deep()\n",
			"f.star:1:1: Y: nested deeper than 200 levels, or contains itself",
		},
		{"X = [\n  1" + strings.Repeat("0", value.MaxDigits) + "]\n", "f.star:2:3: more than 9000 digits"},
		{strings.Repeat("#", maxSource+1), "f.star:1:1: more than 1 MB"},
	} {
		_, err := New(Config{Functions: &Source{"f.star", test.src}, Params: value.NewRecord(value.Field{Name: "n", Value: starlark.None})})
		if _, ok := errors.AsType[Errors](err); !ok {
			t.Errorf("%.60q: got error %v, want Errors", test.src, err)
		} else if got := err.Error(); got != test.want && (len(test.src) < 500 || !strings.Contains(got, test.want)) {
			t.Errorf("%.60q:\n got %s\nwant %s", test.src, got, test.want)
		}
	}
	var one *Error
	_, err := New(Config{Functions: &Source{"f.star", "X = y\nZ = w\n"}})
	if !errors.As(err, &one) || one.Line != 1 || one.Problem != "undefined: y" {
		t.Errorf("the first error is %+v", one)
	}
}

// TestExpressionsAreCheckedWithABrokenFile checks that errors in expressions are reported together with errors in
// the functions file.
func TestExpressionsAreCheckedWithABrokenFile(t *testing.T) {
	for _, test := range []struct {
		functions string
		strange   string // what an unknown name in an expression reports
	}{
		{"def f(:\n", ""}, // the names it would define are unknown
		{"def f():\n  return x\n", "1:3: undefined: g"},
		{"def f():\n  return 1\nX = 1 // 0\n", "1:3: undefined: g"},
	} {
		env, err := New(Config{Functions: &Source{"f.star", test.functions}})
		if err == nil || env == nil {
			t.Fatalf("%q: env %v, error %v", test.functions, env, err)
		}
		x, err := env.Expr("f() + agent.id", scope)
		if err != nil {
			t.Errorf("%q: f is not known: %v", test.functions, err)
			continue
		}
		if _, err := x.Eval(nil); err == nil || !strings.Contains(err.Error(), "the functions file has errors") {
			t.Errorf("%q: evaluating returned error %v", test.functions, err)
		}
		_, err = env.Template("${g()}", scope)
		if got := fmt.Sprint(err); err != nil && got != test.strange || err == nil && test.strange != "" {
			t.Errorf("%q: got error %v, want %s", test.functions, err, test.strange)
		}
		if _, ok := env.Func("f"); ok {
			t.Errorf("%q: f can be called", test.functions)
		}
	}
}

func TestEnvNames(t *testing.T) {
	env := mustEnv(t, shopFunctions+"\nif False:\n  NEVER = 1\n")
	want := []string{"CATEGORIES", "PRICES", "will_shop", "choose", "completes", "total", "visits", "NEVER"}
	if got := env.Names(); !slices.Equal(got, want) {
		t.Errorf("names are %v, want %v", got, want)
	}
	if v, ok := env.Value("CATEGORIES"); !ok || v.String() != `["books", "toys", "garden"]` {
		t.Errorf("CATEGORIES is %v, %v", v, ok)
	}
	for _, name := range []string{"NEVER", "len", "nothing"} {
		if v, ok := env.Value(name); ok {
			t.Errorf("%s is %v", name, v)
		}
	}
	if _, err := env.Expr("NEVER", nil); err == nil {
		t.Error("a name that was never defined compiles")
	}
	if v, ok := env.Value("CATEGORIES"); ok {
		if err := v.(*starlark.List).Append(starlark.None); err == nil {
			t.Error("a constant can be changed")
		}
	}
}

func TestGlobalsAreFrozenInFunctions(t *testing.T) {
	env := mustEnv(t, `
SEEN = []
def remember(x):
    SEEN.append(x)

def counter():
    count = [0]
    def next():
        count[0] += 1
        return count[0]
    return next

NEXT = counter()

def default(x, into=[]):
    into.append(x)
    return into
`)
	for src, want := range map[string]string{
		`remember(1)`: `test.star:4:16: cannot append to frozen list`,
		`NEXT()`:      `test.star:9:14: cannot assign to element of frozen list`,
		`default(1)`:  `test.star:16:16: cannot append to frozen list`,
	} {
		if _, err := mustExpr(t, env, src).Eval(nil); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", src, err, want)
		}
	}
}

func TestFunctionsMayShadowBuiltins(t *testing.T) {
	env := mustEnv(t, "def keys(x):\n  return 'mine'\n\ndef round(x):\n  return keys(x)\n")
	if v, err := mustExpr(t, env, "round(1.5) + keys(1)").Eval(nil); err != nil || v != starlark.String("minemine") {
		t.Errorf("got %v, %v", v, err)
	}
}

func TestFunc(t *testing.T) {
	env := mustEnv(t, shopFunctions+"\ndef named(a, b=2, *rest, c, d=4, **more):\n    return [a, b, rest, c, d, more]\n\nX = lambda: 1\n")
	f, ok := env.Func("named")
	if !ok {
		t.Fatal("no function named")
	}
	want := []Param{{"a", false}, {"b", true}, {"c", false}, {"d", true}}
	if got := f.Params(); !slices.Equal(got, want) {
		t.Errorf("params are %v, want %v", got, want)
	}
	if file, line, col := f.Pos(); f.Name() != "named" || file != "test.star" || line != 33 || col != 1 {
		t.Errorf("%s is at %s:%d:%d", f.Name(), file, line, col)
	}
	given := func(values Vars) func(string) (value.Value, error) {
		return func(name string) (value.Value, error) { return values[name], nil }
	}
	v, err := f.Call(nil, given(Vars{"a": starlark.MakeInt(1), "c": starlark.None, "e": starlark.True}))
	if err != nil || v.String() != `[1, 2, (), None, 4, {}]` {
		t.Errorf("got %v, %v", v, err)
	}
	if err := v.(*starlark.List).Append(v); err == nil {
		t.Error("the result can be changed")
	}
	_, err = f.Call(nil, given(Vars{"b": starlark.None}))
	if err == nil || err.Error() != "test.star:33:1: function named missing 2 arguments (a, c)" {
		t.Errorf("got error %v", err)
	}
	gone := errors.New("gone")
	if _, err = f.Call(nil, func(string) (value.Value, error) { return nil, gone }); !errors.Is(err, gone) {
		t.Errorf("got error %v, want %v", err, gone)
	}
	for _, name := range []string{"CATEGORIES", "len", "nothing"} {
		if _, ok := env.Func(name); ok {
			t.Errorf("%s is a function", name)
		}
	}
	if f, ok := env.Func("X"); !ok {
		t.Error("a lambda is not a function")
	} else if v, err := f.Call(nil, nil); err != nil || v != starlark.MakeInt(1) {
		t.Errorf("the lambda returned %v, %v", v, err)
	}
}

func TestFuncDrawsFromItsStream(t *testing.T) {
	env := mustEnv(t, "def f(n):\n    return [uniform(0, 1) for _ in range(n)]\n")
	f, _ := env.Func("f")
	call := func(key draw.Key) string {
		v, err := f.Call(&Context{Key: key, Field: "call"}, func(string) (value.Value, error) { return starlark.MakeInt(3), nil })
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	s := draw.Key{}.Int(1).Text("call").Source()
	want := fmt.Sprintf("[%v, %v, %v]", s.Float64(), s.Float64(), s.Float64())
	if got := call(draw.Key{}.Int(1)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if call(draw.Key{}.Int(2)) == want {
		t.Error("another key draws the same")
	}
}

// TestMachinesAreResetBetweenEvaluations mixes evaluations that fail at every depth with ones that succeed, because
// machines are reused.
func TestMachinesAreResetBetweenEvaluations(t *testing.T) {
	env := mustEnv(t, `
def f(n):
    for i in range(n):
        for j in [1, 2]:
            x = [g(k) for k in range(n)]
    return x

def g(k):
    return 10 // (3 - k)
`)
	good := mustExpr(t, env, "[f(agent), sorted([3, 1], key=lambda x: x - agent), uniform(0, 1)]")
	bad := mustExpr(t, env, "[1, [f(agent + 5), steps]]")
	c := &Context{Names: Vars{"agent": starlark.MakeInt(3)}, Field: "f"}
	want, err := good.Eval(c)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				if _, err := bad.Eval(c); err == nil {
					t.Error("no error")
				}
				if got, err := good.Eval(c); err != nil || got.String() != want.String() {
					t.Errorf("got %v, %v, want %v", got, err, want)
				}
			}
		})
	}
	wg.Wait()
}

func TestStarlarkCannotCallOurFunctions(t *testing.T) {
	env := mustEnv(t, "def f():\n  return 1\n")
	v, _ := env.Value("f")
	for _, f := range []value.Value{v, universe["sorted"]} {
		if _, err := starlark.Call(new(starlark.Thread), f, nil, nil); !errors.Is(err, errForeignCall) {
			t.Errorf("%s: got error %v", f, err)
		}
	}
}
