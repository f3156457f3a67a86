package fromopenapi

import (
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine/importer"
)

// maxPattern bounds how long a text made from a pattern is.
const maxPattern = 64

// fromPattern makes a value that matches a regular expression, with draws where the pattern leaves a choice; false if it cannot.
func fromPattern(pattern string, least int) (importer.Value, bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return importer.Value{}, false
	}
	g := &patternWriter{least: least}
	if !g.write(re.Simplify(), 0) {
		return importer.Value{}, false
	}
	g.flush()
	if check, err := regexp.Compile(pattern); err != nil || !check.MatchString(g.sample.String()) || g.sample.Len() < least {
		return importer.Value{}, false
	}
	if len(g.parts) == 0 {
		return text(""), true
	}
	if len(g.parts) == 1 {
		if g.parts[0].Expr != "" { // digits as a number would lose their type
			return importer.Value{Parts: []importer.Value{text(""), g.parts[0]}}, true
		}
		return g.parts[0], true
	}
	return importer.Value{Parts: g.parts}, true
}

// patternWriter writes parts of a text, and one text that they can become.
type patternWriter struct {
	parts   []importer.Value
	literal strings.Builder
	sample  strings.Builder
	digits  int // not written yet
	least   int
	draws   int
}

func (g *patternWriter) flush() {
	if g.digits > 0 {
		low := int64(1)
		for range g.digits - 1 {
			low *= 10
		}
		if g.digits == 1 {
			low = 0
		}
		high := int64(10)
		for range g.digits - 1 {
			high *= 10
		}
		g.digits = 0
		g.parts = append(g.parts, importer.Value{Expr: "int(uniform(" + strconv.FormatInt(low, 10) + ", " + strconv.FormatInt(high, 10) + "))"})
	}
	if g.literal.Len() > 0 {
		g.parts = append(g.parts, text(g.literal.String()))
		g.literal.Reset()
	}
}

func (g *patternWriter) text(s string) {
	if g.digits > 0 {
		g.flush()
	}
	g.literal.WriteString(s)
	g.sample.WriteString(s)
}

const (
	mostDigits = 9
	mostDraws  = 8
)

// class writes one character of a class.
func (g *patternWriter) class(pairs []rune) {
	if len(pairs) == 2 && pairs[0] == '0' && pairs[1] == '9' && g.digits < mostDigits {
		if g.literal.Len() > 0 {
			g.flush()
		}
		g.digits++
		g.sample.WriteByte('1')
		return
	}
	var choices []string
	for i := 0; i+1 < len(pairs) && len(choices) < 6; i += 2 {
		for r := pairs[i]; r <= pairs[i+1] && len(choices) < 6; r++ {
			if r > ' ' && r < 0x7f && r != '$' && r != '{' {
				choices = append(choices, string(r))
			}
		}
	}
	for _, common := range []rune{'a', 'A', '0'} { // of a class that excludes a few, the usual characters
		for i := 0; i+1 < len(pairs); i += 2 {
			if pairs[i] < common && pairs[i+1] > common+8 && pairs[i+1]-pairs[i] > 60 {
				choices = []string{string(common), string(common + 1), string(common + 2), string(common + 3)}
			}
		}
		if len(choices) == 4 {
			break
		}
	}
	if len(choices) == 0 {
		if len(pairs) > 0 {
			g.text(string(pairs[0]))
		}
		return
	}
	if len(choices) == 1 || g.draws >= mostDraws {
		g.text(choices[0])
		return
	}
	g.flush()
	g.draws++
	quoted := make([]string, len(choices))
	for i, c := range choices {
		quoted[i] = strconv.Quote(c)
	}
	g.parts = append(g.parts, importer.Value{Expr: "pick([" + strings.Join(quoted, ", ") + "])"})
	g.sample.WriteString(choices[0])
}

// write writes a regular expression; false if it is too long or of a kind that is not supported.
func (g *patternWriter) write(re *syntax.Regexp, depth int) bool {
	if depth > 50 || g.sample.Len() > maxPattern {
		return false
	}
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
	case syntax.OpLiteral:
		g.text(string(re.Rune))
	case syntax.OpCharClass:
		g.class(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		g.class([]rune{'a', 'f'})
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			if !g.write(sub, depth+1) {
				return false
			}
		}
	case syntax.OpAlternate:
		return g.write(re.Sub[0], depth+1)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return g.repeat(re, depth)
	default:
		return false
	}
	return true
}

// repeat writes what is repeated as often as it must be, or until the text is long enough.
func (g *patternWriter) repeat(re *syntax.Regexp, depth int) bool {
	least, most := 0, -1
	switch re.Op {
	case syntax.OpPlus:
		least = 3 // one letter would fit, and look odd
	case syntax.OpQuest:
		most = 1
	case syntax.OpRepeat:
		least, most = re.Min, re.Max
	default:
	}
	for n := 0; n < least || g.sample.Len() < g.least && (most < 0 || n < most); n++ {
		if g.sample.Len() > maxPattern || !g.write(re.Sub[0], depth+1) {
			return false
		}
	}
	return true
}
