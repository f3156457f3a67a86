package engine

import "context"

// spending is what a session has spent of the budget. The session's lock guards it.
type spending struct {
	spent Outlay             // including earlier processes, as far as journaled
	kept  Outlay             // part of spent that the journal keeps for replay, including the claims of intents
	open  map[string]*Outlay // part of kept, by the path of an intent without an answer; may be nil
}

// intends records an intent in the journal.
func (s *spending) intends(r *IntentRow) {
	for i := range r.Earlier {
		s.kept.Add(&r.Earlier[i].Spent)
	}
	s.closes(r.Path)
	s.kept.Add(&r.Spent)
	s.opens(r.Path, r.Spent)
}

// opens records the spending of an intent without an answer.
func (s *spending) opens(path string, spent Outlay) {
	if s.open == nil {
		s.open = map[string]*Outlay{}
	}
	s.open[path] = &spent
}

// closes forgets the intent of a path, if there is one.
func (s *spending) closes(path string) {
	if open := s.open[path]; open != nil {
		s.kept.Subtract(open)
		delete(s.open, path)
	}
}

// answered records that an entry in the journal replaced its intent, if there was one.
func (s *spending) answered(e *Entry) {
	s.kept.Add(&e.Spent)
	s.closes(e.Path)
}

// begin adds what an earlier process spent.
func (s *spending) begin(known Prefix) {
	s.spent = known.total()
	s.kept = s.spent
	for i := range known {
		if known[i].Attempts == 0 && known[i].Spent != (Outlay{}) {
			s.opens(known[i].Path, known[i].Spent)
		}
	}
}

// TryClaim is like Claim but does not wait for the budget. If it would have to, ok is false and nothing is claimed.
func (s *Session) TryClaim(a Outlay) (settle func(spent Outlay), ok bool) {
	if !s.host.TryClaim(a) {
		return nil, false
	}
	return settling(s, a), true
}

// Claim reserves from the run's budget the most that a request may use, before it is sent. It waits while the claims
// of others leave too little. The clocks must be paused meanwhile. The caller must call settle once before the session
// ends, with what the request used: zero if it was not sent. The error is the cause of ctx, or an [ErrCut] if the
// budget is used up. With the latter the session must end, and the run ends.
func (s *Session) Claim(ctx context.Context, a Outlay) (settle func(spent Outlay), err error) {
	if err := s.host.Claim(ctx, a); err != nil {
		return nil, err
	}
	return settling(s, a), nil
}

// settling returns the function that settles a claim of a session.
func settling(s *Session, claimed Outlay) func(Outlay) {
	return func(spent Outlay) {
		s.host.Settle(claimed, spent)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spent.Add(&spent)
	}
}

// OutlayOf returns the spending in the records of a session's steps.
func OutlayOf(steps []StepRecord) (a Outlay) {
	for i := range steps {
		a.Requests += int64(steps[i].Attempts)
		a.Usage.Add(steps[i].Usage)
	}
	return a.OfRequests()
}

// Outlay returns what a step spent.
func (r *StepRecord) Outlay() Outlay { return OutlayOf([]StepRecord{*r}) }

// total returns the spending of an earlier process according to the prefix.
func (p Prefix) total() (a Outlay) {
	for i := range p {
		a = a.Plus(p[i].Spent)
	}
	return a
}

// Unrecorded returns the session's spending that the journal does not contain: beyond the steps' records if the
// session ended, or beyond the entries kept for replay if it was cut.
func (s *Session) Unrecorded() Outlay {
	if s.spent == (Outlay{}) && s.kept == (Outlay{}) && !spend(s.Row.Steps) {
		return Outlay{}
	}
	if s.Row.Outcome == Cut {
		return s.spent.Minus(s.kept)
	}
	return s.spent.Minus(OutlayOf(s.Row.Steps))
}

// spend reports whether steps made requests or used answers of models.
func spend(steps []StepRecord) bool {
	for i := range steps {
		if steps[i].Attempts != 0 || steps[i].Usage != nil {
			return true
		}
	}
	return false
}

// Spent returns what a run has spent of its budget. For unfinished sessions it uses the run's end or its latest
// checkpoint.
func (t *Totals) Spent() Outlay { return t.booked().atLeast(t.Peaks.Spent) }

// SentRequests counts all requests that were sent, including those of unfinished sessions. Its Retries, RateLimited, Labels
// and Waits cover only finished sessions.
func (t *Totals) SentRequests() RequestCounts { return t.AllRequests().WithOutlay(t.Spent()) }

// WithOutlay returns a with the requests and the usage replaced by the total spending.
func (a RequestCounts) WithOutlay(spent Outlay) RequestCounts {
	hits, again := a.Usage.Hits, a.Usage.Again
	a.Requests, a.Usage = spent.Requests, spent.Usage
	a.Usage.Hits, a.Usage.Again = hits, again
	return a
}

// booked returns the spending of finished sessions and of the run itself, plus spending outside the records.
func (t *Totals) booked() Outlay {
	asked := t.AllRequests()
	return asked.Outlay().Plus(t.Peaks.Unrecorded)
}

// Outlay returns the requests and the usage of a.
func (a *RequestCounts) Outlay() Outlay { return Outlay{a.Requests, a.Usage}.OfRequests() }

// Spent returns what earlier processes spent, including unfinished sessions. For requests in progress when a process
// was killed, it includes the claims of their intents.
func (r *Resumption) Spent() Outlay {
	a := r.State.Totals.booked()
	for _, open := range r.Shared.Unanswered {
		a = a.Plus(open.Spent)
	}
	for _, p := range r.Prefixes {
		a = a.Plus(p.total())
	}
	return a
}
