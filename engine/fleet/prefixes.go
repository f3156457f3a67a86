package fleet

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// prefixes holds what the journal contains of sessions that have not ended, by agent, so that another worker can continue them.
type prefixes map[int]*prefix

type prefix struct {
	take    int
	entries map[string]engine.Entry
	by      *client // that executes the session and whose account has the spending of the entries; nil if no account has it
}

// of returns the prefix of a session; a later take of the agent begins a new one.
func (p prefixes) of(place engine.Place) *prefix {
	known := p[place.Agent]
	if known == nil || known.take != place.Take {
		known = &prefix{take: place.Take, entries: map[string]engine.Entry{}}
		p[place.Agent] = known
	}
	return known
}

// intend adds an intent of a worker. A second intent for a path replaces the first.
func (p prefixes) intend(r *engine.IntentRow, by *client) {
	known := p.of(r.Place)
	known.by = by
	for _, e := range r.Earlier {
		known.entries[e.Path] = e
	}
	if was, ok := known.entries[r.Path]; !ok || was.Attempts == 0 {
		known.entries[r.Path] = engine.Entry{Path: r.Path, Hash: r.Hash, Spent: r.Spent}
	}
}

// answer adds the result of a worker's step.
func (p prefixes) answer(r *engine.AnswerRow, by *client) {
	known := p.of(r.Place)
	known.entries[r.Path], known.by = r.Entry, by
}

// handOver moves what the journal has of a session out of the account of the worker that executes it: the row of the worker that ends
// the session will contain it.
func (p prefixes) handOver(agent int) {
	known := p[agent]
	if known == nil || known.by == nil {
		return
	}
	spent, a := p.spent(agent), &known.by.account
	a.balance = a.balance.Minus(spent.Minus(a.begun[agent]))
	a.begun[agent], known.by = spent, nil
}

// get returns the prefix of an agent's session, if it has begun.
func (p prefixes) get(agent, take int) (engine.Prefix, bool) {
	known := p[agent]
	if known == nil || known.take != take {
		return nil, false
	}
	all := make(engine.Prefix, 0, len(known.entries))
	for _, e := range known.entries {
		all = append(all, e)
	}
	slices.SortFunc(all, func(a, b engine.Entry) int { return strings.Compare(a.Path, b.Path) })
	return all, true
}

// spent returns the outlay in an agent's prefix.
func (p prefixes) spent(agent int) (sum engine.Outlay) {
	if known := p[agent]; known != nil {
		for _, e := range known.entries {
			sum = sum.Plus(e.Spent)
		}
	}
	return sum
}
