package engine

import "context"

// spending is what a session has spent, as the budget counts it. The session's lock guards it.
type spending struct {
	spent Outlay            // by earlier processes too, as far as the journal says
	kept  Outlay            // of that, what the journal holds for a replay, with the claims of intents
	open  map[string]Outlay // of kept, by the path of an intent without an answer; nil is none
}

// intends notes what an intent in the journal says.
func (s *spending) intends(path string, out Outlay) {
	if s.open == nil {
		s.open = map[string]Outlay{}
	}
	s.kept = s.kept.Plus(out).Minus(s.open[path])
	s.open[path] = out
}

// answered notes that an entry in the journal took the place of its intent, if there was one.
func (s *spending) answered(e *Entry) {
	s.kept = s.kept.Plus(e.Spent).Minus(s.open[e.Path])
	delete(s.open, e.Path)
}

// begin takes over what an earlier process spent.
func (s *spending) begin(known Prefix) {
	s.spent = known.total()
	s.kept = s.spent
	for i := range known {
		if known[i].Attempts == 0 && known[i].Spent != (Outlay{}) {
			if s.open == nil {
				s.open = map[string]Outlay{}
			}
			s.open[known[i].Path] = known[i].Spent
		}
	}
}

// TryClaim is Claim where nothing has to wait for the budget; else ok is false, and nothing is claimed.
func (s *Session) TryClaim(a Outlay) (settle func(spent Outlay), ok bool) {
	if !s.host.TryClaim(a) {
		return nil, false
	}
	return s.settling(a), true
}

// Claim sets aside of the run's budget what a request may take at most, before it leaves, and waits while others hold
// so much that it does not fit; the clocks must be held meanwhile. settle must be called once, before the session ends,
// with what the request took: nothing, if it did not leave. Its error is that the budget is used up, with which the
// session must end: it is an [ErrCut], and the run ends; or the cause of ctx.
func (s *Session) Claim(ctx context.Context, a Outlay) (settle func(spent Outlay), err error) {
	if err := s.host.Claim(ctx, a); err != nil {
		return nil, err
	}
	return s.settling(a), nil
}

func (s *Session) settling(claimed Outlay) func(Outlay) {
	return func(spent Outlay) {
		s.host.Settle(claimed, spent)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spent = s.spent.Plus(spent)
	}
}

// OutlayOf returns what a session spent according to its step records.
func OutlayOf(steps []StepRecord) (a Outlay) {
	for i := range steps {
		a.Requests += int64(steps[i].Attempts)
		a.Usage.Add(steps[i].Usage)
	}
	return a.OfRequests()
}

// Outlay returns what a step spent.
func (r *StepRecord) Outlay() Outlay { return OutlayOf([]StepRecord{*r}) }

// total is what a prefix says that an earlier process spent.
func (p Prefix) total() (a Outlay) {
	for i := range p {
		a = a.Plus(p[i].Spent)
	}
	return a
}

// Unrecorded returns what the session spent that the journal will not tell: in addition to the steps' records if it ended,
// or to the entries kept for a replay if it was cut.
func (s *Session) Unrecorded() Outlay {
	if len(s.Row.Steps) == 0 && s.spent == s.kept && s.kept == (Outlay{}) { // nothing was asked
		return Outlay{}
	}
	if s.Row.Outcome == Cut {
		return s.spent.Minus(s.kept)
	}
	return s.spent.Minus(OutlayOf(s.Row.Steps))
}

// Spent is what a run has spent of its budget. Of sessions that have not ended it has what the run's end, or its newest
// checkpoint, says.
func (t *Totals) Spent() Outlay { return t.booked().atLeast(t.Peaks.Spent) }

// Left is what was asked of services by all requests that left: by sessions that have not ended, too. Its Retries,
// RateLimited, Labels and Waits are of those that have.
func (t *Totals) Left() Asked { return t.Asked().WithOutlay(t.Spent()) }

// WithOutlay returns a with the requests and the usage of everything that was spent.
func (a Asked) WithOutlay(spent Outlay) Asked {
	hits, again := a.Usage.Hits, a.Usage.Again
	a.Requests, a.Usage = spent.Requests, spent.Usage
	a.Usage.Hits, a.Usage.Again = hits, again
	return a
}

// booked is what the sessions that ended and the run itself spent, and what was spent beside.
func (t *Totals) booked() Outlay {
	asked := t.Asked()
	return asked.Outlay().Plus(t.Peaks.Beside)
}

// Outlay returns the requests and the usage of a.
func (a *Asked) Outlay() Outlay { return Outlay{a.Requests, a.Usage}.OfRequests() }

// Spent is what earlier processes spent, those sessions included that have not ended. Of what was under way when a process
// was killed it has what was claimed for requests with an intent.
func (r *Resumption) Spent() Outlay {
	a := r.State.Totals.booked()
	for _, open := range r.Shared.Asked {
		a = a.Plus(open.Spent)
	}
	for _, p := range r.Prefixes {
		a = a.Plus(p.total())
	}
	return a
}
