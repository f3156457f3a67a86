package expr

import (
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/suggest"
)

// checkLater reports fields that a value cannot have, such as keys that an answer lacks, once all steps are read.
func (r *Compiler) checkLater(n *doc.Node, text string, all []*script.Expr) {
	names := r.Steps
	if names == nil {
		return
	}
	r.File.Later(func() {
		for _, x := range all {
			_, mistakes := known.Infer(x, names)
			for _, m := range mistakes {
				r.File.report(n, text, m)
			}
		}
	})
}

func (f *File) report(n *doc.Node, text string, m known.Mistake) {
	of := m.Of
	if of == "" {
		of = "this value"
	}
	at := doc.Offset(text, m.At.Line, m.At.Col)
	if m.List {
		n.Guess(suggest.Guess{Hint: fmt.Sprintf("each of its elements may have it: `%s[0].%s`, or `[x.%s for x in %s]`", of, m.Name, m.Name, of)}).ErrorfAt(at, "%s is a list, which has no %s", of, m.Name)
		return
	}
	otherwise := ""
	if len(m.Names) == 0 {
		otherwise = "it has no fields"
	}
	n.Guess(f.Near(m.Name, slices.Clone(m.Names), otherwise)).ErrorfAt(at, "%s has no %s", of, m.Name)
}
