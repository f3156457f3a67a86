package view

import (
	"fmt"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/outcomes"
)

// IsSurvey reports whether a run is a survey: copies of the agents of its parent answered questions, in one cycle.
func IsSurvey(r *engine.RunRecord) bool {
	return r.Parent != "" && r.Source.Baseline.Acted == outcomes.SurveyAnswer
}

// Survey is how far a survey is.
type Survey struct {
	Asked    int64 `json:"asked"`    // agents whose session has ended
	Answered int64 `json:"answered"` // agents who answered
}

// SurveyIn returns the answers so far to a survey in progress; nil for another run.
func SurveyIn(s *engine.Snapshot) *Survey {
	if !s.Survey {
		return nil
	}
	return &Survey{s.Ended, s.Metrics.Acted}
}

// SurveyOf returns the answers to a survey of the store; nil for another run.
func SurveyOf(r *engine.RunRecord) *Survey {
	if !IsSurvey(r) {
		return nil
	}
	return &Survey{r.Done, r.Tally.Acted}
}

// After names the start of a cycle by the cycles before it, such as "after 2 cycles".
func After(cycle int) string {
	if cycle == 0 {
		return "before the first cycle"
	}
	return "after " + engine.Counted(int64(cycle), "cycle", "cycles")
}

// asked formats how many agents were asked, and how many answered.
func (d Done) asked() string {
	text := engine.FormatCount(d.Sessions)
	if d.Planned > 0 {
		text += " of " + engine.FormatCount(d.Planned)
	}
	return text + fmt.Sprintf(" agents asked, %s answered", engine.FormatCount(d.Survey.Answered))
}
