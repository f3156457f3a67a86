package run

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	"github.com/throng-sim/throng/engine"
)

// SetLimit changes the concurrency limit. See [Run.Apply].
func (r *Run) SetLimit(n int, who, why string) error {
	return r.Set(engine.LimitSetting, strconv.Itoa(n), who, why)
}

// Pause lets the sessions in flight end and starts no others until Resume.
func (r *Run) Pause(who, why string) error {
	return r.mail.order(func(n *node) { n.step(pauseOrder{who, why}) })
}

// Resume ends a pause by a person and the pauses that the run made itself: it closes the breaker, and calls services with
// an exhausted quota again.
func (r *Run) Resume(who string) error {
	return r.mail.order(func(n *node) { n.step(resumeOrder{who}) })
}

// Stop lets the sessions in flight end, takes a checkpoint and ends the run. A second Stop cuts the sessions in flight and
// ends the run within seconds, even if the disk is in trouble or a program ignores its context.
func (r *Run) Stop(who, why string) error {
	return r.mail.send(stopOrder{who, why})
}

// Checkpoint takes a checkpoint and waits until it is durable.
func (r *Run) Checkpoint(ctx context.Context, reason string) error {
	return r.mail.ask(ctx, func(_ *node, to answerID) event { return checkpointOrder{reason, to} })
}

// Retire takes an agent out of the run and waits until that order is durable. The agent is inactive from the next cycle on.
// Its session in flight, if it can wait, is canceled. If its session of the open cycle has not started yet, it still runs.
// The run is inexact from then on. Mistakes are *FieldError.
func (r *Run) Retire(ctx context.Context, agent int, who string) error {
	return r.mail.ask(ctx, func(n *node, to answerID) event {
		_, inFlight := n.r.Activity(agent)
		return retireOrder{agent, inFlight, who, to}
	})
}

// Requeue runs a failed or timed-out session of the open cycle again and waits until that order is durable. The second take
// has the same idempotency keys and draws. It replaces the first in results, outcomes and errors, but the requests, tokens
// and times of both count. The run is inexact from then on. Mistakes are *FieldError. A session of a closed cycle cannot be
// requeued.
func (r *Run) Requeue(ctx context.Context, agent int, who string) error {
	return r.mail.ask(ctx, func(_ *node, to answerID) event { return requeueOrder{agent, who, to} })
}

// Inject puts a message from outside into inboxes at the next barrier and waits until that order is durable. m.To lists the
// agents in ascending order; an empty list means all. to describes the receivers for people. The run is inexact from then
// on. Mistakes are *FieldError.
func (r *Run) Inject(ctx context.Context, m engine.Message, to, who string) error {
	if !json.Valid(m.Body) {
		return &engine.FieldError{Field: "message", Problem: "the text is not valid JSON", Hint: ""}
	}
	return r.mail.ask(ctx, func(_ *node, id answerID) event { return injectOrder{m, to, who, id} })
}

// Watch keeps the newest 200 exchanges of an agent's sessions with services from now on. -1 stops that. Only one agent is
// watched at a time. For all other agents, only the newest failed exchanges are kept.
func (r *Run) Watch(agent int) { r.traces.watch(agent) }

// Exchanges returns the exchanges of an agent that are kept, oldest first. See [Run.Watch].
func (r *Run) Exchanges(agent int) []engine.Exchange { return r.traces.of(agent) }

// Tunables returns what Apply can change now: live settings, then the tunables of services.
func (r *Run) Tunables() []engine.Tunable {
	all := r.settings.Load().Tunables()
	for _, s := range r.services {
		all = append(all, s.Tunables()...)
	}
	return all
}

// Apply changes tunables while the run is in progress: all of them, or none if it returns an error. The error joins
// *FieldError values. who and why are journaled. Apply returns all changes, which may be more than the caller ordered.
// Under a governor, a number for max-concurrent takes the limit over: it stays as set, whatever the floor and the ceiling,
// until max-concurrent is automatic again or the order names a governor. A limit of 0 lets sessions in flight end and starts
// no others.
//
// A changed timeout makes the run inexact. It applies to sessions that start from then on; cycle-timeout applies from the
// next cycle.
func (r *Run) Apply(wanted []engine.Assignment, who, why string) (changes []engine.Change, err error) {
	err = errors.Join(r.mail.order(func(n *node) { changes, err = n.apply(wanted, who, why) }), err)
	return changes, err
}

// Set changes one setting. See [Run.Apply].
func (r *Run) Set(name, value, who, why string) error {
	_, err := r.Apply([]engine.Assignment{{Name: name, Value: value}}, who, why)
	return err
}
