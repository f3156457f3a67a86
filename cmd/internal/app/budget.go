package app

import (
	"context"
	"errors"
	"slices"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
)

// unpriced returns the models without a known price.
func (l Services) unpriced() ([]string, error) {
	var names []string
	for _, s := range l.Scenario.Services {
		if s.Kind != "llm" || l.unnamed(s) || l.free(s) {
			continue
		}
		prices, err := l.pricesOf(s)
		if err != nil {
			return nil, err
		}
		models := l.models(s)
		if s.Embeds != "" && l.embeds(s) {
			models = append(slices.Clone(models), s.Embeds)
		}
		for _, model := range models {
			if !prices.Knows(model) {
				names = append(names, model)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// embeds reports whether an embed step or a connector may request embeddings from a service.
func (l Services) embeds(s *chain.Service) bool {
	g := l.Scenario.Chain.Graph()
	found := g.Cut
	g.Walk(func(step *engine.GraphStep) { found = found || step.Service == s.Name && step.Kind != "llm" })
	return found
}

// checkResumeBudget checks that the budget is large enough to resume a run. If it is not, it restores the run's settings.
func (l assembly) checkResumeBudget(ctx context.Context, was *engine.RunRecord, res *engine.Resumption) error {
	reason := ""
	if was.Ending == engine.EndOutOfBudget {
		reason = was.Reason
	}
	err := engine.CheckResumeBudget(l.Settings.Budget, reason, res.Spent().Amount(), res.State.Totals.Peaks.Elapsed+res.Writing)
	if err == nil {
		return nil
	}
	return errors.Join(err, l.Store.Adjust(ctx, was.ID, was.Settings))
}
