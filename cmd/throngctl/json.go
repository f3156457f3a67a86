package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
)

// jsonFlag is that of commands whose answer programs read too. execute finds it, and tells the terminal.
type jsonFlag struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// wantsJSON reports whether a command line asks for JSON.
func wantsJSON(command *kong.Context) bool {
	for _, f := range command.Flags() {
		if f.Name == "json" {
			on, _ := command.FlagValue(f).(bool)
			return on
		}
	}
	return false
}

// print writes an answer as JSON.
func (t *terminal) print(answer any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(answer)
}

// line writes one of several answers as JSON, on a line of its own.
func (t *terminal) line(answer any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(answer)
}

// quiet is the terminal without what is for people.
func (t *terminal) quiet() *terminal {
	q := *t
	q.out = io.Discard
	return &q
}

// doneJSON is the answer of a command that has nothing to say but that it is done.
type doneJSON struct {
	Run  engine.RunID `json:"run,omitempty"`
	Done string       `json:"done"`
}

// done says that something was done to a run.
func (t *terminal) done(run engine.RunID, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if t.json {
		return t.print(doneJSON{run, text})
	}
	_, err := fmt.Fprintln(t.out, text)
	return err
}

// errorJSON is an error, on standard error.
type errorJSON struct {
	Error    string        `json:"error"`
	Code     int           `json:"exit_code"`
	Mistakes []mistakeJSON `json:"mistakes,omitempty"`
}

// mistakeJSON is one that a person made, in a flag or at a place in a file.
type mistakeJSON struct {
	Field   string `json:"field,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Problem string `json:"problem"`
	Hint    string `json:"hint,omitempty"`
}

// failure writes an error as JSON, on one line.
func (t *terminal) failure(err error, code int) int {
	e := errorJSON{Error: secrets.Redact(err.Error()), Code: code}
	if mistakes, ok := errors.AsType[*scenario.Mistakes](err); ok {
		for _, m := range mistakes.Problems() {
			e.Mistakes = append(e.Mistakes, mistakeJSON{File: m.File, Line: m.Line, Column: m.Col, Problem: m.Text, Hint: m.Hint})
		}
	}
	for _, f := range fields(err) {
		e.Mistakes = append(e.Mistakes, mistakeJSON{Field: f.Field, Problem: secrets.Redact(f.Problem), Hint: secrets.Redact(f.Hint)})
	}
	enc := json.NewEncoder(t.err)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // to the terminal
	return code
}

// fields are the mistakes of a person in an error, those of joined ones too.
func fields(err error) (all []*engine.FieldError) {
	switch e := err.(type) { //nolint:errorlint // it goes through the tree itself
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

// utc is a time for programs; one that is not known is left out.
func utc(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.UTC()
}
