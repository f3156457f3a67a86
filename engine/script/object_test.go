package script

import (
	"errors"
	"fmt"
	"testing"

	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
	"pgregory.net/rapid"
)

func TestLazy(t *testing.T) {
	env := mustEnv(t, "")
	for _, test := range []struct{ src, want string }{
		{`agent.id`, `"a-1"`},
		{`agent["index"]`, `1`},
		{`"id" in agent, "x" in agent, len(agent), keys(agent), [k for k in agent]`, `(True, False, 2, ["id", "index"], ["id", "index"])`},
		{`dict(agent)`, `{"id": "a-1", "index": 1}`},
		{`agent == {"index": 1, "id": "a-1"}, agent == agent, agent != {"id": 1}`, `(True, True, True)`},
		{`json.encode(agent)`, `"{\"id\":\"a-1\",\"index\":1}"`},
		{`str(agent)`, `"{\"id\": \"a-1\", \"index\": 1}"`},
		{`"%(id)s" % agent`, `"a-1"`},
		{`type(agent), bool(agent)`, `("agent", True)`},
		{`get(agent, "x", 5), get(agent, "id"), getattr(agent, "x", 6), hasattr(agent, "id")`, `(5, "a-1", 6, True)`},
		{`agent.ide`, `error: 1:6: agent has no field "ide" (did you mean id? it has id, index)`},
		{`agent["ide"]`, `error: 1:6: agent has no field "ide" (did you mean id? it has id, index)`},
		{`agent[1]`, `error: 1:6: the fields of agent have names, got int`},
		{`{agent: 1}`, `error: 1:7: unhashable type: agent`},
	} {
		v, err := mustExpr(t, env, test.src).Eval(&Context{Names: Vars{"agent": value.NewLazy("agent", testFields{})}})
		got := fmt.Sprint(v)
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != test.want {
			t.Errorf("%s = %s, want %s", test.src, got, test.want)
		}
	}
	gone := errors.New("the store is gone")
	broken := Vars{"agent": value.NewLazy("agent", testFields{err: gone})}
	for _, src := range []string{
		`agent.id`, `agent["id"]`, `str(agent)`, `"%s" % [agent]`, `json.encode(agent)`, `"id" in agent`, `get(agent, "id")`,
		`agent == {"id": 1, "index": 2}`, `"%(id)s" % agent`,
	} {
		if _, err := mustExpr(t, env, src).Eval(&Context{Names: broken}); !errors.Is(err, gone) {
			t.Errorf("%s: got error %v, want %v", src, err, gone)
		}
	}
}

func TestTimesMoveBySeconds(t *testing.T) {
	env := mustEnv(t, "")
	x := mustExpr(t, env, "(now + agent) - now")
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.Float64Range(-9e9, 9e9).Draw(t, "seconds")
		v, err := x.Eval(&Context{Names: Vars{"now": value.NewTime(clock), "agent": starlark.Float(s)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := float64(v.(starlark.Float)); got-s > 1e-6 || s-got > 1e-6 {
			t.Fatalf("moved by %v, asked for %v", got, s)
		}
	})
}

// TestErrorsOfInnerEvaluationsAreKept checks the error of a field that is itself an expression, such as an agent's
// attribute, and an error that is returned more than once.
func TestErrorsOfInnerEvaluationsAreKept(t *testing.T) {
	env := mustEnv(t, "def f(x):\n  return x.id\n")
	_, err := mustExpr(t, env, "1 + 1 // 0").Eval(nil)
	inner, ok := errors.AsType[*EvalError](err)
	if !ok {
		t.Fatalf("got error %v", err)
	}
	before := fmt.Sprint(inner.Trace)
	c := &Context{Names: Vars{"agent": value.NewLazy("agent", testFields{err: inner})}}
	for range 2 {
		_, err := mustExpr(t, env, "1 + f(agent)").Eval(c)
		if want := "test.star:2:11: id: 1:7: floored division by zero"; err == nil || err.Error() != want {
			t.Errorf("got error %v, want %s", err, want)
		}
		if !errors.Is(err, inner) {
			t.Error("the inner error is lost")
		}
	}
	if after := fmt.Sprint(inner.Trace); after != before {
		t.Errorf("the trace of the inner error became %s", after)
	}
	c.Names = &countingNames{asked: map[string]int{}, err: inner}
	if _, err := mustExpr(t, env, "f(agent)").Eval(c); err == nil || err.Error() != "1:3: agent: 1:7: floored division by zero" {
		t.Errorf("got error %v", err)
	}
}

// TestDictsAlike checks that a list of dicts becomes records with each dict's own names in its own order, whether or
// not the dict before had the same names.
func TestDictsAlike(t *testing.T) {
	env, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ src, want string }{
		{`[{"a": 1, "b": 2}, {"a": 3, "b": 4}]`, `[{"a":1,"b":2},{"a":3,"b":4}]`},
		{`[{"a": 1, "b": 2}, {"b": 3, "a": 4}, {"a": 5, "c": 6}]`, `[{"a":1,"b":2},{"b":3,"a":4},{"a":5,"c":6}]`},
		{`[{"a": 1}, {"a": 2, "b": 3}, {}, {"a": 4}]`, `[{"a":1},{"a":2,"b":3},{},{"a":4}]`},
		{`[{"a": {"x": 1}}, {"a": {"y": 2}}, {"x": {"y": 3}}]`, `[{"a":{"x":1}},{"a":{"y":2}},{"x":{"y":3}}]`},
		{`[{"é"[:1]: 1, "é"[1:]: 2}, {"é"[:1]: 3, "é"[1:]: 4}, {"\uFFFD": 5}]`, `[{"�":2},{"�":4},{"�":5}]`},
		{`[[[[[{"a": 1}, {"a": 2}, {"b": 3}]]]]]`, `[[[[[{"a":1},{"a":2},{"b":3}]]]]]`},
	} {
		x, err := env.Expr(tt.src, nil)
		if err != nil {
			t.Fatalf("%s: %v", tt.src, err)
		}
		v, err := x.Eval(nil)
		if err == nil {
			v, err = value.Data(v)
		}
		if err != nil {
			t.Fatalf("%s: %v", tt.src, err)
		}
		if got, err := value.AppendJSON(nil, v); err != nil || string(got) != tt.want {
			t.Errorf("%s is %s (%v), want %s", tt.src, got, err, tt.want)
		}
	}
}

type testFields struct{ err error }

func (f testFields) Names() []string { return []string{"id", "index"} }

func (f testFields) Field(name string) (value.Value, error) {
	switch name {
	case "id":
		return starlark.String("a-1"), f.err
	case "index":
		return starlark.MakeInt(1), f.err
	}
	return nil, nil
}
