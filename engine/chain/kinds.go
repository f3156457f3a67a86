package chain

import "github.com/throng-sim/throng/engine/internal/doc"

// kind is a kind of step: what it is called, what it does (for people), the keys it has besides the common ones, and
// how it is read.
type kind struct {
	name string
	does string
	keys []string
	read func(r *reader, n *doc.Node) action
}

// kinds is the one table of step kinds.
func kinds() []kind {
	return []kind{
		{"http", "one request", []string{
			"service", "get", "post", "put", "patch", "delete", "query", "json", "form", "body", "headers", "expect", "idempotent",
		}, readHTTP},
		{"python", "a function of the file", []string{"call", "target"}, readPython},
		{"emit", "a row of results", []string{"event", "data"}, readEmit},
		{"remember", "agent memory", []string{"set", "note", "keep"}, readRemember},
		{"wait", "think time", []string{"for"}, readWait},
		{"if", "one branch or the other", []string{"condition", "then", "else"}, readIf},
		{"for", "the same steps for each of a list", []string{"each", "as", "do", "limit"}, readFor},
		{"stop", "ends the session early", []string{"because"}, readStop},
	}
}

// commonKeys are the keys that any step may have.
var commonKeys = []string{"name", "kind", "type", "when", "timeout", "retry", "on_error", "default", "label"}

func kindNamed(name string) (kind, bool) {
	for _, k := range kinds() {
		if k.name == name {
			return k, true
		}
	}
	return kind{}, false
}

func kindNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}
