package tools

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/chain/shape"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/script/known"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/service/llm"
)

// Misuse is the name of calls that no tool can carry out, in the paths of their records.
const Misuse = "tools"

// taken are names that have another meaning.
var taken = []string{llm.FormName, Misuse}

// noArguments is the schema of a tool without arguments.
var noArguments = json.RawMessage(`{"type":"object","properties":{}}`)

// Define reads a tool of the file, except for what it does: what it is for, and the shape of its arguments.
func Define(name *doc.Node, n *doc.Node) *Tool {
	n.Fields("about", "input", "call", "chain")
	n.Require("about")
	t := &Tool{Tool: llm.Tool{Name: name.Text(), About: strings.TrimSpace(n.Get("about").Text()), Schema: noArguments}, Input: known.RecordOf()}
	expr.CheckName(name, t.Name, "a tool")
	if slices.Contains(taken, t.Name) {
		name.Errorf("choose another name", "a tool cannot be called %s", t.Name)
	}
	if len(t.Name) > 64 || strings.Contains(t.Name, "__") {
		name.Errorf("two underscores stand between the names of a server and its tool", "the name of a tool has at most 64 letters, and no two underscores in a row")
	}
	t.check = func(arguments string) (value.Value, error) {
		if !json.Valid([]byte(arguments)) {
			return nil, errNoJSON
		}
		return value.DecodeJSON([]byte(`{}`))
	}
	if n.Get("input") == nil {
		return t
	}
	if s := shape.Read(n.Get("input")); s != nil {
		t.Schema, t.Input = s.Schema, s.Known
		t.check = func(arguments string) (value.Value, error) {
			out, err := s.Parse(arguments)
			if err != nil {
				return nil, err
			}
			return s.Filled(out), nil
		}
	}
	return t
}

// parseServer splits an entry of `tools` that names an MCP server, mcp:SERVER or mcp:SERVER.TOOL. ok is false for any other entry.
func parseServer(entry string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(entry, "mcp:")
	server, tool, _ = strings.Cut(rest, ".")
	return server, tool, ok
}
