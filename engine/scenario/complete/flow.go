package complete

import "strings"

// flow reads a value in braces or brackets. It ends at limit in any case.
type flow struct {
	*outliner
	limit int
}

// value reads the value at an offset into a node, and returns its end.
func (f *flow) value(n *node, at int) int {
	n.valFrom = at
	switch {
	case at >= f.limit:
		n.valTo = at
	case f.text[at] == '{':
		n.braces = true
		n.valTo = f.entries(n, at+1, '}')
	case f.text[at] == '[':
		n.list = true
		n.valTo = f.entries(n, at+1, ']')
	default:
		n.valTo = f.scalar(at)
	}
	return n.valTo
}

// entries reads entries up to the closing brace or bracket, and returns the offset after it.
func (f *flow) entries(n *node, at int, closing byte) int {
	for {
		at = f.skip(at)
		switch {
		case at >= f.limit:
			return f.limit
		case f.text[at] == closing:
			return at + 1
		case f.text[at] == ',', f.text[at] == '}', f.text[at] == ']':
			at++
			continue
		}
		at = f.entry(n, at, closing)
	}
}

// entry reads a key with its value, or an item.
func (f *flow) entry(n *node, at int, closing byte) int {
	e := &node{flow: true, item: closing == ']', from: at, keyFrom: at, keyTo: at, parent: n, indent: n.indent}
	n.children = append(n.children, e)
	if strings.IndexByte("{[", f.text[at]) >= 0 {
		e.item = true
		e.to = f.value(e, at)
		return e.to
	}
	end := f.scalar(at)
	after := f.skip(end)
	if after >= f.limit || f.text[after] != ':' {
		if e.item {
			e.valFrom, e.valTo, e.to = at, end, end
			return end
		}
		e.key, e.keyTo, e.valFrom, e.valTo, e.to = unquoted(f.text[at:end]), end, end, end, end
		return end
	}
	if e.item { // [name: value] is a list of maps
		inner := &node{flow: true, from: at, keyFrom: at, parent: e, indent: n.indent}
		e.children = append(e.children, inner)
		e.valFrom = at
		defer func() { e.to, e.valTo = inner.to, inner.to }()
		e = inner
	}
	e.key, e.keyTo = unquoted(f.text[at:end]), end
	from := f.skip(after + 1)
	if from >= f.limit || strings.IndexByte(",}]", f.text[from]) >= 0 {
		from = min(after+1, f.limit)
		e.valFrom, e.valTo, e.to = from, from, from
		return from
	}
	e.to = f.value(e, from)
	return e.to
}

// skip skips spaces, line breaks and comments.
func (f *flow) skip(at int) int {
	for at < f.limit {
		switch c := f.text[at]; {
		case c == '#' && at > 0 && (f.text[at-1] == ' ' || f.text[at-1] == '\n'):
			at = f.lineEnd(at)
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			at++
		default:
			return at
		}
	}
	return at
}

// scalar returns the end of a key or value. An expression without quotes is not valid YAML there, but people write it.
func (f *flow) scalar(at int) int {
	if f.text[at] == '"' || f.text[at] == '\'' {
		return min(at+quoteEnd(f.text[at:f.limit], 0), f.limit)
	}
	start := at
	for at < f.limit {
		switch c := f.text[at]; {
		case c == '$' && strings.HasPrefix(f.text[at:f.limit], "${"):
			at = f.expression(at + 2)
			continue
		case strings.IndexByte(",{}[]\n", c) >= 0,
			c == ':' && (at+1 >= f.limit || strings.IndexByte(" ,}]\n", f.text[at+1]) >= 0 || strings.HasPrefix(f.text[at+1:], mark)),
			c == '#' && at > start && f.text[at-1] == ' ':
			return start + len(strings.TrimRight(f.text[start:at], " "))
		}
		at++
	}
	return start + len(strings.TrimRight(f.text[start:at], " "))
}

// expression returns the offset after the closing brace of an expression, or the end of the line.
func (f *flow) expression(at int) int {
	end := min(f.lineEnd(at), f.limit)
	if i := closing(f.text[at:end]); i >= 0 {
		return at + i
	}
	if i := strings.IndexByte(f.text[at:end], '}'); i >= 0 {
		return at + i
	}
	return end
}

// closing returns the offset after the brace that closes an expression; -1 if it is not closed.
func closing(text string) int {
	depth := 1
	var quote byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case quote != 0:
			switch c {
			case '\\':
				i++
			case quote:
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}
