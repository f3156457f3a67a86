package script

import (
	"testing"

	"github.com/throng-sim/throng/engine/script/value"
	"go.starlark.net/starlark"
)

// countedFields know the length of a list that they cannot show.
type countedFields struct{ asked *int }

func (f countedFields) Field(name string) (value.Value, error) {
	*f.asked++
	return value.NewList([]value.Value{starlark.String(name)}), nil
}

func (countedFields) Names() []string { return []string{"known", "other"} }

func (countedFields) Count(name string) (int, bool) { return 7, name == "known" }

// TestLengthOfKnownLists checks that len asks objects that know the length of a list, and nothing else does.
func TestLengthOfKnownLists(t *testing.T) {
	env := mustEnv(t, `
def length(x):
    return len(x.known)
def own(x):
    len = lambda y: 2
    return len(x.known)
`)
	for _, test := range []struct {
		src   string
		want  string
		asked int
	}{
		{"len(agent.known)", "7", 0},
		{"len((agent).known) + 1", "8", 0},
		{"length(agent)", "7", 0},
		{"own(agent)", "2", 1},
		{"len(agent.other)", "1", 1},
		{"len([agent][0].known)", "1", 1},
		{"len(*[agent.known])", "1", 1},
		{"len(plain.known)", "3", 0},
		{"[len(agent.known) for len in [str]][0]", `"[\"known\"]"`, 1},
	} {
		asked := 0
		names := Vars{
			"agent": value.NewLazy("agent", countedFields{&asked}),
			"plain": value.NewRecord(value.Field{Name: "known", Value: value.NewList([]value.Value{starlark.None, starlark.None, starlark.None})}),
		}
		x, err := env.Expr(test.src, Scope{"agent", "plain"})
		if err != nil {
			t.Fatal(err)
		}
		v, err := x.Eval(&Context{Names: names})
		if err != nil || v.String() != test.want || asked != test.asked {
			t.Errorf("%s = %v, error %v, with %d fields read; want %s with %d", test.src, v, err, asked, test.want, test.asked)
		}
	}
	x, err := env.Expr("len(plain.known)", Scope{"plain"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := x.Eval(&Context{Names: Vars{"plain": value.NewRecord()}}); err == nil || err.Error() != `1:10: record has no field "known" (it has no fields)` {
		t.Errorf("got error %v", err)
	}
}
