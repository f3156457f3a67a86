package tools

import (
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine/chain/expr"
	"github.com/throng-sim/throng/engine/internal/doc"
)

// Box is what the model of a step may call, with the bounds of its use.
type Box struct {
	Limits
	Entries []*Entry
}

// Entry is a tool of the file, or tools of an MCP server.
type Entry struct {
	At     *doc.Node
	Own    *Tool // nil for a server
	Server string
	Only   []string // the tools of the server that are offered; empty for all
}

// Read reads the tools of a step; nil if it has none. known are the tools of the file. batched is the service of the step that sends
// calls in batches; "" if none does.
func Read(in *expr.File, n *doc.Node, known map[string]*Tool, batched string) *Box {
	list := n.Get("tools")
	if list == nil {
		if limits := n.Get("tool_limits"); limits != nil {
			limits.Errorf("`tools: [NAME]`", "limits of tools, but the step has none")
		}
		return nil
	}
	b := &Box{Limits: readLimits(n.Get("tool_limits"))}
	for _, other := range []string{"cache", "stream"} {
		if at := n.Get(other); at != nil && (other == "cache" || at.Bool()) {
			at.Errorf("remove it, or the tools", "`%s` does not combine with `tools`", other)
		}
	}
	if n.Get("extra").Get("tools") != nil {
		n.Get("extra").Errorf("remove them, or `tools` of the step", "tools in `extra` do not combine with `tools`")
	}
	if batched != "" {
		list.Errorf("use a service without `batch`", "the service %s sends its calls in batches, and each answer that asks for tools would wait for one", batched)
	}
	for _, at := range list.List() {
		b.add(in, at, known)
	}
	if list.Kind() == doc.List && len(list.List()) == 0 {
		list.Errorf("`tools: [NAME, mcp:SERVER]`", "no tools")
	}
	return b
}

// add reads an entry of the list.
func (b *Box) add(in *expr.File, at *doc.Node, known map[string]*Tool) {
	name := at.Text()
	if server, only, ok := parseServer(name); ok {
		b.addServer(at, server, only)
		return
	}
	own := known[name]
	switch {
	case name == "": // reported
	case own == nil:
		hint := "define it under `tools`; mcp:SERVER names the tools of a service of kind mcp"
		at.Guess(in.Near(name, slices.Collect(maps.Keys(known)), hint).And(hint)).Errorf("there is no tool %s", name)
	case slices.ContainsFunc(b.Entries, func(e *Entry) bool { return e.Own == own }):
		at.Errorf("remove it", "the tool %s is listed twice", name)
	default:
		b.Entries = append(b.Entries, &Entry{At: at, Own: own})
	}
}

// addServer adds a tool of a server, or all for "".
func (b *Box) addServer(at *doc.Node, server, only string) {
	i := slices.IndexFunc(b.Entries, func(e *Entry) bool { return e.Own == nil && e.Server == server })
	if i < 0 {
		b.Entries = append(b.Entries, &Entry{At: at, Server: server})
		i = len(b.Entries) - 1
	} else if e := b.Entries[i]; only == "" || len(e.Only) == 0 || slices.Contains(e.Only, only) {
		at.Errorf("remove it", "these tools of %s are listed twice", server)
	}
	if only != "" {
		b.Entries[i].Only = append(b.Entries[i].Only, only)
	}
}
