package run

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/throng-sim/throng/engine"
)

// SetLimit is Apply of the concurrency limit.
func (r *Run) SetLimit(n int, who, why string) error {
	return r.Set(engine.LimitSetting, strconv.Itoa(n), who, why)
}

// Pause lets the sessions in flight end and starts no other until Resume.
func (r *Run) Pause(who, why string) error {
	return r.order(func(n *node) { n.step(pauseOrder{who, why}) })
}

// Resume undoes Pause, and whatever the run paused for by itself: the breaker forgets what went wrong, and a service whose
// quota was gone is asked again.
func (r *Run) Resume(who string) error {
	return r.order(func(n *node) { n.step(resumeOrder{who}) })
}

// Stop lets the sessions in flight end, takes a checkpoint and ends the run. A second Stop cuts what is in flight and
// ends the run within seconds, even if the disk is in trouble or a program does not listen.
func (r *Run) Stop(who, why string) error {
	return r.tell(stopOrder{who, why})
}

// Checkpoint takes a checkpoint and waits until it is durable.
func (r *Run) Checkpoint(ctx context.Context, reason string) error {
	return r.answered(ctx, func(_ *node, to answerID) event { return checkpointOrder{reason, to} })
}

// Retire takes an agent out of the run and waits until that is durable: from the next cycle on it takes no part, and its
// session in flight, if it waits for anything, ends at once as cancelled. One that it has still to begin in the open
// cycle it has. The run is inexact from then on. Mistakes are *FieldError.
func (r *Run) Retire(ctx context.Context, agent int, who string) error {
	return r.answered(ctx, func(n *node, to answerID) event {
		_, inFlight := n.r.Doing(agent)
		return retireOrder{agent, inFlight, who, to}
	})
}

// Requeue has an agent's session of the open cycle, which failed or timed out, made again, and waits until that order is
// durable. The second take has the same idempotency keys and draws; it counts in the place of the
// first in results, outcomes and errors, while the requests, tokens and times of both count. The run is inexact from
// then on. Mistakes are *FieldError: once its cycle is closed a session stays as it is.
func (r *Run) Requeue(ctx context.Context, agent int, who string) error {
	return r.answered(ctx, func(_ *node, to answerID) event { return requeueOrder{agent, who, to} })
}

// Inject puts a message from outside into inboxes at the next barrier and waits until that is durable: m.To are the
// agents, ascending, none is everybody, and to says who they are for people. The run is inexact from then on.
func (r *Run) Inject(ctx context.Context, m engine.Message, to, who string) error {
	if !json.Valid(m.Body) {
		return &engine.FieldError{Field: "message", Problem: "it is no JSON text", Hint: ""}
	}
	return r.answered(ctx, func(_ *node, id answerID) event { return injectOrder{m, to, who, id} })
}

// hear waits for what the loop says once something is durable.
func (r *Run) hear(ctx context.Context, saved <-chan error) error {
	select {
	case err := <-saved:
		return err
	case <-r.done:
		select {
		case err := <-saved:
			return err
		default:
			return engine.ErrEnded
		}
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Watch has the exchanges of an agent's sessions with services kept from now on, the newest 200 of them; -1 ends that.
// One agent is watched at a time. Of all others only the newest that went wrong are kept.
func (r *Run) Watch(agent int) { r.traces.watch(agent) }

// Exchanges are those of an agent that are kept, oldest first: see [Run.Watch].
func (r *Run) Exchanges(agent int) []engine.Exchange { return r.traces.about(agent) }

// Tunables are what Apply can change now: live settings, then those of services.
func (r *Run) Tunables() []engine.Tunable {
	all := r.settings.Load().Tunables()
	for _, s := range r.services {
		all = append(all, s.Tunables()...)
	}
	return all
}

// Apply changes tunables while the run is in progress: all of them or, with *FieldError, joined, none. who and why are
// journaled. It returns what changed, which may be more than was ordered: under a governor max-concurrent sets the ceiling,
// and the floor where that is higher; the limit follows at once if it stood at the old ceiling or is above the new one. A
// limit of 0 lets sessions in flight end and starts no other; no governor raises it.
//
// Another timeout makes the run inexact: sessions that begin from then on have it, cycle-timeout counts from the next cycle.
func (r *Run) Apply(wanted []engine.Assignment, who, why string) (changes []engine.Change, err error) {
	err = errors.Join(r.order(func(n *node) { changes, err = n.apply(wanted, who, why) }), err)
	return changes, err
}

// Set is Apply of one setting.
func (r *Run) Set(name, value, who, why string) error {
	_, err := r.Apply([]engine.Assignment{{Name: name, Value: value}}, who, why)
	return err
}
