package database

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Query is a step's statement for a Postgres service. It is immutable.
type Query struct {
	Text   string
	reads  bool
	first  string // first word
	params int
	arrays []bool // by parameter
}

const maxQuery = 1 << 20 // bytes

// readers are the first words of statements that only read, changers the words that such a statement does not contain.
var (
	readers  = []string{"select", "with", "values", "table", "show", "explain"}
	changers = []string{"insert", "update", "delete", "merge", "into", "share", "nextval", "setval"}
	// lasting are the first words of statements that change the connection or extend beyond one statement: connections are shared.
	lasting = []string{
		"begin", "start", "commit", "end", "rollback", "abort", "savepoint", "release", "set", "reset", "discard", "listen", "unlisten",
		"prepare", "execute", "deallocate", "declare", "fetch", "move", "close", "copy", "load", "lock",
	}
)

// ParseQuery parses a statement as far as Throng needs to understand it; the server has the last word. Its error is a
// *engine.FieldError.
func ParseQuery(text string) (*Query, error) {
	if len(text) > maxQuery {
		return nil, &engine.FieldError{Field: "query", Problem: "it is longer than 1 MB", Hint: "give data as args"}
	}
	if strings.Contains(text, "${") {
		return nil, &engine.FieldError{
			Field: "query", Problem: "an expression in a query would let data become SQL", Hint: "use $1 and `args`",
		}
	}
	tokens, err := sqlTokens(text)
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(tokens, sqlToken.ends); i >= 0 && slices.ContainsFunc(tokens[i:], func(t sqlToken) bool { return !t.ends() }) {
		return nil, &engine.FieldError{Field: "query", Problem: "it has more than one statement", Hint: "a step for each"}
	}
	first := slices.IndexFunc(tokens, func(t sqlToken) bool { return t.kind == sqlWord })
	switch {
	case first < 0:
		return nil, &engine.FieldError{Field: "query", Problem: "it has no statement", Hint: "such as select name from users where id = $1"}
	case slices.Contains(lasting, tokens[first].text):
		return nil, &engine.FieldError{
			Field: "query", Problem: "a step cannot " + tokens[first].text, Hint: "its statement is a transaction of its own, on a connection that it shares",
		}
	}
	q := &Query{Text: text, first: tokens[first].text, reads: slices.Contains(readers, tokens[first].text)}
	for i, t := range tokens {
		switch {
		case t.kind == sqlWord && slices.Contains(changers, t.text):
			q.reads = false
		case t.kind == sqlParam && (t.n < 1 || t.n > mostParams):
			return nil, &engine.FieldError{Field: "query", Problem: t.text + " is not a parameter", Hint: "they are counted from $1"}
		case t.kind == sqlParam:
			q.params = max(q.params, t.n)
			q.arrays = append(q.arrays, make([]bool, q.params-len(q.arrays))...)
			q.arrays[t.n-1] = q.arrays[t.n-1] || usedAsArray(tokens, i)
		}
	}
	return q, nil
}

// mostParams is the most parameters that the protocol allows.
const mostParams = 65535

// usedAsArray reports whether the parameter at i is cast to an array, or compared with an array's elements.
func usedAsArray(tokens []sqlToken, i int) bool {
	at := func(i int) string {
		if i < 0 || i >= len(tokens) {
			return ""
		}
		return tokens[i].text
	}
	if at(i-1) == "(" && slices.Contains([]string{"any", "all", "some"}, at(i-2)) {
		return true
	}
	switch {
	case at(i+1) == ":" && at(i+2) == ":":
		i += 3
	case at(i+1) == "as":
		i += 2
	default:
		return false
	}
	for at(i+1) == "." { // schema.type
		i += 2
	}
	for i++; slices.Contains([]string{"precision", "varying", "with", "without", "time", "zone"}, at(i)); i++ {
	}
	if at(i) == "(" { // numeric(10, 2)
		for i < len(tokens) && at(i) != ")" {
			i++
		}
		i++
	}
	return at(i) == "[" || at(i) == "array"
}

// Reads reports whether the statement only reads. It then runs in a read-only transaction.
func (q *Query) Reads() bool { return q.reads }

// Params returns the highest parameter number in the statement.
func (q *Query) Params() int { return q.params }

// Array reports whether a list for a parameter, counted from 0, is a Postgres array; otherwise it is JSON.
func (q *Query) Array(param int) bool { return param < len(q.arrays) && q.arrays[param] }
