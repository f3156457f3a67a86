package answer

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/agreement"
	"github.com/throng-sim/throng/engine/surrogate"
)

// Agreement is how often models and rules answered the same in a run.
type Agreement struct {
	Run engine.RunID `json:"run"`
	*agreement.Result
}

// Learned is a rule that was learned. Answers counts those that it chooses from.
type Learned struct {
	File    string            `json:"file"`
	Kind    string            `json:"kind"`
	Step    string            `json:"step"`
	Fields  []string          `json:"fields"`
	Answers int               `json:"answers"`
	Learned surrogate.Learned `json:"learned"`
	Warning string            `json:"warning,omitempty" doc:"why the rule, which was written all the same, may be of no use"`
}
