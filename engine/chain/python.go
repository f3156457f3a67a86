package chain

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/value"
)

// python calls a function of the file: as an expression, or by name with arguments matched by name.
type python struct{ call *script.Expr }

func readPython(r *reader, n *doc.Node) action {
	which := n.Only("call", "target")
	switch {
	case which.Key == nil:
		n.Errorf("`call: f(agent)` or `target: f`", "a python step without a function")
		return &python{}
	case which.Key.Text() == "call":
		return &python{r.Expression(which.Value)}
	}
	name := which.Value.Text()
	f, ok := r.Env.Func(name)
	if !ok {
		switch {
		case r.Blind || name == "":
		case !r.Functions:
			return r.stand(which.Value, "function")
		default:
			which.Value.Guess(r.Near(name, r.Env.Names(), "define it in functions")).Errorf("there is no function %s", name)
		}
		return &python{}
	}
	known := append(slices.Clone(r.Names), "params")
	var call strings.Builder
	call.WriteString(name + "(")
	for _, p := range f.Params() {
		switch {
		case slices.Contains(known, p.Name):
			call.WriteString(p.Name + "=" + p.Name + ", ")
		case !p.Optional:
			which.Value.Errorf("arguments are matched by name; there are "+strings.Join(known, ", ")+"; or use `call`", "the function %s has no value for %s", name, p.Name)
		}
	}
	e, err := r.Env.Expr(call.String()+")", r.Names)
	expr.ReportScript(which.Value, name, err)
	if err == nil {
		e.From(func(int, int) (string, int, int) { // the call is written nowhere
			line, col := which.Value.Position()
			return which.Value.File(), line, col
		})
	}
	return &python{e}
}

func (p *python) run(t *turn) (value.Value, error) { return t.compute(p.call, "call") }
