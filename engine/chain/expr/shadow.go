package expr

import (
	"regexp"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// statusAsText matches the status of a step compared with a string: a status is a number.
var statusAsText = regexp.MustCompile(`\bsteps\.(\w+)\.status\s*(?:==|!=|(?:not\s+)?in\b)\s*[\[({]*\s*["']|["']\s*(?:==|!=)\s*steps\.(\w+)\.status\b`)

// warnShadowed reports an expression that mistakes the status of an http answer for a field of its body.
func (r *Compiler) warnShadowed(n *doc.Node, text string) {
	for _, m := range statusAsText.FindAllStringSubmatchIndex(text, -1) {
		from, to := m[2], m[3]
		if from < 0 {
			from, to = m[4], m[5]
		}
		name := text[from:to]
		if r.Steps.Kind(name) == "http" {
			n.WarnfAt(from-len("steps."), "write `steps."+name+".body.status`", "`steps.%s.status` is the status of the answer, a number; a field of its body is under `body`", name)
		}
	}
}
