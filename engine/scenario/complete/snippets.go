package complete

import (
	"slices"
	"strconv"
	"strings"
)

// snippet is a block with the keys that it needs. Lines are indented by tabs; SERVICE, CHAIN, CONNECTOR and EVENT become names of the
// scenario.
type snippet struct {
	kind, name, help string
	lines            []string
}

// stepSnippets has one snippet for each kind of step.
var stepSnippets = []snippet{
	{"http", "request", "A request to an HTTP service.", []string{"service: SERVICE", "get: /"}},
	{"llm", "ask", "A question to a model.", []string{"service: SERVICE", "prompt: \"What do you think?\""}},
	{"embed", "vector", "The embedding of a text.", []string{"service: SERVICE", "input: \"some text\""}},
	{"sql", "query", "A statement on a Postgres service.", []string{"service: SERVICE", "query: \"select 1\""}},
	{"python", "compute", "A function of this scenario, or an expression.", []string{"call: \"1 + 1\""}},
	{"connector", "connect", "A connector: a step that is defined by name.", []string{"target: CONNECTOR"}},
	{"emit", "record", "A row of results.", []string{"event: EVENT", "data: {value: 1}"}},
	{"remember", "remember", "Something that the agent remembers in later cycles.", []string{"set: {name: value}"}},
	{"recall", "recall", "The notes of the agent that match a text best.", []string{"service: SERVICE", "query: \"some text\"", "top: 5"}},
	{"say", "tell", "A message to other agents, delivered in the next cycle.", []string{"to: all", "text: hello"}},
	{"wait", "think", "Think time, in wall seconds.", []string{"for: 1"}},
	{"if", "choose", "Steps that depend on a condition.", []string{"condition: agent.index % 2 == 0", "then:", "\tstep yes: {kind: emit, event: EVENT}"}},
	{"for", "repeat", "Steps for each element of a list.", []string{"each: \"[1, 2, 3]\"", "as: item", "do:", "\tstep use_item: {kind: emit, event: EVENT, data: \"${item}\"}"}},
	{"while", "loop", "Steps that repeat as long as a condition is true.", []string{"condition: not last", "do:", "\tstep again: {kind: emit, event: EVENT}"}},
	{"chain", "run_chain", "Another chain of this scenario.", []string{"target: CHAIN"}},
	{"stop", "leave", "Ends the session early. This is not a failure.", []string{"because: done"}},
}

// otherSnippets are snippets for places where names are free.
var otherSnippets = map[string][]snippet{
	"services": {
		{"http", "shop", "An HTTP service; this one is the mock shop.", []string{"url: mock:shop"}},
		{"llm", "model", "Models, here the mock model.", []string{"provider: mock"}},
		{"mcp", "crm", "An MCP server, whose tools models may call.", []string{"url: https://crm.example.com/mcp"}},
		{"postgres", "database", "A Postgres database, with its address in a secret.", []string{"url: secret:DATABASE_URL"}},
	},
	"parameters": {{"", "name", "A value to set for each run.", []string{"default: 1", "title: Name"}}},
	"tools":      {{"", "find", "A tool that models may call.", []string{"about: What it does.", "input: {words: string}", "call: input.words"}}},
	"connectors": {{"python", "greet", "A step that other steps call by name.", []string{"call: \"'hello'\""}}},
}

// stepSnippet returns the snippet of a kind of step; nil if there is none.
func stepSnippet(kind string) *snippet {
	if i := slices.IndexFunc(stepSnippets, func(s snippet) bool { return s.kind == kind }); i >= 0 {
		return &stepSnippets[i]
	}
	return nil
}

// keys returns the keys of a snippet.
func (s *snippet) keys() (keys []string) {
	for _, line := range s.lines {
		if key, _, _ := strings.Cut(line, ":"); !strings.HasPrefix(key, "\t") {
			keys = append(keys, key)
		}
	}
	return keys
}

// needed returns the keys that a kind of step needs.
func needed(kind string) []string {
	if s := stepSnippet(kind); s != nil {
		return s.keys()
	}
	return nil
}

// snippets returns the blocks that can be inserted at the cursor.
func (c *cursor) snippets(all []*schema) (items []Item) {
	parent := c.node.parent
	for _, word := range blocks(all) {
		switch word {
		case "step":
			for i := range stepSnippets {
				items = append(items, c.block("step ", &stepSnippets[i], 40+i))
			}
		case "chain":
			s := snippet{"", "work", "Steps that a session of an agent goes through.", []string{"step record: {kind: emit, event: EVENT}"}}
			items = append(items, c.block("chain ", &s, 40))
		}
	}
	if parent.parent == c.root {
		for i, s := range otherSnippets[parent.key] {
			items = append(items, c.block("", &s, 40+i))
		}
	}
	return items
}

// block returns the item that inserts a block, with its name selected.
func (c *cursor) block(word string, s *snippet, rank int) Item {
	called := c.unused(word, s.name)
	item := Item{Kind: StepItem, Label: strings.TrimSpace(word + s.kind), Help: s.help, rank: rank}
	if item.Label == "" || word == "chain " {
		item.Label = word + called
	}
	lines := slices.Clone(s.lines)
	if s.kind != "" {
		lines = append([]string{"kind: " + s.kind}, lines...)
		item.Detail = strings.Join(s.keys(), ", ")
	}
	for i := range lines {
		lines[i] = c.filled(lines[i], s.kind)
	}
	head := word + called + ":"
	if c.node.flow {
		item.Insert = head + " {" + strings.Join(inline(lines), ", ") + "}"
	} else {
		item.Insert = head
		for _, line := range lines {
			deep := len(line) - len(strings.TrimLeft(line, "\t"))
			item.Insert += "\n" + c.indentation(1+deep) + line[deep:]
		}
	}
	item.Caret, item.Selected = len(word+called), len(called)
	return item
}

// inline returns lines as entries of a map in braces.
func inline(lines []string) (entries []string) {
	for _, line := range lines {
		switch last := len(entries) - 1; {
		case strings.HasPrefix(line, "\t"):
			entries[last] += " {" + strings.TrimLeft(line, "\t") + "}"
		default:
			entries = append(entries, line)
		}
	}
	return entries
}

// filled replaces placeholders by names of the scenario.
func (c *cursor) filled(line, kind string) string {
	first := func(all []name, otherwise string) string {
		if len(all) > 0 {
			return all[0].name
		}
		return otherwise
	}
	otherwise := map[string]string{"http": "shop", "sql": "database"}[kind]
	if otherwise == "" {
		otherwise = "model"
	}
	line = strings.ReplaceAll(line, "SERVICE", first(c.services(serviceKind(kind)), otherwise))
	line = strings.ReplaceAll(line, "CONNECTOR", first(c.connectors(), "name"))
	line = strings.ReplaceAll(line, "EVENT", first(c.events(), "done"))
	return strings.ReplaceAll(line, "CHAIN", first(slices.DeleteFunc(c.chains(), func(n name) bool {
		of := enclosing(c.node, "chain")
		return of != nil && of.key == "chain "+n.name
	}), "name"))
}

// unused returns a name that no block of the same kind has.
func (c *cursor) unused(word, called string) string {
	taken := map[string]bool{}
	c.root.walk(func(n *node) { taken[n.key] = true })
	for i := 1; ; i++ {
		next := called
		if i > 1 {
			next += "_" + strconv.Itoa(i)
		}
		if !taken[word+next] {
			return next
		}
	}
}
