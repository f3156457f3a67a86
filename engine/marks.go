package engine

import "cmp"

// Marks are what a user wrote on a run.
type Marks struct {
	Name string   // "" uses the scenario's title
	Tags []string // sorted, in lower case
	Star bool
	Note string
}

// DisplayName returns the name of a run, or the title of its scenario.
func (r *RunRecord) DisplayName() string { return cmp.Or(r.Name, r.Title) }

// Baseline is what a run's scenario says without changes. It shows how a run differs from its scenario.
type Baseline struct {
	Parameters map[string]string `json:"parameters,omitempty"` // defaults by name, as JSON texts
	Titles     map[string]string `json:"titles,omitempty"`     // of parameters that have one
	Settings   map[string]string `json:"settings,omitempty"`   // those that the scenario sets, as texts
	Acted      string            `json:"acted,omitempty"`      // the event of sessions that count as having acted
}

// Tally counts the sessions of a run that matter for its outcome.
type Tally struct {
	Acted, Failed int64
}
