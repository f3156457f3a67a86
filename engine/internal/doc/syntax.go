package doc

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// syntax reports a syntax error in terms of the scenario language.
func (t *tree) syntax(err error) {
	var e *yaml.LoadError
	if !errors.As(err, &e) {
		t.errorf(0, "", "%v", err)
		return
	}
	f := &fault{
		src:     t.src,
		at:      t.src.offset(e.Mark.Line, e.Mark.Column),
		opened:  t.src.offset(e.ContextMark.Line, e.ContextMark.Column),
		message: e.Message,
		context: e.ContextMsg,
	}
	if strings.Contains(e.Message, errDeep.Error()) {
		t.errorf(f.at, "", "%s", errDeep)
		return
	}
	f.explain()
	t.errorf(f.at, f.hint, "%s", f.problem)
}

// fault is a syntax error: where the parser stopped, where it started the current element, and its message. The explain
// methods turn it into a problem and a hint, and move it to the place of the error.
type fault struct {
	src              *source
	at, opened       int
	message, context string
	problem, hint    string
}

func (f *fault) explain() {
	if f.tab() {
		return
	}
	switch {
	case strings.Contains(f.message, "unexpected end of stream") && strings.Contains(f.context, "quoted"):
		f.move(f.opened, fmt.Sprintf("the quote %s is never closed", code(f.char(f.opened))), "close it on its line")
	case strings.Contains(f.message, "mapping values are not allowed"):
		f.colon()
	case strings.Contains(f.message, "could not find expected ':'"):
		f.noColon()
	case strings.Contains(f.message, "cannot start any token"), strings.Contains(f.message, "expected node content"),
		strings.Contains(f.message, "mapping keys are not allowed"), strings.Contains(f.message, "alphabetic or numeric"):
		f.first()
	case strings.Contains(f.message, "block sequence entries"):
		f.set("a list item cannot start on this line", "put each item on a line of its own, or write the list in brackets")
	case strings.Contains(f.message, "unknown escape"):
		f.set(fmt.Sprintf("%s is not a valid escape", code(f.src.text[f.at:min(f.at+2, len(f.src.text))])), `write \\ for a backslash, or use '…', where it stands for itself`)
	case strings.Contains(f.message, "expected key"), strings.Contains(f.message, "'-' indicator"):
		f.block()
	case strings.Contains(f.message, "expected ',' or"):
		f.flow()
	case strings.Contains(f.message, "<document start>"):
		f.indentation("this does not continue the lines above")
	case strings.Contains(f.message, "YAML document"), strings.Contains(f.context, "directive"):
		f.set("directives (`%`) are not part of the language", "remove the line")
	case strings.Contains(f.context, "block scalar"):
		f.set("this cannot follow "+code(f.char(f.opened)), "start the text on the next line, indented")
	case strings.Contains(f.message, "unknown anchor"):
		f.set(fmt.Sprintf("aliases (%s) are not part of the language", code(f.word())), "write the value out, or quote it: "+quote(f.word()))
	default:
		f.set(strings.TrimSpace(f.context+" "+f.message), "")
	}
}

func (f *fault) set(problem, hint string) { f.problem, f.hint = problem, hint }

func (f *fault) move(at int, problem, hint string) { f.at, f.problem, f.hint = at, problem, hint }

// char returns the character at an offset, "" at the end of the text.
func (f *fault) char(at int) string {
	r, size := utf8.DecodeRuneInString(f.src.text[at:])
	if size == 0 {
		return ""
	}
	return string(r)
}

// word returns the text from where the parser stopped up to a blank or a bracket.
func (f *fault) word() string {
	rest := f.rest()
	if n := strings.IndexAny(rest, " \t,]}"); n > 0 {
		rest = rest[:n]
	}
	return rest
}

// before returns the line up to where the parser stopped, rest what follows on it.
func (f *fault) before() string { return f.src.text[f.src.lineStart(f.at):f.at] }
func (f *fault) rest() string   { return f.src.text[f.at:f.src.lineEnd(f.at)] }

// tab finds a tab in the indentation of the line the parser stopped on.
func (f *fault) tab() bool {
	start := f.src.lineStart(f.at)
	line := f.src.text[start:f.src.lineEnd(start)]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	n := strings.IndexByte(indent, '\t')
	if n < 0 || f.at-start > len(indent) || strings.Contains(f.context, "flow") {
		return false
	}
	f.move(start+n, "a tab in the indentation", "indent with spaces")
	return true
}

// colon explains a misplaced colon: either its key is indented under a line that already has a value, or it is the second
// one of a line.
func (f *fault) colon() {
	start := f.src.lineStart(f.at)
	line := f.src.text[start:f.src.lineEnd(start)]
	key := len(line) - len(strings.TrimLeft(line, " -"))
	if first := keyEnd(line[key:]); first >= 0 && start+key+first < f.at {
		f.quoteValue(strings.TrimLeft(line[key+first+1:], " "), "a second colon in the value of "+code(line[key:key+first]))
		return
	}
	name := strings.TrimSpace(f.before())
	f.at = start + key
	f.indentation(code(name) + " is indented under a line that already has a value")
}

// keyEnd returns the offset of the first colon outside quotes that ends a key, -1 when there is none.
func keyEnd(line string) int {
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case i == 0 && (c == '"' || c == '\''):
			quote = c
		case c == ':' && (i+1 == len(line) || line[i+1] == ' '):
			return i
		}
	}
	return -1
}

// quoteValue sets a problem with the hint to quote a value.
func (f *fault) quoteValue(value, problem string) {
	if n := strings.Index(value, " #"); n >= 0 {
		value = value[:n]
	}
	value = strings.TrimSpace(value)
	hint := "quote the value"
	if value != "" && utf8.RuneCountInString(value) <= 80 {
		hint += ": " + quote(value)
	}
	f.set(problem, hint)
}

// noColon explains a line that is neither a key nor part of the value above.
func (f *fault) noColon() {
	f.at = f.opened
	text := strings.TrimSpace(f.rest())
	if unspaced.MatchString(text) {
		f.set(code(text)+" has no space after its colon", "write "+code(unspaced.ReplaceAllString(text, "$1: $2")))
		return
	}
	f.set(code(text)+" has no colon", "write a key as "+code("name: value")+"; indent the line if it belongs to the value above")
}

// first explains a character with which no value can start.
func (f *fault) first() {
	if strings.Contains(f.message, "alphabetic") {
		f.at = f.opened
	}
	flow := f.open() >= 0
	switch c := f.char(f.at); {
	case c == "" || f.at >= len(strings.TrimRight(f.src.text, " \t\r\n")):
		f.unclosed()
	case c == "}" || c == "]":
		f.stray(c)
	case c == "," && flow:
		f.set("there is no value before this comma", "remove it")
	default:
		f.quoteValue(f.valueFrom(f.at, flow), "a value cannot start with "+code(c))
	}
}

func (f *fault) stray(c string) {
	f.set(code(c)+" closes nothing", "remove it, or quote the value that it belongs to")
}

// block explains an element of a block that is neither a key nor an item.
func (f *fault) block() {
	c := f.char(f.at)
	switch {
	case c == "}" || c == "]":
		f.stray(c)
	case strings.TrimSpace(f.before()) == "":
		if strings.Contains(f.message, "'-'") {
			f.indentation("expected an item (`- …`) of the list above")
			return
		}
		f.indentation("the indentation fits no block above")
	case f.lateQuote(), f.afterQuote():
	default:
		f.set(code(strings.TrimSpace(f.rest()))+" does not belong to the value before it", "quote the whole value, or start a new line")
	}
}

// indentation sets a problem whose remedy is another indentation, and names the ones that the lines above offer.
func (f *fault) indentation(problem string) {
	line, col := f.src.position(f.at)
	deeper, outer := "", ""
	for above := line - 1; above > 0 && outer == ""; above-- {
		text := f.src.line(above)
		trimmed := strings.TrimLeft(text, " ")
		if trimmed == "" || trimmed[0] == '#' {
			continue
		}
		indent := len(text) - len(trimmed)
		switch {
		case indent > col-1 && deeper == "":
			deeper = fmt.Sprintf("in column %d, like line %d", indent+1, above)
		case indent < col-1:
			outer = fmt.Sprintf("in column %d, like line %d", indent+1, above)
		}
	}
	switch {
	case deeper != "" && outer != "":
		f.set(problem, "start it "+outer+", or "+deeper)
	case deeper != "" || outer != "":
		f.set(problem, "start it "+outer+deeper)
	default:
		f.set(problem, "indent it like the lines above")
	}
}
