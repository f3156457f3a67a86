package view

import (
	"cmp"
	"slices"
)

// Stop counts the sessions that a step stopped for a reason.
type Stop struct {
	Reason   string `json:"reason"`
	Sessions int    `json:"sessions"`
}

// NewStops returns the most frequent reasons, up to a number of them, the most frequent first.
func NewStops(reasons map[string]int, most int) []Stop {
	all := make([]Stop, 0, len(reasons))
	for reason, n := range reasons {
		all = append(all, Stop{reason, n})
	}
	slices.SortFunc(all, func(a, b Stop) int {
		return cmp.Or(cmp.Compare(b.Sessions, a.Sessions), cmp.Compare(a.Reason, b.Reason))
	})
	return all[:min(len(all), most)]
}
