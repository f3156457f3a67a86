package answer

import (
	"errors"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// Done is the answer of a command without other results.
type Done struct {
	Run  engine.RunID `json:"run,omitempty"`
	Done string       `json:"done"`
}

// Error is an error on standard error.
type Error struct {
	Error    string    `json:"error"`
	Code     int       `json:"exit_code"`
	Mistakes []Mistake `json:"mistakes,omitempty"`
}

// Mistake is a mistake in a flag or at a position in a file.
type Mistake struct {
	Field   string `json:"field,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Problem string `json:"problem"`
	Hint    string `json:"hint,omitempty"`
}

// fields returns all field errors in an error, including joined ones.
func fields(err error) (all []*engine.FieldError) {
	switch e := err.(type) { //nolint:errorlint // walks the tree itself
	case *engine.FieldError:
		return []*engine.FieldError{e}
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all = append(all, fields(one)...)
		}
	case interface{ Unwrap() error }:
		return fields(e.Unwrap())
	}
	return all
}

// utc converts a time to UTC. A zero time stays zero.
func utc(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.UTC()
}

// NewError returns the JSON form of an error that ends the program with a code. Secrets in it are redacted.
func NewError(err error, code int) Error {
	e := Error{Error: secrets.Redact(err.Error()), Code: code}
	if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
		for _, m := range mistakes.Problems() {
			e.Mistakes = append(e.Mistakes, Mistake{File: m.File, Line: m.Line, Column: m.Col, Problem: m.Text, Hint: m.Hint})
		}
	}
	for _, f := range fields(err) {
		e.Mistakes = append(e.Mistakes, Mistake{Field: f.Field, Problem: secrets.Redact(f.Problem), Hint: secrets.Redact(f.Hint)})
	}
	return e
}
