package expr

import (
	"regexp"
	"strings"

	"go.starlark.net/syntax"

	"github.com/throng-sim/throng/engine/internal/doc"
)

// unresolvedCall finds calls of unresolved.
var unresolvedCall = regexp.MustCompile(`\bunresolved\s*\(`)

// warnUnresolved reports the values that an import could not decide, with their candidates.
func warnUnresolved(n *doc.Node, text string) {
	for _, at := range unresolvedCall.FindAllStringIndex(text, -1) {
		hint := "replace unresolved(…) by the expression that the value comes from, or by the value"
		if all := candidates(text[at[0]:]); len(all) > 0 {
			hint = "candidates: " + strings.Join(all, ", ")
		}
		n.WarnfAt(at[0], hint, "an import could not tell where this value comes from: the example is sent")
	}
}

// candidates returns the arguments after the first of the call that a text begins with: texts as they are, anything else as it is
// written.
func candidates(text string) (all []string) {
	end := callEnd(text)
	if end < 0 {
		return nil
	}
	text = text[:end+1]
	e, err := new(syntax.FileOptions).ParseExpr("", text, 0)
	call, ok := e.(*syntax.CallExpr)
	if err != nil || !ok || len(call.Args) == 0 {
		return nil
	}
	for _, a := range call.Args[1:] {
		if lit, ok := a.(*syntax.Literal); ok {
			if s, ok := lit.Value.(string); ok {
				all = append(all, s)
				continue
			}
		}
		from, to := a.Span()
		if from.Line == 1 && to.Line == 1 {
			runes := []rune(text)
			all = append(all, string(runes[from.Col-1:to.Col-1]))
		}
	}
	return all
}

// callEnd returns the byte of the parenthesis that closes the first one of a text, or -1.
func callEnd(text string) int {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"', '\'':
			at = textEnd(text, at)
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at
			}
		}
	}
	return -1
}
