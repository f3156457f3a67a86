package wire

import (
	"context"
	"errors"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// unpriced are the models whose price nobody knows.
func (l Launch) unpriced() ([]string, error) {
	var names []string
	for _, s := range l.Scenario.Services {
		if s.Kind != "llm" || l.free(s) {
			continue
		}
		prices, err := Prices(l.Data)
		if err != nil {
			return nil, err
		}
		for _, model := range append(slices.Clone(s.Models), s.Embeds) {
			if model != "" && !prices.Knows(model) {
				names = append(names, model)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// checkGoOn finds out whether the budget is enough to go on with a run. If it is not, its settings stay what they were.
func (l Launch) checkGoOn(ctx context.Context, was *engine.RunRecord, res *engine.Resumption) error {
	reason := ""
	if was.Ending == engine.EndOutOfBudget {
		reason = was.Reason
	}
	err := engine.CheckGoOn(l.Settings.Budget, reason, res.Spent(), res.State.Totals.Peaks.Elapsed)
	if err == nil {
		return nil
	}
	return errors.Join(err, l.Store.Adjust(ctx, was.ID, was.Settings))
}
