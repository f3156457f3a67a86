package run

import "github.com/throng-sim/throng/engine"

// newLedger opens the books of a run, or takes over those that were opened before it.
func newLedger(cfg *Config) *engine.Ledger {
	l := cfg.Ledger
	if l == nil {
		l = engine.NewLedger(cfg.Settings.Budget)
	}
	l.Note(l.Spent().Minus(engine.OutlayOf(cfg.Written))) // such as attempts that never left
	if res := cfg.Resume; res != nil {
		l.Resume(res.Spent().OfRequests(), res.State.Totals.Peaks.Beside)
	}
	return l
}

// setBudget changes what the run may take. Requests that wait for a larger one go on; a run that is ending for want of
// it ends all the same. Its errors are a *FieldError.
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
