package database

import (
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
)

type sqlKind byte

const (
	sqlWord sqlKind = iota
	sqlParam
	sqlQuoted
	sqlSymbol
)

// sqlToken is a token of a statement; words are in lower case.
type sqlToken struct {
	kind sqlKind
	text string
	n    int // number of a parameter
}

func (t sqlToken) ends() bool { return t.kind == sqlSymbol && t.text == ";" }

// sqlTokens splits a statement as Postgres does (chapter 4.1 of its manual), without comments and numbers.
func sqlTokens(text string) ([]sqlToken, error) {
	l := &sqlLexer{rest: text}
	for l.rest != "" {
		if err := l.next(); err != nil {
			return nil, err
		}
	}
	return l.tokens, nil
}

type sqlLexer struct {
	rest   string
	tokens []sqlToken
}

// take consumes n bytes and returns them.
func (l *sqlLexer) take(n int) string {
	text := l.rest[:n]
	l.rest = l.rest[n:]
	return text
}

func (l *sqlLexer) add(kind sqlKind, text string) {
	l.tokens = append(l.tokens, sqlToken{kind: kind, text: text})
}

func (l *sqlLexer) next() error {
	switch c := l.rest[0]; {
	case strings.HasPrefix(l.rest, "--"):
		l.take(lineEnd(l.rest))
	case strings.HasPrefix(l.rest, "/*"):
		return l.comment()
	case c == '\'':
		return l.quoted(1, '\'', false)
	case c == '"':
		return l.quoted(1, '"', false)
	case (c == 'e' || c == 'E') && strings.HasPrefix(l.rest[1:], "'"):
		return l.quoted(2, '\'', true)
	case c == '$':
		return l.dollar()
	case letter(c):
		l.add(sqlWord, strings.ToLower(l.take(wordEnd(l.rest))))
	case digit(c):
		l.take(numberEnd(l.rest))
	case strings.IndexByte(" \t\n\r\f\v", c) >= 0:
		l.take(1)
	default:
		l.add(sqlSymbol, l.take(1))
	}
	return nil
}

// quoted takes a quoted token. The quote is byte open-1; a doubled quote stands for one.
func (l *sqlLexer) quoted(open int, quote byte, escapes bool) error {
	for i := open; i < len(l.rest); i++ {
		switch {
		case escapes && l.rest[i] == '\\':
			i++
		case l.rest[i] != quote:
		case i+1 < len(l.rest) && l.rest[i+1] == quote:
			i++
		default:
			l.add(sqlQuoted, l.take(i+1))
			return nil
		}
	}
	return unclosed("quote " + string(quote))
}

// comment takes a comment between /* and */, which may be nested.
func (l *sqlLexer) comment() error {
	depth := 0
	for i := 0; i+1 < len(l.rest); i++ {
		switch l.rest[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			l.take(i + 1)
			return nil
		}
	}
	return unclosed("comment /*")
}

// dollar takes a parameter, or a text between two $tag$.
func (l *sqlLexer) dollar() error {
	if end := 1 + digits(l.rest[1:]); end > 1 {
		text := l.take(end)
		n, err := strconv.Atoi(text[1:])
		if err != nil {
			n = -1
		}
		l.tokens = append(l.tokens, sqlToken{sqlParam, text, n})
		return nil
	}
	tag := 1
	for tag < len(l.rest) && l.rest[tag] != '$' && (letter(l.rest[tag]) || digit(l.rest[tag])) {
		tag++
	}
	if tag == len(l.rest) || l.rest[tag] != '$' {
		l.add(sqlSymbol, l.take(1))
		return nil
	}
	quote := l.rest[:tag+1]
	end := strings.Index(l.rest[tag+1:], quote)
	if end < 0 {
		return unclosed("quote " + quote)
	}
	l.add(sqlQuoted, l.take(2*len(quote)+end))
	return nil
}

func unclosed(what string) error {
	return &engine.FieldError{Field: "query", Problem: "the " + what + " is not closed"}
}

func letter(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func digits(text string) int {
	n := 0
	for n < len(text) && digit(text[n]) {
		n++
	}
	return n
}

func wordEnd(text string) int {
	n := 0
	for n < len(text) && (letter(text[n]) || digit(text[n]) || text[n] == '$') {
		n++
	}
	return n
}

// numberEnd returns the end of 12, 1.5e3 or 0x1f. A sign is a symbol, which makes no difference here.
func numberEnd(text string) int {
	n := 0
	for n < len(text) && (letter(text[n]) || digit(text[n]) || text[n] == '.') {
		n++
	}
	return n
}

func lineEnd(text string) int {
	if i := strings.IndexAny(text, "\n\r"); i >= 0 {
		return i
	}
	return len(text)
}
