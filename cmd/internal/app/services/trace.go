package services

import "github.com/throng-sim/throng/engine/chain"

// Trace sets whether services put prompts and answers of models into traces. A scenario with private answers never does, because later
// prompts may contain them.
func Trace(all []*chain.Service, of *chain.Chain, content bool) {
	for _, s := range all {
		s.Spans.Content = content && len(of.Private()) == 0
	}
}
