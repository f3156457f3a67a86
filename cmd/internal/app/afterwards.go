package app

import (
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Afterwards says how to continue a run that could not succeed, once the cause is corrected.
func Afterwards(r *engine.RunRecord) string {
	if r.Ending != engine.EndHopeless {
		return ""
	}
	text := "after the correction, start a new run: "
	if r.Cycle > 0 {
		text = "after the correction, keep the cycles before this one and repeat it: "
	}
	return text + Again(r) + "; if the scenario was right, and a secret, an address or the service was not: throngctl resume " + string(r.ID) +
		" runs the sessions that have not ended, and the failed ones stay failed"
}

// Again is the command that runs a corrected scenario: anew, or from the cycle on in which the run ended.
func Again(r *engine.RunRecord) string {
	if r.Cycle == 0 {
		return "throngctl run " + againName(&r.Source)
	}
	return "throngctl fork " + string(r.ID) + " --file " + againName(&r.Source)
}

// againName is what a command line calls the scenario of a run.
func againName(s *engine.Source) string {
	if s.Path == "" {
		return s.Name
	}
	return strings.TrimPrefix(s.Path, engine.BuiltIn)
}
