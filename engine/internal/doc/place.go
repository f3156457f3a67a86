package doc

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// at returns the byte offset in the source of the byte at an offset of the node's value. It reads the scalar
// again in parallel with its value. If they disagree, as for a scalar with an anchor or a tag, the result is the last place
// at which they agreed.
func (n *Node) at(offset int) int {
	if n.kind != Scalar {
		return n.place()
	}
	value := n.value
	r := rereader{text: n.src.text, pos: n.start, style: n.style}
	if n.style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		value = strings.TrimRight(value, "\n") // a block ends at the end of its last line
		r.openBlock(n.src, n.value)
	} else if n.style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		r.pos++
	}
	offset = min(offset, len(value))
	for read := 0; read < offset; {
		r.joins()
		before := r.pos
		size := r.next(value[read:])
		if size == 0 {
			break
		}
		if read += size; read > offset { // inside a character
			r.pos = before
		}
	}
	if offset < len(value) {
		r.joins()
	}
	return min(r.pos, len(n.src.text))
}

// rereader walks the source of one scalar.
type rereader struct {
	text   string
	pos    int
	style  yaml.Style
	indent int // of a block scalar
}

// openBlock moves to the first character of a block scalar, past its header. The indentation of its lines is what
// stands before the first line with text, less the spaces that are part of the value.
func (r *rereader) openBlock(s *source, value string) {
	for lead := value; ; {
		line, rest, more := strings.Cut(lead, "\n")
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" || !more {
			r.indent = -(len(line) - len(trimmed))
			break
		}
		lead = rest
	}
	r.pos = s.lineEnd(r.pos)
	for at := r.pos; at < len(r.text); {
		at += breakLen(r.text[at:])
		line := r.text[at:s.lineEnd(at)]
		if trimmed := strings.TrimLeft(line, " "); trimmed != "" {
			r.indent = max(r.indent+len(line)-len(trimmed), 0)
			break
		}
		at += len(line)
	}
	r.newline()
}

// newline moves past a line break and the indentation of a block scalar behind it.
func (r *rereader) newline() {
	r.pos += breakLen(r.text[r.pos:])
	for n := 0; n < r.indent && strings.HasPrefix(r.text[r.pos:], " "); n++ {
		r.pos++
	}
}

// next moves past what the first character of value was read from and returns that character's length, 0 when the
// source has something else.
func (r *rereader) next(value string) int {
	if breakLen(r.text[r.pos:]) > 0 && r.style&yaml.LiteralStyle != 0 {
		r.newline()
		return prefix(value, "\n")
	}
	if size := r.fold(value); size > 0 {
		return size
	}
	want, size := utf8.DecodeRuneInString(value)
	rest := r.text[r.pos:]
	switch {
	case strings.HasPrefix(rest, "''") && want == '\'' && r.style&yaml.SingleQuotedStyle != 0:
		r.pos += 2
	case strings.HasPrefix(rest, `\`) && r.style&yaml.DoubleQuotedStyle != 0:
		return r.escape(value)
	case strings.HasPrefix(rest, value[:size]):
		r.pos += size
	default:
		return 0
	}
	return size
}

// fold moves past a run of line breaks, which stand for one space or for their number of newlines, one less
// between lines of text. It returns how much of value that was, 0 where there is no break.
func (r *rereader) fold(value string) int {
	if r.style&yaml.LiteralStyle != 0 {
		return 0
	}
	ahead := *r
	block := r.style&yaml.FoldedStyle != 0
	breaks := 0
	for {
		if !block {
			ahead.pos += len(ahead.text[ahead.pos:]) - len(strings.TrimLeft(ahead.text[ahead.pos:], " \t"))
		}
		if breakLen(ahead.text[ahead.pos:]) == 0 {
			break
		}
		ahead.newline()
		breaks++
	}
	if breaks == 0 {
		return 0
	}
	size := prefix(value, " ")
	for size < breaks && strings.HasPrefix(value[size:], "\n") {
		size++
	}
	if size > 0 {
		*r = ahead
	}
	return size
}

// joins moves past the escaped line breaks of a double-quoted scalar, which stand for nothing.
func (r *rereader) joins() {
	for r.style&yaml.DoubleQuotedStyle != 0 && strings.HasPrefix(r.text[r.pos:], `\`) {
		n := breakLen(r.text[r.pos+1:])
		if n == 0 {
			return
		}
		r.pos = len(r.text) - len(strings.TrimLeft(r.text[r.pos+1+n:], " \t"))
	}
}

// escape moves past an escape of a double-quoted scalar. Each stands for one character.
func (r *rereader) escape(value string) int {
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	rest := r.text[r.pos+1:]
	if rest == "" {
		return 0
	}
	_, size := utf8.DecodeRuneInString(rest)
	r.pos = min(r.pos+1+size+digits[rest[0]], len(r.text))
	_, size = utf8.DecodeRuneInString(value)
	return size
}

func prefix(text, with string) int {
	if strings.HasPrefix(text, with) {
		return len(with)
	}
	return 0
}
