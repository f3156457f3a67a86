// Package scale reads scales of whole numbers, such as {from: 1, to: 5}.
package scale

import "github.com/throng-sim/throng/engine/internal/doc"

// most is the largest absolute value of an end.
const most = 1000

// Is reports whether a node is a scale, and not a map of fields: no field can be called from, which is a word of Python.
func Is(n *doc.Node) bool { return n.Kind() == doc.Map && n.Get("from") != nil }

// Read returns the ends of a scale. Mistakes go to the report of the document.
func Read(n *doc.Node) (low, high int) {
	n.Fields("from", "to")
	n.Require("from", "to")
	if n.Get("from") == nil || n.Get("to") == nil {
		return 0, 0
	}
	if low, high = n.Get("from").Int(-most, most), n.Get("to").Int(-most, most); low >= high {
		n.Errorf("", "a scale from %d to %d has no steps", low, high)
	}
	return low, high
}
