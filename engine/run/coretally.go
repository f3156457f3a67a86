package run

import (
	"time"

	"github.com/throng-sim/throng/engine"
)

// tally counts sessions.
type tally struct {
	core *core

	totals    engine.Totals
	atBarrier engine.State // at the start of the open cycle; checkpoints store it
	latest    [engine.NumClasses]engine.ErrorNote
	// These count sessions. endedBefore ended in earlier processes. started and cut belong to this process, and started
	// excludes the open cycle. planned is 0 if it is unknown.
	endedBefore, started, cut, planned int64
	counted                            int64 // sessions that ended in this process, also those that were requeued later
}

func (t *tally) resume(res *engine.Resumption) {
	t.totals, t.atBarrier.Totals = res.State.Totals.Clone(), res.AtBarrier.Clone()
	t.core.life.proof.succeeded = t.totals.Outcomes[engine.OK]+t.totals.Outcomes[engine.Stopped] > 0
	p, open := &t.totals.Peaks, t.totals.Service.Sum()-res.AtBarrier.Service.Sum()
	p.Interrupted, p.Open = p.Interrupted-p.Open+open, open
}

// add counts a session that ended.
func (t *tally) add(r *engine.SessionRow) {
	c := t.core
	t.totals.Add(r)
	t.counted++
	c.life.proof.add(r)
	if r.Outcome == engine.Failed || r.Outcome == engine.TimedOut {
		c.reading.since.failed++
		t.latest[r.Class].Add(r)
	}
}

// updateShared updates the totals with the run's own requests.
func (t *tally) updateShared() { t.totals.Shared = t.core.in.Shared }

// peaks returns the worst values and the time spent so far.
func (t *tally) peaks() engine.Peaks {
	p, books := t.totals.Peaks, &t.core.in.Ledger
	p.Elapsed = t.core.stopwatch.worked()
	p.Unrecorded, p.Spent = books.Unrecorded, books.Spent
	return p
}

// failedInCycle returns how many sessions of the open cycle failed or timed out.
func (t *tally) failedInCycle() int64 { return t.totals.Bad() - t.atBarrier.Totals.Bad() }

// cycleWork returns the work of the open cycle so far.
func (t *tally) cycleWork() engine.CycleWork {
	at, before := &t.totals, &t.atBarrier.Totals
	since := func(o engine.Outcome) int64 { return at.Outcomes[o] - before.Outcomes[o] }
	return engine.CycleWork{
		OK: since(engine.OK) + since(engine.Stopped), Failed: since(engine.Failed), TimedOut: since(engine.TimedOut), Flow: at.Flow.Less(&before.Flow),
		Busy: at.Service.Sum() - before.Service.Sum() - at.Peaks.Open,
	}
}

// sent returns the usage of all requests that were sent.
func (t *tally) sent() engine.RequestCounts {
	if t.core.life.writingEnd { // the totals are final
		return t.totals.SentRequests()
	}
	return t.totals.AllRequests().WithOutlay(t.core.in.Ledger.Spent)
}

// budget returns how much of the budget is used.
func (t *tally) budget(remaining time.Duration) engine.BudgetState {
	c := t.core
	books := &c.in.Ledger
	s := engine.BudgetState{Budget: books.Budget, Spent: books.Spent.Amount(), Claimed: books.Claimed.Amount(), Hit: books.Hit}
	done, total := t.totals.Ended(), t.planned
	if done >= minEndedSessions && total >= done {
		s.Forecast = t.forecast(books, float64(total)/float64(done))
	}
	switch {
	case c.life.ending == engine.EndOutOfBudget:
		s.Short = c.life.endReason
	case !c.life.isEnding():
		s.Short = s.Shortage(c.stopwatch.populationTook+c.stopwatch.worked(), remaining, done, total)
	}
	return s
}

// minEndedSessions is the number of ended sessions that a budget forecast needs.
const minEndedSessions = 5

// forecast predicts the total usage for times as many sessions as have ended. It assumes that most of the run's own
// requests are already made, and it is never lower than the usage so far.
func (t *tally) forecast(books *engine.LedgerState, times float64) engine.Amount {
	own := t.totals.RequestCounts
	each, shared, spent := own.Outlay().Plus(books.Unrecorded).Amount(), t.totals.Shared.Outlay().Amount(), books.Spent.Amount()
	more := func(of func(engine.Amount) int64) int64 {
		return max(int64(times*float64(of(each)))+of(shared), of(spent))
	}
	return engine.Amount{
		Cost: more(func(a engine.Amount) int64 { return a.Cost }), Tokens: more(func(a engine.Amount) int64 { return a.Tokens }), Requests: more(func(a engine.Amount) int64 { return a.Requests }),
	}
}
