package sqlite

import (
	"context"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
)

// prefixes collects the answers of sessions of the current cycle that did not end. An agent is not done if it has requests
// of a later take than its last session, or if its session was requeued: the later take resumes.
func (r *resuming) prefixes(ctx context.Context, outcomes map[int]lastTake) error {
	type key struct {
		agent, take int
		path        string
	}
	answers := map[key]engine.Entry{}
	for p, take := range r.Requeued {
		if p.Cycle == r.Cycle && take > outcomes[p.Agent].take {
			r.Takes[p.Agent] = take
		}
	}
	err := r.store.eachRequest(ctx, r.key, r.Cycle, func(q *codec.Request) {
		if last, ok := outcomes[q.Agent]; ok && q.Take <= last.take {
			return
		}
		for _, e := range q.Earlier {
			answers[key{q.Agent, q.Take, e.Path}] = e
		}
		k := key{q.Agent, q.Take, q.Entry.Path}
		if was, known := answers[k]; !known || was.Attempts == 0 || q.Kind == codec.AnswerKind { // the newest intent, or the answer
			answers[k] = q.Entry
		}
		if q.Take > r.Takes[q.Agent] {
			r.Takes[q.Agent] = q.Take
		}
	})
	if err != nil {
		return err
	}
	for k, e := range answers {
		if k.take == r.Takes[k.agent] {
			r.Prefixes[k.agent] = append(r.Prefixes[k.agent], e)
		}
	}
	for agent := range outcomes {
		if _, resumes := r.Takes[agent]; !resumes {
			r.Done = append(r.Done, agent)
		} else {
			delete(r.Deltas, agent)
			delete(r.Bad, agent)
		}
	}
	slices.Sort(r.Done)
	for _, agent := range r.Done {
		r.Outcomes = append(r.Outcomes, outcomes[agent].outcome)
	}
	for _, p := range r.Prefixes {
		slices.SortFunc(p, func(a, b engine.Entry) int { return strings.Compare(a.Path, b.Path) })
	}
	return nil
}
