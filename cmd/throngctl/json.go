package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
)

// jsonFlag is the flag of commands with JSON output. execute reads it.
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

// print prints a value as indented JSON.
func (t *terminal) print(value any) error { return answer.Print(t.out, value) }

// line prints a value as a line of JSON.
func (t *terminal) line(value any) error { return answer.PrintLine(t.out, value) }

// quiet returns a copy of the terminal that drops output for people.
func (t *terminal) quiet() *terminal {
	q := *t
	q.out = io.Discard
	return &q
}

// done reports that a command succeeded.
func (t *terminal) done(run engine.RunID, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if t.json {
		return t.print(answer.Done{Run: run, Done: text})
	}
	_, err := fmt.Fprintln(t.out, text)
	return err
}

// failure prints an error as a line of JSON and returns the exit code.
func (t *terminal) failure(err error, code int) int {
	_ = answer.PrintLine(t.err, answer.NewError(err, code)) // to the terminal
	return code
}
