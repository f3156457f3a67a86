package app

import (
	"strings"

	"github.com/throng-sim/throng/engine"
)

// NextSteps describes how to continue a run that failed for a permanent cause; "" for any other run.
func NextSteps(r *engine.RunRecord) string {
	if r.Ending != engine.EndHopeless {
		return ""
	}
	text := "correct the scenario and start a new run: "
	if r.Cycle > 0 {
		text = "correct the scenario and repeat this cycle with a fork: "
	}
	return text + RerunCommand(r) + "; if the cause was a secret, an address or the service, resume the run: throngctl resume " + string(r.ID) +
		" runs the remaining sessions; failed sessions stay failed"
}

// RerunCommand returns the command that runs a corrected scenario: from the start, or from the cycle in which the run ended.
func RerunCommand(r *engine.RunRecord) string {
	if r.Cycle == 0 {
		return "throngctl run " + commandLineName(&r.Source)
	}
	return "throngctl fork " + string(r.ID) + " --file " + commandLineName(&r.Source)
}

// commandLineName returns the name of a run's scenario for a command line.
func commandLineName(s *engine.Source) string {
	if s.Path == "" {
		return s.Name
	}
	return strings.TrimPrefix(s.Path, engine.BuiltIn)
}
