package view

import "github.com/throng-sim/throng/engine"

// Judgment is the result of one success criterion.
type Judgment struct {
	Metric    string   `json:"metric"`
	Of        string   `json:"of,omitempty"` // service or step
	Criterion string   `json:"criterion"`
	Value     *float64 `json:"value"` // null if unknown
	Shown     string   `json:"shown"`
	Passed    *bool    `json:"passed"` // null if unknown
}

// NewJudgments returns the results of success criteria, never nil.
func NewJudgments(all []engine.Judgment) []Judgment {
	out := []Judgment{}
	for i := range all {
		j := &all[i]
		one := Judgment{Metric: j.Criterion.Metric, Of: j.Criterion.Of, Criterion: j.Criterion.Text, Shown: j.Shown}
		if !j.Unknown {
			one.Value, one.Passed = finite(j.Value), &j.Passed
		}
		out = append(out, one)
	}
	return out
}
