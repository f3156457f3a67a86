package script

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/internal/draw"
	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// TestDrawsArePinned pins the draws, because stored results depend on them. Values that pass through a logarithm may
// differ in the last digit between architectures, so they are rounded.
func TestDrawsArePinned(t *testing.T) {
	env := mustEnv(t, "def three():\n    return [pick([1, 2, 3, 4]), uniform(0, 10), chance(0.5)]\n")
	c := &Context{Key: draw.Key{}.Int(7).Int(3).Int(41).Text("browse"), Field: "query"}
	for _, test := range []struct{ src, want string }{
		{`uniform(0, 1)`, `0.1965646972025028`},
		{`uniform(-5, 5)`, `-3.034353027974972`},
		{`[chance(0.9), chance(0.5), chance(0.1)]`, `[True, False, True]`},
		{`round(normal(100, 15), 9)`, `95.167310146`},
		{`round(lognormal(100, 0.4), 9)`, `87.908671926`},
		{`pick(["a", "b", "c"])`, `"a"`},
		{`weighted({"frequent": 2, "regular": 4, "occasional": 3, "rare": 1})`, `"frequent"`},
		{`sample(range(10), 4)`, `[1, 7, 2, 3]`},
		{`shuffle([1, 2, 3, 4, 5])`, `[2, 4, 5, 3, 1]`},
		{`three()`, `[1, 6.690513279860074, True]`},
	} {
		x, err := env.Expr(test.src, nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			v, err := x.Eval(c)
			if err != nil {
				t.Errorf("%s: %v", test.src, err)
			} else if v.String() != test.want {
				t.Errorf("%s = %s, want %s", test.src, v, test.want)
			}
		}
	}
}

func TestDrawsDependOnKeyAndField(t *testing.T) {
	env := mustEnv(t, "")
	x, err := env.Expr("uniform(0, 1)", nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[value.Value]string{}
	for agent := range uint64(3) {
		for _, field := range []string{"when", "query", "json.a"} {
			v, err := x.Eval(&Context{Key: draw.Key{}.Int(agent), Field: field})
			if err != nil {
				t.Fatal(err)
			}
			if other, ok := seen[v]; ok {
				t.Errorf("agent %d %s draws the same as %s", agent, field, other)
			}
			seen[v] = fmt.Sprintf("agent %d %s", agent, field)
		}
	}
}

func TestDrawErrors(t *testing.T) {
	env := mustEnv(t, "")
	for _, test := range []struct{ src, want string }{
		{`chance(1.5)`, `1:7: chance: 1.5 is not a probability (between 0 and 1)`},
		{`chance(-0.1)`, `1:7: chance: -0.1 is not a probability (between 0 and 1)`},
		{`chance("x")`, `1:7: chance: got string, want a number`},
		{`chance()`, `1:7: chance: got 0 arguments, want 1`},
		{`chance(p=1)`, `1:7: chance takes its arguments by position`},
		{`uniform(2, 1)`, `1:8: uniform: no range from 2 to 1 (the smaller number comes first)`},
		{`uniform(-1e308, 1e308)`, `1:8: uniform: no range from -1e+308 to 1e+308 (the smaller number comes first)`},
		{`uniform(0, float("nan"))`, `1:8: uniform: NaN is not a number that data can hold`},
		{`normal(0, -1)`, `1:7: normal: the deviation -1 is negative`},
		{`lognormal(0, 1)`, `1:10: lognormal: median 0, sigma 1 (the median is positive, sigma not negative)`},
		{`pick([])`, `1:5: pick: the list is empty`},
		{`pick("abc")`, `1:5: pick: got string, want a list`},
		{`pick({"a": 1})`, `1:5: pick: got dict, want a list (weighted(x) picks a key by its weight)`},
		{`weighted(["a"])`, `1:9: weighted: got list, want a dict (write weighted({"a": 2, "b": 1}))`},
		{`weighted({"a": -1})`, `1:9: weighted: the weight of "a" is -1 (a number of at least 0)`},
		{`weighted({"a": "x"})`, `1:9: weighted: the weight of "a" is "x" (a number of at least 0)`},
		{`weighted({"a": 0})`, `1:9: weighted: the weights add up to 0 (one of them must be above 0)`},
		{`weighted({})`, `1:9: weighted: the weights add up to 0 (one of them must be above 0)`},
		{`sample([1, 2], 3)`, `1:7: sample: cannot draw 3 of 2 elements (use min(n, len(list)) where the list may be short)`},
		{`sample([1, 2], -1)`, `1:7: sample: cannot draw -1 of 2 elements (use min(n, len(list)) where the list may be short)`},
		{`sample([1, 2], 1.5)`, `1:7: sample: count: got float, want int`},
		{`sample([1, 2])`, `1:7: sample takes a list and a count (write sample(list, 3))`},
		{`shuffle(3)`, `1:8: shuffle: got int, want a list`},
	} {
		x, err := env.Expr(test.src, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Eval(&Context{Field: "f"}); err == nil || err.Error() != test.want {
			t.Errorf("%s:\n got %v\nwant %s", test.src, err, test.want)
		}
	}
}

func TestDrawsWithoutAStream(t *testing.T) {
	_, err := New(Config{Functions: &Source{"f.star", "X = 1\nY = [\n  uniform(0, 1),\n]\n"}})
	if err == nil || !strings.HasPrefix(err.Error(), "f.star:3:10: draws are not available here (") {
		t.Errorf("got error %v", err)
	}
}

// TestDistributions checks the shape of the distributions over many agents.
func TestDistributions(t *testing.T) {
	env := mustEnv(t, "")
	const n = 20_000
	draws := func(src string) []value.Value {
		x, err := env.Expr(src, nil)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]value.Value, n)
		for i := range out {
			if out[i], err = x.Eval(&Context{Key: draw.Key{}.Int(uint64(i)), Field: "f"}); err != nil {
				t.Fatal(err)
			}
		}
		return out
	}
	mean := func(values []value.Value, f func(value.Value) float64) float64 {
		sum := 0.0
		for _, v := range values {
			sum += f(v)
		}
		return sum / n
	}
	number := func(v value.Value) float64 { return float64(v.(starlark.Float)) }
	is := func(want value.Value) func(value.Value) float64 {
		return func(v value.Value) float64 {
			if v == want {
				return 1
			}
			return 0
		}
	}
	log := func(v value.Value) float64 { return math.Log(number(v)) }
	normals, logs := draws("normal(100, 15)"), draws("lognormal(100, 0.4)")
	for _, test := range []struct {
		name            string
		got, want, near float64
	}{
		{"mean of uniform", mean(draws("uniform(2, 4)"), number), 3, 0.02},
		{"share of chance", mean(draws("chance(0.3)"), is(starlark.True)), 0.3, 0.015},
		{"mean of normal", mean(normals, number), 100, 0.5},
		{"variance of normal", mean(normals, func(v value.Value) float64 { return (number(v) - 100) * (number(v) - 100) }), 225, 10},
		{"log of the median of lognormal", mean(logs, log), math.Log(100), 0.015},
		{"variance of the log of lognormal", mean(logs, func(v value.Value) float64 {
			return (log(v) - math.Log(100)) * (log(v) - math.Log(100))
		}), 0.16, 0.01},
		{"share of a pick", mean(draws("pick([1, 2, 3, 4])"), is(starlark.MakeInt(3))), 0.25, 0.015},
		{"share of a weight", mean(draws(`weighted({"a": 2, "z": 0, "b": 3, "c": 5})`), is(starlark.String("b"))), 0.3, 0.015},
		{"share of no weight", mean(draws(`weighted({"z": 0, "a": 2, "y": 0})`), is(starlark.String("a"))), 1, 0},
		{"share of a place in a sample", mean(draws("sample([1, 2, 3, 4], 2)[1]"), is(starlark.MakeInt(1))), 0.25, 0.015},
		{"share of a place in a shuffle", mean(draws("shuffle([1, 2, 3, 4])[3]"), is(starlark.MakeInt(1))), 0.25, 0.015},
		{"certain", mean(draws("chance(1) and not chance(0)"), is(starlark.True)), 1, 0},
		{"no range", mean(draws("uniform(0.1, 0.1)"), is(starlark.Float(0.1))), 1, 0},
	} {
		if math.Abs(test.got-test.want) > test.near {
			t.Errorf("%s is %v, want %v", test.name, test.got, test.want)
		}
	}
}
