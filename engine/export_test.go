package engine

// PublishNow makes a snapshot of this instant.
func (r *Run) PublishNow() *Snapshot {
	_ = r.insist(func(l *loop) error { l.publish(); return nil })
	return r.Snapshot()
}

// SetBudget is what the loop's orders use.
func (r *Run) SetBudget(b Budget) error { return r.setBudget(b) }
