package script_test

import (
	"fmt"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// A condition of a scenario is compiled once and evaluated for each session with that session's context.
func Example() {
	env, err := script.New(script.Config{
		Functions: &script.Source{Name: "shop.star", Text: "def dear(price):\n    return price > params.budget\n"},
		Params:    value.NewRecord(value.Field{Name: "budget", Value: starlark.MakeInt(20)}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	condition, err := env.Expr("dear(steps.browse.price)", script.Scope{"steps"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, price := range []int{15, 25} {
		browse := value.NewRecord(value.Field{Name: "price", Value: starlark.MakeInt(price)})
		steps := value.NewRecord(value.Field{Name: "browse", Value: browse})
		value, err := condition.Eval(&script.Context{Names: script.Vars{"steps": steps}})
		fmt.Println(price, value, err)
	}
	// Output:
	// 15 False <nil>
	// 25 True <nil>
}
