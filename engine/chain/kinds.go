package chain

import (
	"strings"

	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/suggest"
)

// kind is a kind of step: its name, the keys that only it has, and its reader.
type kind struct {
	name string
	keys []string
	read func(r *reader, n *doc.Node) action
}

// kinds is the one table of step kinds.
func kinds() []kind {
	return []kind{
		{"http", []string{
			"service", "get", "post", "put", "patch", "delete", "head", "options", "query", "json", "form", "multipart", "body", "headers",
			"expect", "check", "auth", "redirects", "repeats", "verify", "private",
		}, readHTTP},
		{"llm", []string{
			"service", "prompt", "messages", "system", "answer", "temperature", "max_tokens", "max_completion_tokens",
			"reasoning_effort", "extra", "share", "otherwise", "shadow", "cache", "fallback", "tools", "tool_limits",
			"stream", "private",
		}, readLLM},
		{"embed", []string{"service", "input", "dimensions"}, readEmbed},
		{"sql", []string{"service", "query", "args", "repeats", "private"}, readSQL},
		{"python", []string{"call", "target"}, readPython},
		{"connector", []string{"target", "options"}, readConnector},
		{"emit", []string{"event", "data"}, readEmit},
		{"remember", []string{"set", "note", "keep"}, readRemember},
		{"recall", []string{"service", "query", "top", "weights", "decay", "fields", "dimensions"}, readRecall},
		{"say", []string{"to", "text", "data"}, readSay},
		{"wait", []string{"for"}, readWait},
		{"if", []string{"condition", "then", "else"}, readIf},
		{"for", []string{"each", "as", "do", "limit"}, readFor},
		{"while", []string{"condition", "do", "limit"}, readWhile},
		{"chain", []string{"target", "input"}, readSubchain},
		{"stop", []string{"because"}, readStop},
	}
}

// Kinds are the names of the kinds of steps.
func Kinds() []string { return namesOf(kinds()) }

func namesOf(all []kind) []string {
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = k.name
	}
	return names
}

// commonKeys are the keys that any step may have.
var commonKeys = []string{
	"kind", "type", "when", "parallel", "depends_on", "timeout", "retry", "on_error", "default", "label",
}

// kind reads the kind of a step; false means that it is missing or unknown. what says whose kind it is.
func (r *reader) kind(what string, n *doc.Node) (kind, bool) {
	return kindOf(what, n, kinds())
}

// kindOf reads a kind that must be one of all.
func kindOf(what string, n *doc.Node, all []kind) (kind, bool) {
	names := namesOf(all)
	list := "one of " + strings.Join(names, ", ")
	at := n.Only("kind", "type").Value
	if at == nil {
		for _, e := range n.Entries() {
			if key := e.Key.Text(); len(key) > 2 && suggest.Nearest(key, []string{"kind"}) != "" { // at the mistake instead of the step
				e.Key.Guess(suggest.NewGuess(key, []string{"kind"}, "")).Errorf("unknown key `%s`", key)
				return kind{}, false
			}
		}
		n.Errorf("`kind`, "+list, "%s has no kind", what)
		return kind{}, false
	}
	text := at.Text()
	for _, k := range all {
		if k.name == text {
			return k, true
		}
	}
	g := suggest.Guess{Hint: list}
	if len(text) > 3 {
		g = suggest.NewGuess(text, names, list).And(list)
	}
	if text != "" {
		at.Guess(g).Errorf("there is no kind of step %q", text)
	}
	return kind{}, false
}
