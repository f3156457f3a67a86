package answer

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/survey"
)

// Survey is the results of a survey.
type Survey struct {
	Run engine.RunID `json:"run"`
	*survey.Result
}
