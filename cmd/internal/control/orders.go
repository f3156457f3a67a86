package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/engine/workers"
)

// mostWords is the maximum length of the fields who and why, in characters.
const mostWords = 200

// orders maps the names of orders to their implementations.
var orders = map[string]func(s *server, q *request, r *reply) error{
	orderStatus:     (*server).status,
	orderTunables:   func(s *server, _ *request, r *reply) error { r.Tunables = s.job.Tunables(); return nil },
	orderSet:        (*server).set,
	orderPause:      func(s *server, q *request, _ *reply) error { return s.job.Pause(q.Who, q.Why) },
	orderContinue:   func(s *server, q *request, _ *reply) error { return s.job.Resume(q.Who) },
	orderStop:       (*server).stop,
	orderCut:        (*server).cut,
	orderCheckpoint: func(s *server, q *request, _ *reply) error { return s.job.Checkpoint(s.ctx, cmp.Or(q.Why, "by hand")) },
	orderRetire:     func(s *server, q *request, _ *reply) error { return s.each(q, s.job.Retire) },
	orderRequeue:    func(s *server, q *request, _ *reply) error { return s.each(q, s.job.Requeue) },
	orderBroadcast:  func(s *server, q *request, _ *reply) error { return s.job.Broadcast(s.ctx, q.Agents, q.Text, q.Who) },
	orderWorkers:    ofFleet(func(w Workers, _ *request, r *reply) error { r.Workers = w.Workers(); return nil }),
	orderDrain:      ofFleet(func(w Workers, q *request, _ *reply) error { return w.Drain(q.Worker) }),
	orderUndrain:    ofFleet(func(w Workers, q *request, _ *reply) error { return w.Undrain(q.Worker) }),
	orderRemove:     ofFleet(func(w Workers, q *request, _ *reply) error { return w.Remove(q.Worker) }),
	orderLimit:      ofFleet(func(w Workers, q *request, _ *reply) error { return w.Limit(q.Worker, q.Limit) }),
}

// ofFleet makes an order for a run that a fleet executes.
func ofFleet(f func(w Workers, q *request, r *reply) error) func(*server, *request, *reply) error {
	return func(s *server, q *request, r *reply) error {
		if s.job.Workers == nil {
			return fmt.Errorf("no fleet executes run %s: it was started without --fleet", s.job.ID())
		}
		return f(s.job.Workers, q, r)
	}
}

// carryOut executes a request.
func (s *server) carryOut(q *request) *reply {
	do := orders[q.Order]
	var err error
	switch run := string(s.job.ID()); {
	case q.Version != version:
		err = fmt.Errorf("the run takes orders of version %d, this one is of version %d: use the throngctl of the same Throng", version, q.Version)
	case do == nil:
		err = fmt.Errorf("a run knows no order %q", clean(q.Order))
	case q.Run != "" && q.Run != run:
		err = fmt.Errorf("run %s has ended; now %s is in progress", clean(q.Run), run)
	}
	r := &reply{}
	if err == nil {
		q.Who, q.Why = cmp.Or(clean(q.Who), "terminal"), clean(q.Why)
		err = do(s, q, r)
	}
	if err != nil {
		return &reply{Error: newFault(err)}
	}
	return r
}

// clean shortens a text to one line that is safe in the journal and on a screen.
func clean(text string) string {
	runes := []rune(strings.ToValidUTF8(text, "�"))
	runes = runes[:min(len(runes), mostWords)]
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, string(runes)))
}

func (s *server) status(_ *request, r *reply) error {
	snap := s.job.Snapshot()
	s.mu.Lock()
	s.vitals.See(snap)
	findings := health.Judge(snap, &s.vitals, s.job.Run.Settings().CheckpointEvery)
	overhead, late := s.vitals.Overhead(snap)
	s.mu.Unlock()
	var all []workers.State
	if s.job.Workers != nil {
		all = s.job.Workers.Workers()
		findings = append(findings, health.JudgeWorkers(all, snap.At)...)
	}
	r.Status = view.NewStatus(s.job.Title, snap, findings)
	r.Status.Origin = s.job.Origin
	r.Status.Overhead = view.NewOverhead(&overhead, late, snap.Limit, snap.Binds, all...)
	if len(all) > 0 {
		r.Status.Workers = workers.Summary(all)
	}
	if s.job.Sink != nil {
		r.Status.Sink = s.job.Sink()
	}
	return nil
}

// stop lets sessions in flight finish, also if it is repeated: a second Stop of the run would cancel them.
func (s *server) stop(q *request, _ *reply) error {
	if s.job.Snapshot().Phase == engine.Draining {
		return nil
	}
	return s.job.Stop(q.Who, q.Why)
}

// cut cancels sessions in flight.
func (s *server) cut(q *request, _ *reply) error {
	if s.job.Snapshot().Phase != engine.Draining {
		if err := s.job.Stop(q.Who, q.Why); err != nil {
			return err
		}
	}
	if err := s.job.Stop(q.Who, q.Why); !errors.Is(err, engine.ErrEnded) { // the run has ended, as requested
		return err
	}
	return nil
}

// set changes all of the settings or none.
func (s *server) set(q *request, r *reply) (err error) {
	for i := range q.Settings {
		q.Settings[i].Name = clean(q.Settings[i].Name)
	}
	r.Changes, err = s.job.Apply(q.Settings, q.Who, q.Why)
	return err
}

// each calls a function for every agent of a request. It first checks that all agents exist.
func (s *server) each(q *request, do func(ctx context.Context, agent int, who string) error) error {
	if len(q.Agents) == 0 {
		return &engine.FieldError{Field: "agents", Problem: "none is named"}
	}
	indexes, err := s.job.Find(q.Agents)
	if err != nil {
		return err
	}
	for i, agent := range indexes {
		if err := do(s.ctx, agent, q.Who); err != nil {
			if i > 0 {
				err = fmt.Errorf("%s: %w; done for %s", q.Agents[i], err, strings.Join(q.Agents[:i], ", "))
			}
			return err
		}
	}
	return nil
}
