// Package tools is what a model may call during a step, with its bounds: the tools of the file and those of MCP servers.
package tools

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"go.starlark.net/starlark"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/llm"
)

// Limits bound the use of tools in one execution of a step.
type Limits struct {
	Rounds int           // answers of the model that ask for tools
	Time   time.Duration // of one call, without waits in Throng
	Bytes  int           // of a result, as the model sees it
}

// MostCalls is how many calls of one answer are carried out.
const MostCalls = 16

// readLimits reads `tool_limits`. An absent node has the defaults.
func readLimits(n *doc.Node) Limits {
	l := Limits{Rounds: 5, Time: 30 * time.Second, Bytes: 16_000}
	n.Fields("rounds", "time", "bytes")
	if rounds := n.Get("rounds"); rounds != nil {
		l.Rounds = rounds.Int(1, 100)
	}
	if t := n.Get("time"); t != nil {
		l.Time = t.Duration(time.Millisecond, time.Hour)
	}
	if bytes := n.Get("bytes"); bytes != nil {
		l.Bytes = bytes.Int(100, 1_000_000)
	}
	return l
}

// TooMany is the failure of a step whose model asks for tools once more than it may.
func (l Limits) TooMany() error {
	return engine.Fail(engine.LoopLimit, "the model asks for tools after %d answers that did; `tool_limits: {rounds: …}` allows more", l.Rounds)
}

// result returns the message with the result of a call. A long result is cut, with a mark.
func (l Limits) result(call llm.ToolCall, out value.Value) (llm.Message, error) {
	text, ok := starlark.AsString(out)
	if !ok {
		if out == value.Missing {
			out = starlark.None
		}
		encoded, err := value.AppendJSON(nil, out)
		if err != nil {
			return llm.Message{}, err
		}
		text = string(encoded)
	}
	return llm.Message{Role: llm.RoleTool, Text: cut(text, l.Bytes), Answers: &call}, nil
}

// failure returns the message that tells the model why a call failed. The text is the same whenever the call fails in this way.
func (l Limits) failure(call llm.ToolCall, err error, private bool) llm.Message {
	text := reason(err)
	if private {
		text = "it failed"
	}
	return llm.Message{Role: llm.RoleTool, Text: cut("Error: "+text, min(l.Bytes, mostReason)), Answers: &call, Failed: true}
}

// mostReason limits the text of a failure, in bytes.
const mostReason = 2000

// reason returns why a call failed. Texts of failures that depend on timing name addresses and times, so their class stands for them.
func reason(err error) string {
	if over, ok := errors.AsType[*service.Overtime](err); ok {
		return "no result within " + engine.FormatDuration(over.Limit)
	}
	if step, ok := errors.AsType[*engine.StepError](err); ok && step.Class.Timing() {
		return "no result (" + strings.ReplaceAll(step.Class.String(), "_", " ") + ")"
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return scriptPlace.ReplaceAllString(line, "")
}

// scriptPlace is where a script fails, which says nothing to a model.
var scriptPlace = regexp.MustCompile(`^[^\s:]+:\d+:\d+: (?:fail: )?`)

// cut returns the beginning of a text that is longer than most bytes, with a mark.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s\n[cut after %s of %s]", strings.ToValidUTF8(text[:most], ""), engine.FormatBytes(int64(most)), engine.FormatBytes(int64(len(text))))
}

// Tool is a tool that is offered to a model.
type Tool struct {
	llm.Tool
	At     int          // index of its entry in the step's list
	Remote string       // its name at its MCP server; "" for a tool of the file
	Input  *known.Shape // what its arguments look like

	check func(arguments string) (value.Value, error)
}

// Set is what a model may call in one execution of a step.
type Set struct {
	Tools []llm.Tool
	known map[string]*Tool
}

// wireName is what the wire formats allow as the name of a tool.
var wireName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Add adds a tool. Names that models cannot use, or that another tool has, are errors.
func (s *Set) Add(t *Tool) error {
	switch {
	case len(t.Name) > 64 || !wireName.MatchString(t.Name):
		return engine.Fail(engine.ConfigError, "models cannot name the tool %q: a name has at most 64 letters, digits, _ and -", t.Name)
	case s.known[t.Name] != nil:
		return engine.Fail(engine.ConfigError, "two tools have the name %s", t.Name)
	}
	if s.known == nil {
		s.known = map[string]*Tool{}
	}
	s.known[t.Name] = t
	s.Tools = append(s.Tools, t.Tool)
	return nil
}

// Find returns the tool of a call and its arguments. The error, for the model, says what is wrong with the call.
func (s *Set) Find(call llm.ToolCall) (*Tool, value.Value, error) {
	t := s.known[call.Name]
	if t == nil {
		var names []string
		for _, known := range s.Tools {
			names = append(names, known.Name)
		}
		return nil, nil, fmt.Errorf("there is no tool %.100q; there are %s", call.Name, strings.Join(names, ", "))
	}
	arguments, err := t.check(call.Arguments)
	if err != nil {
		return nil, nil, fmt.Errorf("the arguments do not fit: %w", err)
	}
	return t, arguments, nil
}
