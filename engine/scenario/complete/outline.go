package complete

import (
	"strings"
)

// node is a key with its value, or an item of a list. Offsets count bytes of the text.
type node struct {
	key      string // without quotes; "" for an item and for the root
	item     bool   // an item of a list
	flow     bool   // written inside braces or brackets
	block    bool   // its value is a block of text
	list     bool   // its value is a list in brackets
	braces   bool   // its value is a map in braces
	indent   int    // the column of the key, or of the dash of an item
	from, to int    // the whole entry, to the end of its last line or before its comma
	keyFrom  int
	keyTo    int
	valFrom  int // the value, without the spaces around it; empty if it is below the key
	valTo    int
	parent   *node
	children []*node
}

// get returns the child with a key, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if c.key == key && !c.item {
			return c
		}
	}
	return nil
}

// word splits the key of a block, such as "step browse".
func (n *node) word() (word, name string) {
	word, name, _ = strings.Cut(n.key, " ")
	return word, strings.TrimSpace(name)
}

// outline is a text as a tree of keys.
type outline struct {
	text string
	root *node
}

// value returns the scalar value of a node, without its quotes and the comment after it.
func (o *outline) value(n *node) string {
	if n == nil || n.block || len(n.children) > 0 {
		return ""
	}
	return unquoted(o.text[n.valFrom:n.valTo])
}

func unquoted(text string) string {
	text = strings.TrimSpace(text)
	if len(text) >= 2 && (text[0] == '"' || text[0] == '\'') && text[len(text)-1] == text[0] {
		return text[1 : len(text)-1]
	}
	return text
}

// texts returns the items of a list, or the single value.
func (o *outline) texts(n *node) (all []string) {
	if n == nil {
		return nil
	}
	for _, c := range n.children {
		if c.item {
			all = append(all, o.value(c))
		}
	}
	if v := o.value(n); v != "" {
		all = append(all, v)
	}
	return all
}

// outliner reads a text line by line.
type outliner struct {
	*outline
	at    int
	stack []*node // the open entries, outermost first; the first is the root
}

// read makes the outline of a text.
func read(text string) *outline {
	r := &outliner{outline: &outline{text: text, root: &node{indent: -1, to: len(text)}}}
	r.stack = []*node{r.root}
	for r.at < len(text) {
		r.line()
	}
	return r.outline
}

// lineEnd returns the offset of the end of the line, before its break.
func (o *outline) lineEnd(at int) int {
	if i := strings.IndexByte(o.text[at:], '\n'); i >= 0 {
		return at + i
	}
	return len(o.text)
}

// line reads the line at the current offset, with the lines that its value continues on.
func (r *outliner) line() {
	start, end := r.at, r.lineEnd(r.at)
	content := start + indentOf(r.text[start:end])
	r.at = end + 1
	if content == end || r.text[content] == '#' {
		return
	}
	r.content(start, content, end)
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// content reads what follows the indentation of a line, or the dash of an item.
func (r *outliner) content(start, at, end int) {
	indent := at - start
	if r.text[at] == '-' && (at+1 == end || r.text[at+1] == ' ' || strings.HasPrefix(r.text[at+1:end], mark)) {
		item := r.open(&node{item: true, indent: indent, from: at, keyFrom: at, keyTo: at + 1}, indent)
		after := at + 1
		for after < end && r.text[after] == ' ' {
			after++
		}
		if after == end || r.text[after] == '#' {
			return
		}
		if keyEnd, _ := key(r.text[after:end]); keyEnd >= 0 || r.text[after] == '-' {
			r.content(start, after, end)
			return
		}
		r.valueOf(item, after, end)
		return
	}
	keyEnd, rest := key(r.text[at:end])
	if keyEnd < 0 {
		r.loose(at, indent, end)
		return
	}
	n := r.open(&node{indent: indent, from: at, keyFrom: at, keyTo: at + keyEnd, key: unquoted(r.text[at : at+keyEnd])}, indent)
	from := at + rest
	for from < end && (r.text[from] == ' ' || r.text[from] == '\t') {
		from++
	}
	n.valFrom, n.valTo = from, from
	if from < end && r.text[from] != '#' {
		r.valueOf(n, from, end)
	}
}

// key returns the end of the key at the start of a line, and the offset after its colon; -1 if there is no key.
func key(line string) (end, after int) {
	if line == "" || strings.ContainsRune("{[#&*!|>%@`", rune(line[0])) {
		return -1, 0
	}
	at := 0
	if line[0] == '"' || line[0] == '\'' {
		at = quoteEnd(line, 0)
		if at >= len(line) || line[at] != ':' {
			return -1, 0
		}
	}
	for ; at < len(line); at++ {
		switch {
		case line[at] == '#' && at > 0 && line[at-1] == ' ':
			return -1, 0
		case line[at] == ':' && (at+1 == len(line) || line[at+1] == ' ' || line[at+1] == '\t' || strings.HasPrefix(line[at+1:], mark)):
			return len(strings.TrimRight(line[:at], " ")), at + 1
		}
	}
	return -1, 0
}

// quoteEnd returns the offset after the closing quote of a text that starts at an offset, or the end of the line.
func quoteEnd(text string, at int) int {
	quote := text[at]
	for at++; at < len(text); at++ {
		switch {
		case text[at] == '\\' && quote == '"':
			at++
		case text[at] == quote && quote == '\'' && at+1 < len(text) && text[at+1] == quote:
			at++
		case text[at] == quote:
			return at + 1
		}
	}
	return len(text)
}

// open adds an entry to the innermost open one with less indentation.
func (r *outliner) open(n *node, indent int) *node {
	for len(r.stack) > 1 {
		top := r.stack[len(r.stack)-1]
		if top.indent < indent || n.item && !top.item && top.indent == indent && top.valFrom == top.valTo {
			break
		}
		r.stack = r.stack[:len(r.stack)-1]
	}
	parent := r.stack[len(r.stack)-1]
	n.parent, n.to = parent, r.lineEnd(n.from)
	parent.children = append(parent.children, n)
	r.stack = append(r.stack, n)
	r.extend(n.to)
	return n
}

// extend moves the end of all open entries.
func (r *outliner) extend(to int) {
	for _, n := range r.stack[1:] {
		n.to = max(n.to, to)
	}
}

// loose reads a line without a key: the continuation of a text, or a key that is being written.
func (r *outliner) loose(at, indent, end int) {
	for len(r.stack) > 1 && r.stack[len(r.stack)-1].indent >= indent {
		r.stack = r.stack[:len(r.stack)-1]
	}
	top := r.stack[len(r.stack)-1]
	switch {
	case top == r.root || len(top.children) > 0:
	case top.valFrom < top.valTo: // the next line of a plain text
		top.valTo = valueEnd(r.text, at, end)
		r.extend(end)
		return
	case strings.ContainsRune("{['\"", rune(r.text[at])): // the value is below its key
		r.valueOf(top, at, end)
		return
	}
	n := r.open(&node{indent: indent, from: at, keyFrom: at, keyTo: valueEnd(r.text, at, end)}, indent)
	n.key, n.valFrom, n.valTo = r.text[n.keyFrom:n.keyTo], n.keyTo, n.keyTo
	r.stack = r.stack[:len(r.stack)-1] // deeper lines do not belong to it
}

// valueEnd returns the end of a plain value, before its comment.
func valueEnd(text string, at, end int) int {
	if i := strings.Index(text[at:end], " #"); i >= 0 {
		end = at + i
	}
	return at + len(strings.TrimRight(text[at:end], " \t\r"))
}

// valueOf reads the value that starts on the line of its key.
func (r *outliner) valueOf(n *node, at, end int) {
	n.valFrom = at
	switch r.text[at] {
	case '|', '>':
		n.block, n.valTo = true, r.blockEnd(n, end)
		r.at = n.valTo + 1
	case '{', '[':
		f := &flow{outliner: r, limit: r.flowLimit(n, end)}
		n.valTo = f.value(n, at)
		r.at = r.lineEnd(min(n.valTo, len(r.text))) + 1
	case '"', '\'':
		n.valTo = min(at+quoteEnd(r.text[at:r.flowLimit(n, end)], 0), r.flowLimit(n, end))
		r.at = r.lineEnd(n.valTo) + 1
	default:
		n.valTo = valueEnd(r.text, at, end)
	}
	r.extend(min(max(n.valTo, end), len(r.text)))
}

// blockEnd returns the end of a block of text: its lines are indented more than its key.
func (r *outliner) blockEnd(n *node, end int) int {
	last := end
	for next := end + 1; next < len(r.text); {
		lineEnd := r.lineEnd(next)
		line := r.text[next:lineEnd]
		if strings.TrimSpace(line) != "" {
			if indentOf(line) <= n.depth() {
				break
			}
			last = lineEnd
		}
		next = lineEnd + 1
	}
	return last
}

// depth returns the indentation that lines of the value exceed.
func (n *node) depth() int {
	for n.flow {
		n = n.parent
	}
	return n.indent
}

// flowLimit returns the offset where a value in braces, brackets or quotes must have ended: the first line that is not indented more
// than the key. An unclosed brace does not take the rest of the file.
func (r *outliner) flowLimit(n *node, end int) int {
	for next := end + 1; next < len(r.text); {
		lineEnd := r.lineEnd(next)
		line := strings.TrimSpace(r.text[next:lineEnd])
		if line != "" && indentOf(r.text[next:lineEnd]) <= n.indent && !strings.HasPrefix(line, "}") && !strings.HasPrefix(line, "]") {
			return next - 1
		}
		next = lineEnd + 1
	}
	return len(r.text)
}
