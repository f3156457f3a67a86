package engine

import "context"

// spending is what a session has spent, as the budget counts it. The session's lock guards it.
type spending struct {
	spent Amount // by earlier processes too, as far as the journal says
	kept  Amount // of that, what the journal holds for a replay
}

// TryClaim is Claim where nothing has to wait for the budget; else ok is false, and nothing is claimed.
func (s *Session) TryClaim(a Amount) (settle func(spent Amount), ok bool) {
	if !s.run.ledger.try(a) {
		return nil, false
	}
	return s.settling(a), true
}

// Claim sets aside of the run's budget what a request may take at most, before it leaves, and waits while others hold
// so much that it does not fit; the clocks must be held meanwhile. settle must be called once, before the session ends,
// with what the request took: nothing, if it did not leave. Its error is that the budget is used up, with which the
// session must end: it is an [ErrCut], and the run ends; or the cause of ctx.
func (s *Session) Claim(ctx context.Context, a Amount) (settle func(spent Amount), err error) {
	if err := s.run.ledger.wait(ctx, a); err != nil {
		return nil, err
	}
	return s.settling(a), nil
}

func (s *Session) settling(claimed Amount) func(Amount) {
	return func(spent Amount) {
		s.run.ledger.settle(claimed, spent)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spent = s.spent.Plus(spent)
	}
}

// recorded is what the steps' records of a session say that it spent.
func recorded(steps []StepRecord) (a Amount) {
	for i := range steps {
		a = a.Plus(steps[i].spent())
	}
	return a
}

func (r *StepRecord) spent() Amount {
	a := Amount{Requests: int64(r.Attempts)}
	if u := r.Usage; u != nil {
		a.Cost, a.Tokens = u.Cost, u.Input+u.Output
	}
	return a
}

// total is what a prefix says that an earlier process spent.
func (p Prefix) total() (a Amount) {
	for i := range p {
		a = a.Plus(p[i].Spent)
	}
	return a
}

// unrecorded is what the session spent that nobody will find in the journal: beside the records of one that ended, and
// beside what is kept of one that was cut.
func (s *Session) unrecorded() Amount {
	if s.Row.Outcome == Cut {
		return s.spent.Minus(s.kept)
	}
	return s.spent.Minus(recorded(s.Row.Steps))
}

// Spent is what a run has spent of its budget. Of sessions that have not ended it has what the run's end, or its newest
// checkpoint, says.
func (t *Totals) Spent() Amount {
	a, b := t.booked(), t.Peaks.Spent
	return Amount{max(a.Cost, b.Cost), max(a.Tokens, b.Tokens), max(a.Requests, b.Requests)}
}

// booked is what the sessions that ended and the run itself spent, and what was spent beside.
func (t *Totals) booked() Amount {
	asked := t.Asked()
	return asked.spent().Plus(t.Peaks.Beside)
}

func (a *Asked) spent() Amount {
	return Amount{a.Usage.Cost, a.Usage.Input + a.Usage.Output, a.Requests}
}

// Spent is what earlier processes spent, those sessions included that have not ended. What was under way when a process
// was killed is not known.
func (r *Resumption) Spent() Amount {
	a := r.State.Totals.booked()
	for _, p := range r.Prefixes {
		a = a.Plus(p.total())
	}
	return a
}
