package experiment

import (
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/validation"
)

// against reads the real data that every run is compared with. Without any in the file, it is that of the scenario.
func (r *reader) against(n *doc.Node) {
	of := r.e.Of
	switch {
	case n != nil && of != nil:
		r.e.Against = validation.Read(n, r.open, of.Figures(), r.report)
		r.e.ownData = r.e.Against != nil
	case n != nil: // without a scenario, figures are unknown
		n.Fields("file", "measures")
		n.Require("file", "measures")
	case of != nil:
		r.e.Against = of.Against
	}
}

// against writes the real data, unless it is that of the scenario.
func (w *writer) against() {
	if !w.e.ownData {
		return
	}
	a := w.e.Against
	var all []string
	for i := range a.Measures {
		m := &a.Measures[i]
		text := doc.Format(m.Column) + ": {of: " + doc.Format(m.Figure) + ", kind: " + string(m.Kind)
		if m.Per != validation.PerAgent {
			text += ", per: " + string(m.Per)
		}
		all = append(all, text+"}")
	}
	w.line("validate_against: {file: %s, measures: {%s}}", doc.Format(a.File), strings.Join(all, ", "))
}
