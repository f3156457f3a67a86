package scenario

import (
	"slices"

	"github.com/throng-sim/throng/engine"
)

// Shared says why agents of one run may share chance, so that they are not independent of each other: they exchange messages, or call a
// service whose state one agent changes and another one sees. "" means that they share nothing: their steps compute, wait, remember, and
// ask models, which know nothing of other agents. It errs on the side of sharing.
func (s *Scenario) Shared() string {
	models := map[string]bool{}
	for _, service := range s.Services {
		models[service.Name] = service.Kind == "llm"
	}
	why := ""
	note := func(text string) {
		if why == "" {
			why = text
		}
	}
	graph := s.Chain.Graph()
	if graph.Cut {
		note("the chain has more steps than can be checked")
	}
	graph.Walk(func(step *engine.GraphStep) {
		switch {
		case step.Kind == "say":
			note("they send messages to each other (" + step.Path + ")")
		case step.Kind == "connector" && step.Service == "":
			note("a connector may send messages (" + step.Path + ")")
		case step.Service != "" && !models[step.Service]:
			note("service " + step.Service + " may keep what they do")
		case slices.ContainsFunc(step.Facts, func(f engine.GraphFact) bool { return f.Word == "answers" }):
			note("they share answers of models (" + step.Path + ")")
		}
	})
	return why
}
