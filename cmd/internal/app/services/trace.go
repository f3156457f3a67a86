package services

import "github.com/throng-sim/throng/engine/chain"

// Traced sets whether services put prompts and answers of models into traces, and returns them. A scenario with private answers never does,
// because later prompts may contain them.
func Traced(all []*chain.Service, of *chain.Chain, content bool) []*chain.Service {
	for _, s := range all {
		s.Spans.Content = content && len(of.Private()) == 0
	}
	return all
}
