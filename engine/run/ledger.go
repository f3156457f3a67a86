package run

import "github.com/throng-sim/throng/engine"

// newLedger returns the ledger of a run. It takes over the ledger in cfg if there is one.
func newLedger(cfg *Config) *engine.Ledger {
	l := cfg.Ledger
	if l == nil {
		l = engine.NewLedger(cfg.Settings.Budget)
	}
	l.Note(l.Spent().Minus(engine.OutlayOf(cfg.PopulationCalls))) // such as attempts that were never sent
	if res := cfg.Resume; res != nil {
		l.Resume(res.Spent().OfRequests(), res.State.Totals.Peaks.Unrecorded)
	}
	return l
}

// setBudget changes the run's budget. Requests that wait for a larger budget continue. A run that is already ending because
// of its budget still ends. Errors are *FieldError.
func (r *Run) setBudget(b engine.Budget) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if err := engine.CheckPriced(b, r.unpriced); err != nil {
		return err
	}
	r.ledger.SetBudget(b)
	return nil
}
