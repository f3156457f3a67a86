package script

import (
	"fmt"
	"strings"

	"go.starlark.net/syntax"
)

// Same reports whether two texts define the same functions, ignoring comments and layout. Texts that do not parse are
// the same if they are equal.
func Same(a, b string) bool {
	if a == b {
		return true
	}
	first, err1 := shape(a)
	second, err2 := shape(b)
	return err1 == nil && err2 == nil && first == second
}

// shape writes the syntax tree of functions without comments and positions.
func shape(text string) (string, error) {
	file, err := dialect.Parse("", text, 0)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	var open []string // closing text of each open node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil { // end of a node
			b.WriteString(open[len(open)-1])
			open = open[:len(open)-1]
			return true
		}
		if _, layout := n.(*syntax.ParenExpr); layout {
			open = append(open, "")
			return true
		}
		open = append(open, ")")
		switch n := n.(type) {
		case *syntax.Ident:
			b.WriteString(" " + n.Name)
		case *syntax.Literal:
			fmt.Fprintf(&b, " %v %q", n.Token, fmt.Sprint(n.Value))
		case *syntax.UnaryExpr:
			fmt.Fprintf(&b, " %v", n.Op)
		case *syntax.BinaryExpr:
			fmt.Fprintf(&b, " %v", n.Op)
		case *syntax.AssignStmt:
			fmt.Fprintf(&b, " %v", n.Op)
		case *syntax.BranchStmt:
			fmt.Fprintf(&b, " %v", n.Token)
		case *syntax.SliceExpr: // its parts may be nil
			fmt.Fprintf(&b, " %t %t %t", n.Lo != nil, n.Hi != nil, n.Step != nil)
		case *syntax.IfStmt:
			fmt.Fprintf(&b, " %d", len(n.True))
		case *syntax.DefStmt:
			fmt.Fprintf(&b, " %d", len(n.Params))
		case *syntax.LambdaExpr:
			fmt.Fprintf(&b, " %d", len(n.Params))
		case *syntax.Comprehension:
			fmt.Fprintf(&b, " %t", n.Curly)
		}
		fmt.Fprintf(&b, "(%T", n)
		return true
	})
	return b.String(), nil
}
