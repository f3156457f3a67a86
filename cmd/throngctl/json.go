package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/engine"
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
func (t *terminal) print(value any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(value)
}

// line writes one of several answers as JSON, on a line of its own.
func (t *terminal) line(value any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

// quiet is the terminal without what is for people.
func (t *terminal) quiet() *terminal {
	q := *t
	q.out = io.Discard
	return &q
}

// done says that something was done to a run.
func (t *terminal) done(run engine.RunID, format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if t.json {
		return t.print(answer.Done{Run: run, Done: text})
	}
	_, err := fmt.Fprintln(t.out, text)
	return err
}

// failure writes an error as JSON, on one line.
func (t *terminal) failure(err error, code int) int {
	enc := json.NewEncoder(t.err)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(answer.NewError(err, code)) // to the terminal
	return code
}
