package engine

// newLedger opens the books of a run, or takes over those that were opened before it.
func newLedger(cfg *Config) *Ledger {
	l := cfg.Ledger
	if l == nil {
		l = NewLedger(cfg.Settings.Budget)
	}
	l.Note(l.Spent().Minus(OutlayOf(cfg.Written))) // such as attempts that never left
	if res := cfg.Resume; res != nil {
		l.Resume(res.Spent().OfRequests(), res.State.Totals.Peaks.Beside)
	}
	return l
}

// setBudget changes what the run may take. Requests that wait for a larger one go on; a run that is ending for want of
// it ends all the same. Its errors are a *FieldError.
func (r *Run) setBudget(b Budget) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if err := CheckPriced(b, r.unpriced); err != nil {
		return err
	}
	r.ledger.SetBudget(b)
	return nil
}
