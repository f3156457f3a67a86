package doc

import (
	"fmt"
	"strings"
)

// unclosed reports the innermost bracket that is open at the end of the file.
func (f *fault) unclosed() {
	if open := f.open(); open >= 0 {
		f.move(open, code(f.char(open))+" is never closed", "close it with "+code(partner(f.char(open)))+", or quote the value that it belongs to")
		return
	}
	f.set("the file ends inside a value", "")
}

func partner(open string) string {
	if open == "{" {
		return "}"
	}
	return "]"
}

// open returns the offset of the innermost open bracket at the point where the parser stopped, -1 if there is none.
// Quotes count only where a value starts, so that apostrophes do not.
func (f *fault) open() int {
	var stack []int
	fresh, quoted := true, byte(0)
	for i := 0; i < f.at; i++ {
		switch c := f.src.text[i]; {
		case quoted != 0:
			if c == '\\' && quoted == '"' {
				i++
			} else if c == quoted {
				quoted = 0
			}
		case c == '#' && (i == 0 || strings.IndexByte(" \t\r\n", f.src.text[i-1]) >= 0):
			i = f.src.lineEnd(i) - 1
		case fresh && (c == '"' || c == '\''):
			quoted, fresh = c, false
		case c == '{' || c == '[':
			if fresh || len(stack) > 0 {
				stack = append(stack, i)
			}
			fresh = true
		case (c == '}' || c == ']') && len(stack) > 0:
			stack = stack[:len(stack)-1]
		case strings.IndexByte(",:-?\r\n", c) >= 0:
			fresh = true
		case c != ' ' && c != '\t':
			fresh = false
		}
	}
	if len(stack) == 0 {
		return -1
	}
	return stack[len(stack)-1]
}

// flow explains text in braces or brackets in place of a comma or the closing bracket.
func (f *fault) flow() {
	end := strings.TrimRight(f.src.text, " \t\r\n")
	line, _ := f.src.position(f.at)
	began, _ := f.src.position(f.opened)
	open := f.char(f.opened)
	switch c := f.char(f.at); {
	case f.at >= len(end):
		f.unclosed()
	case c == "}" || c == "]":
		_, col := f.src.position(f.opened)
		f.set(fmt.Sprintf("%s does not close the %s of line %d, column %d", code(c), code(open), began, col),
			"close it with "+code(partner(open))+", or quote the value that it belongs to")
	case f.lateQuote():
	case line > began && keyEnd(strings.TrimLeft(f.src.line(line), " ")) >= 0 && !f.closes():
		f.move(f.opened, code(open)+" is never closed", "close it with "+code(partner(open))+", or quote the value that it belongs to")
	case f.afterQuote():
	case c == "{" || c == "[":
		f.quoteValue(f.valueFrom(f.valueStart(), true), code(c)+" inside a value that is not quoted")
	case c == ":":
		f.quoteValue(f.valueFrom(f.valueStart(), true), "a second colon in a value that is not quoted")
	default:
		f.set("a comma or "+code(partner(open))+" is missing before "+code(f.word()), "put a comma before it, or quote the whole value")
	}
}

// closes reports whether the bracket that the parser was reading is closed anywhere.
func (f *fault) closes() bool {
	all := *f
	all.at = len(f.src.text)
	return all.open() != f.opened
}

// valueStart returns the start of the value in which the parser stopped: after the last key, comma or bracket.
func (f *fault) valueStart() int {
	line := f.before()
	start := 0
	for i := range line {
		if c := line[i]; (c == ':' || c == ',') && i+1 < len(line) && line[i+1] == ' ' || c == '{' || c == '[' {
			start = i + 1
		}
	}
	at := f.src.lineStart(f.at) + start
	return at + len(f.src.text[at:f.at]) - len(strings.TrimLeft(f.src.text[at:f.at], " "))
}

// valueFrom returns the text from an offset to the intended end of the value: the end of the line or, inside braces or
// brackets, the comma or bracket that ends the value, with all brackets in between closed.
func (f *fault) valueFrom(at int, flow bool) string {
	rest := f.src.text[at:f.src.lineEnd(at)]
	if !flow {
		return rest
	}
	depth := 0
	for i := range len(rest) {
		switch rest[i] {
		case '{', '[', '(':
			depth++
		case '}', ']', ')':
			if depth == 0 {
				return rest[:i]
			}
			depth--
		case ',':
			if depth == 0 {
				return rest[:i]
			}
		}
	}
	return rest
}

// quoted returns the quote directly before the point where the parser stopped, 0 if there is none, and the line up to it.
func (f *fault) quoted() (mark byte, line string) {
	line = strings.TrimRight(f.before(), " \t")
	if line == "" || line[len(line)-1] != '"' && line[len(line)-1] != '\'' {
		return 0, ""
	}
	return line[len(line)-1], line[:len(line)-1]
}

// lateQuote explains an unclosed quote that the opening quote of a later line closed.
func (f *fault) lateQuote() bool {
	mark, line := f.quoted()
	if mark == 0 || strings.IndexByte(line, mark) >= 0 {
		return false
	}
	opened := strings.LastIndexByte(f.src.text[:f.src.lineStart(f.at)], mark)
	if opened < 0 {
		return false
	}
	until, _ := f.src.position(f.at)
	f.move(opened, fmt.Sprintf("the quote %s is closed only on line %d", code(string(mark)), until), "close it on its line")
	return true
}

// afterQuote explains text after a closing quote.
func (f *fault) afterQuote() bool {
	mark, _ := f.quoted()
	if mark == 0 {
		return false
	}
	hint := `inside "…" write a quote as \", or put the whole value into '…'`
	if mark == '\'' {
		hint = `inside '…' write a quote as '', or put the whole value into "…"`
	}
	f.set("text after the closing quote: "+code(strings.TrimSpace(f.rest())), hint)
	return true
}
