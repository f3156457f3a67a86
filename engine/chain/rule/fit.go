package rule

import (
	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
)

// Otherwise returns the expression that answers without the model; nil if there is none.
func (r *Rule) Otherwise() *script.Expr { return r.otherwise }

// fits reports an answer without the model that cannot fit the step, as far as that is known before a run.
func (r *Rule) fits(in *expr.Compiler, step *doc.Node) {
	x, names, of, n := r.otherwise, in.Steps, r.step.Shape, step.Get("otherwise")
	if x == nil || of == nil && step.Get("answer") != nil { // which is reported
		return
	}
	in.File.Later(func() {
		want := &known.Shape{Kind: known.Text}
		if of != nil {
			want = of.Known
		}
		answer, _ := known.Infer(x, names)
		m := known.Fit(answer.Data(), want)
		if v, ok := x.Const(); ok && of != nil { // which is exact
			v, err := value.Data(v)
			if err == nil {
				err = of.Accept(v)
			}
			switch {
			case err == nil:
				return
			case m == nil:
				n.Errorf("", "%v", err)
				return
			}
		}
		if m == nil {
			return
		}
		at := n.Guess(m.Guess)
		if problem := "otherwise does not fit the answer: " + m.Problem; m.At == (known.Place{}) {
			at.Errorf("%s", problem)
		} else {
			at.ErrorfAt(doc.Offset(n.Text(), m.At.Line, m.At.Col), "%s", problem)
		}
	})
}
