package script

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/script/meter"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
	"pgregory.net/rapid"
)

// operands generates values of all of Starlark's own types, with the numbers at which representations change.
func operands(depth int) *rapid.Generator[value.Value] {
	interesting := []int64{
		0, 1, -1, 2, 7, 63, 64, 511, 512, math.MaxInt32, math.MinInt32, 1 << 32, 1 << 53, 1<<53 + 1,
		math.MaxInt64, math.MinInt64,
	}
	scalar := rapid.OneOf(
		rapid.Just(value.Value(starlark.None)),
		rapid.Map(rapid.Bool(), func(b bool) value.Value { return starlark.Bool(b) }),
		rapid.Map(rapid.SampledFrom(interesting), func(n int64) value.Value { return starlark.MakeInt64(n) }),
		rapid.Map(rapid.IntRange(-20, 20), func(n int) value.Value { return starlark.MakeInt(n) }),
		rapid.Map(rapid.SampledFrom(interesting), func(n int64) value.Value {
			return starlark.MakeInt64(n).Mul(starlark.MakeInt64(1 << 40))
		}),
		rapid.Map(rapid.SampledFrom(interesting), func(n int64) value.Value { return starlark.Float(n) }),
		rapid.Map(rapid.Float64(), func(f float64) value.Value { return starlark.Float(f) }),
		rapid.SampledFrom([]value.Value{starlark.Float(math.NaN()), starlark.Float(math.Inf(1)), starlark.Float(0.5)}),
		rapid.Map(rapid.StringMatching(`[ab%s]{0,4}`), func(s string) value.Value { return starlark.String(s) }),
		rapid.Map(rapid.StringMatching(`[ab]{0,3}`), func(s string) value.Value { return starlark.Bytes(s) }),
	)
	if depth == 0 {
		return scalar
	}
	list := rapid.SliceOfN(operands(depth-1), 0, 3)
	return rapid.OneOf(scalar, scalar,
		rapid.Map(list, func(l []value.Value) value.Value { return starlark.NewList(l) }),
		rapid.Map(list, func(l []value.Value) value.Value { return starlark.Tuple(l) }),
		rapid.Map(list, func(l []value.Value) value.Value {
			d := new(starlark.Dict)
			for i, v := range l {
				_ = d.SetKey(starlark.MakeInt(i), v) // an int is a key
			}
			return d
		}),
		rapid.Map(list, func(l []value.Value) value.Value {
			s := new(starlark.Set)
			for _, v := range l {
				_ = s.Insert(v) // unhashable values are left out
			}
			return s
		}),
	)
}

// outcome is a result with its type, or the error.
func outcome(v value.Value, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	return v.Type() + " " + v.String()
}

// TestOperatorsAreStarlarks compares all operators with the library's: operators implemented here, for speed or
// bounded cost, return the same results and errors.
func TestOperatorsAreStarlarks(t *testing.T) {
	binary := []syntax.Token{
		syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT, syntax.AMP, syntax.PIPE,
		syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT, syntax.IN, syntax.NOT_IN,
	}
	comparisons := []syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE}
	env := mustEnv(t, "")
	rapid.Check(t, func(t *rapid.T) {
		x, y := operands(2).Draw(t, "x"), operands(2).Draw(t, "y")
		m := start(nil, env, nil)
		defer m.release()
		op := rapid.SampledFrom(binary).Draw(t, "operator")
		got, err := m.binary(op, x, y)
		if errors.Is(err, meter.ErrTooBig) {
			return // the library may continue
		}
		want, wantErr := starlark.Binary(op, x, y)
		if g, w := outcome(got, plainError(err)), outcome(want, wantErr); g != w {
			t.Fatalf("%s %s %s = %s, want %s", x, op, y, g, w)
		}
		op = rapid.SampledFrom(comparisons).Draw(t, "comparison")
		ok, err := compare(&m.Meter, op, x, y, 0)
		wantOK, wantErr := starlark.Compare(op, x, y)
		if ok != wantOK || fmt.Sprint(plainError(err)) != fmt.Sprint(wantErr) {
			t.Fatalf("%s %s %s = %v, %v, want %v, %v", x, op, y, ok, err, wantOK, wantErr)
		}
	})
}

// plainError returns an error without its hint, which the library does not have.
func plainError(err error) error {
	if p, ok := errors.AsType[*value.Error](err); ok {
		return errors.New(p.Problem)
	}
	return err
}

// TestSlicesAreStarlarks compares x[lo:hi:step] with the library's interpreter.
func TestSlicesAreStarlarks(t *testing.T) {
	env := mustEnv(t, "")
	sequences := []value.Value{
		starlark.String("abcdef"), starlark.Bytes("abc"), starlark.NewList([]value.Value{starlark.None, starlark.True}),
		starlark.Tuple{starlark.MakeInt(1), starlark.MakeInt(2), starlark.MakeInt(3)},
		starlark.NewList(nil), starlark.String(""),
	}
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SampledFrom(sequences).Draw(t, "x")
		limit := func(name string) value.Value {
			return rapid.OneOf(rapid.Just(value.Value(starlark.None)), rapid.Map(rapid.IntRange(-9, 9), func(n int) value.Value {
				return starlark.MakeInt(n)
			})).Draw(t, name)
		}
		lo, hi, step := limit("lo"), limit("hi"), limit("step")
		m := start(nil, env, nil)
		defer m.release()
		got, err := slice(&m.Meter, x, lo, hi, step)
		want, wantErr := starlark.EvalOptions(dialect, new(starlark.Thread), "", "x[lo:hi:step]",
			starlark.StringDict{"x": x, "lo": lo, "hi": hi, "step": step})
		if g, w := outcome(got, err), outcome(want, wantErr); g != w {
			t.Fatalf("%s[%s:%s:%s] = %s, want %s", x, lo, hi, step, g, w)
		}
	})
}

// TestMethodsAreStarlarks compares methods and built-ins that are charged or implemented here with the library's.
func TestMethodsAreStarlarks(t *testing.T) {
	env := mustEnv(t, "")
	texts := []string{`""`, `"a"`, `"ab"`, `"a b  a"`, `"ab,a,,"`, `"a\nb\n"`, `" ä "`, `","`}
	counts := []string{`-1`, `0`, `1`, `2`, `1000`, `None`, `"x"`}
	lists := []string{
		`[]`, `[1, 2, 1]`, `["b", "a"]`, `[(1, 2), (3, 4)]`, `range(3)`, `"abc".elems()`, `"äb".codepoints()`, `{"a": 1}`, `None`,
		`set([1, 2])`, `[[1], [2]]`, `(1,)`,
	}
	pick := func(t *rapid.T, from []string) string { return rapid.SampledFrom(from).Draw(t, "argument") }
	forms := []func(t *rapid.T) string{
		func(t *rapid.T) string {
			return fmt.Sprintf("%s.split(%s, %s)", pick(t, texts), pick(t, texts), pick(t, counts))
		},
		func(t *rapid.T) string { return fmt.Sprintf("%s.rsplit(None, %s)", pick(t, texts), pick(t, counts)) },
		func(t *rapid.T) string { return fmt.Sprintf("%s.split(None, %s)", pick(t, texts), pick(t, counts)) },
		func(t *rapid.T) string {
			return fmt.Sprintf("%s.replace(%s, %s, %s)", pick(t, texts), pick(t, texts), pick(t, texts), pick(t, counts))
		},
		func(t *rapid.T) string { return fmt.Sprintf("%s.join(%s)", pick(t, texts), pick(t, lists)) },
		func(t *rapid.T) string { return fmt.Sprintf("%s.strip(%s)", pick(t, texts), pick(t, texts)) },
		func(t *rapid.T) string {
			return fmt.Sprintf("%s.%s()", pick(t, texts), pick(t, []string{"upper", "title", "splitlines", "strip", "isalpha", "split"}))
		},
		func(t *rapid.T) string {
			return fmt.Sprintf("%q.format(%s, %s, k=%s)", pick(t, []string{"{} {}", "{0!r}{0}", "{k}", "{", "{{}}", "{1}{k!r}"}),
				pick(t, lists), pick(t, texts), pick(t, lists))
		},
		func(t *rapid.T) string {
			return fmt.Sprintf("%q %% %s", pick(t, []string{"%s", "%r", "%s%s", "%(a)s %(a)r", "%d", "%%", "%", "x"}), pick(t, lists))
		},
		func(t *rapid.T) string {
			return fmt.Sprintf("%s(%s)", pick(t, []string{
				"list", "tuple", "set", "dict", "sorted", "reversed", "enumerate", "any", "all", "max",
				"min", "str", "repr", "bytes", "len", "zip", "type", "bool", "hash", "int", "float",
			}), pick(t, append(lists, texts...)))
		},
		func(t *rapid.T) string { return fmt.Sprintf("zip(%s, %s)", pick(t, lists), pick(t, lists)) },
		func(t *rapid.T) string { return fmt.Sprintf("sorted(%s, reverse=True, key=str)", pick(t, lists)) },
		func(t *rapid.T) string { return fmt.Sprintf("dict(%s, a=%s)", pick(t, lists), pick(t, texts)) },
		func(t *rapid.T) string {
			return fmt.Sprintf("(lambda x: [x, x.%s(%s), x])([3, 1, 2, 1])", pick(t, []string{"extend", "index", "remove", "append", "pop", "insert"}),
				pick(t, append(lists, counts...)))
		},
		func(t *rapid.T) string {
			return fmt.Sprintf("(lambda d: [d.%s(%s), d])({\"a\": 1, 2: [3]})", pick(t, []string{
				"get", "pop", "setdefault", "update", "items", "keys",
				"values", "popitem", "clear",
			}), pick(t, append([]string{"", `"a"`, `2`}, lists...)))
		},
		func(t *rapid.T) string {
			return fmt.Sprintf("(lambda s: [s.%s(%s), s])(set([1, \"a\"]))", pick(t, []string{
				"add", "union", "difference", "intersection",
				"issubset", "issuperset", "symmetric_difference", "update", "remove", "discard", "pop", "clear",
			}),
				pick(t, append([]string{`"a"`, `1`}, lists...)))
		},
	}
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SampledFrom(forms).Draw(t, "form")(t)
		x, err := env.Expr(src, nil)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		got, err := x.Eval(nil)
		want, wantErr := starlark.EvalOptions(dialect, new(starlark.Thread), "", src, nil)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s = %v, %v, want %v, %v", src, got, err, want, wantErr)
		}
		if err == nil && outcome(got, nil) != outcome(want, nil) && !strings.Contains(src, "hash") {
			t.Fatalf("%s = %s, want %s", src, got, want)
		}
	})
}

// TestCollidingKeys fills tables with keys whose hashes collide, until the table refuses more.
func TestCollidingKeys(t *testing.T) {
	env := mustEnv(t, `
def fill(n, shift):
    d = {}
    for i in range(n):
        d[i << shift] = i
    return len([0 for i in range(n) if d[i << shift] == i])

def again(n):
    d = {}
    for _ in range(100):
        for i in range(n):
            d[i << 33] = d.get(i << 33, 0) + 1
    return d[1 << 33]

def union(n):
    a = {i << 33: 1 for i in range(n)}
    b = {-i << 33: 1 for i in range(n)}
    return len(a | b)
`)
	for _, test := range []struct {
		src  string
		want string
	}{
		{`fill(1000, 32) + (now and 0)`, `1000`},
		{`fill(20000, 0) + (now and 0)`, `20000`},
		{`fill(2000, 3) + (now and 0)`, `2000`},
		{`again(100) + (now and 0)`, `100`},
		{`union(500) + (now and 0)`, `999`},
	} {
		v, err := mustExpr(t, env, test.src).Eval(&Context{Names: Vars{"now": starlark.MakeInt(0)}})
		if got := fmt.Sprint(v); err != nil || got != test.want {
			t.Errorf("%s = %s, %v, want %s", test.src, got, err, test.want)
		}
	}
	for _, src := range []string{`fill(5000, 40) or now`, `fill(5000, 16) or now`, `union(1000) or now`} {
		if _, err := mustExpr(t, env, src).Eval(nil); !errors.Is(err, meter.ErrTooLong) {
			t.Errorf("%s: got error %v, want %v", src, err, meter.ErrTooLong)
		}
	}
}
