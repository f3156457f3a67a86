package complete

import (
	"regexp"
	"slices"
	"strings"
)

// mark stands for the cursor in a text that is being read. It is a character that no scenario contains.
const mark = "\ue000"

// place is where the cursor is.
type place struct {
	*outline        // of the text with the mark
	at       int    // the offset of the mark
	node     *node  // the key or item with the cursor; nil if the cursor is in a comment
	inKey    bool   // the cursor is in the key, or where a key can be
	before   string // the part of the key or value before the cursor, with its opening quote
	after    string // the rest of the key or value
}

// locate finds the place of an offset in a text.
func locate(text string, offset int) *place {
	p := &place{outline: read(text[:offset] + mark + text[offset:]), at: offset}
	n := p.root
	for {
		inner := n.childAt(offset)
		if inner == nil {
			break
		}
		n = inner
	}
	switch {
	case n == p.root:
	case n.keyFrom <= offset && offset < n.keyTo && !n.item:
		p.node, p.inKey = n, true
		p.split(n.keyFrom, n.keyTo)
	case n.valFrom <= offset && offset <= n.valTo && !n.braces && len(n.children) == 0:
		p.node = n
		p.split(n.valFrom, n.valTo)
	}
	return p
}

// childAt returns the last child that contains an offset, or ends there; nil if there is none.
func (n *node) childAt(offset int) *node {
	for _, c := range slices.Backward(n.children) {
		if c.from <= offset && offset <= c.to {
			return c
		}
	}
	return nil
}

// split sets the parts before and after the cursor.
func (p *place) split(from, to int) {
	p.before = p.text[from:p.at]
	p.after = strings.TrimSuffix(p.text[min(p.at+len(mark), to):to], "\n")
}

// path returns the keys from the root to a node; items have an empty key.
func path(n *node) (keys []string) {
	for ; n != nil && n.parent != nil; n = n.parent {
		keys = append([]string{strings.ReplaceAll(n.key, mark, "")}, keys...)
	}
	return keys
}

// enclosing returns the innermost node around n, n included, whose key starts with a word.
func enclosing(n *node, word string) *node {
	for ; n != nil; n = n.parent {
		if w, name := n.word(); w == word && name != "" {
			return n
		}
	}
	return nil
}

// expression returns the expression up to the cursor; ok is false if the cursor is not in one.
func (p *place) expression() (text string, ok bool) {
	if p.node == nil || p.inKey {
		return "", false
	}
	if isExpression(p.node) {
		text = p.before
		if !p.node.block && text != "" && (text[0] == '"' || text[0] == '\'') {
			text = text[1:]
		}
		return text, true
	}
	return opened(p.before)
}

// opened returns the text of the expression in ${ } that is not closed at the end of a text.
func opened(text string) (expression string, ok bool) {
	for {
		i := strings.Index(text, "${")
		switch {
		case i < 0:
			return "", false
		case i > 0 && text[i-1] == '$': // $${ is literal
			text = text[i+2:]
			continue
		}
		text = text[i+2:]
		end := closing(text)
		if end < 0 {
			return text, true
		}
		text = text[end:]
	}
}

// whole are the keys whose whole value is an expression.
var whole = map[string]bool{"when": true, "condition": true, "each": true, "otherwise": true, "call": true, "filter": true, "where": true, "done": true}

// isExpression reports whether the whole value of a node is an expression.
func isExpression(n *node) bool {
	if n.parent != nil && n.parent.key == "cache" && enclosing(n.parent, "step") == n.parent.parent {
		return true
	}
	return whole[n.key] && !free(n)
}

// free reports whether the keys around a node are data that a scenario defines, such as the body of a request.
func free(n *node) bool {
	for n = n.parent; n != nil; n = n.parent {
		if data[n.key] {
			return true
		}
	}
	return false
}

// data are the keys whose values have keys that the language does not define.
var data = map[string]bool{
	"json": true, "form": true, "headers": true, "data": true, "set": true, "query": true, "options": true, "input": true, "extra": true,
	"attributes": true, "rows": true, "answer": true, "default": true, "claims": true, "body": true, "args": true,
	"cache": true, "note": true,
}

var identifier = regexp.MustCompile(`[\pL_][\pL\pN_]*$`)

// partialName is the name at the end of an expression: steps.browse.prod is the prefix prod of the names steps and browse.
type partialName struct {
	names  []string // "" is an index: x[0]
	prefix string
	dotted bool
}

// refer reads the name at the end of an expression; ok is false inside a text, a number or a comment.
func refer(text string) (r partialName, ok bool) {
	if quoted(text) {
		return r, false
	}
	r.prefix = identifier.FindString(text)
	rest := text[:len(text)-len(r.prefix)]
	if last := lastByte(rest); last >= '0' && last <= '9' {
		return r, false
	}
	for strings.HasSuffix(rest, ".") {
		r.dotted = true
		rest = rest[:len(rest)-1]
		for strings.HasSuffix(rest, "]") {
			i := matching(rest)
			if i < 0 {
				return r, false
			}
			rest = rest[:i]
			r.names = append([]string{""}, r.names...)
		}
		name := identifier.FindString(rest)
		if name == "" { // a number, a call or a text
			return r, false
		}
		r.names = append([]string{name}, r.names...)
		rest = rest[:len(rest)-len(name)]
	}
	return r, true
}

func lastByte(text string) byte {
	if text == "" {
		return 0
	}
	return text[len(text)-1]
}

// matching returns the offset of the bracket that the last one closes; -1 if there is none.
func matching(text string) int {
	depth := 0
	for i := len(text) - 1; i >= 0; i-- {
		switch text[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// quoted reports whether the end of an expression is in a text or a comment.
func quoted(text string) bool {
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote == '#':
			if c == '\n' {
				quote = 0
			}
		case quote != 0 && c == '\\':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\'' || c == '#'):
			quote = c
		}
	}
	return quote != 0
}
