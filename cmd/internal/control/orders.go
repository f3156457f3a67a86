package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/throng-sim/throng/engine"
)

// mostWords is how long, in characters, who and why may be.
const mostWords = 200

// orders are all that a run takes.
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
	orderTell:       func(s *server, q *request, _ *reply) error { return s.job.Tell(s.ctx, q.Agents, q.Text, q.Who) },
}

// carryOut does what a request says.
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

// clean is a text as it may stand in a journal and on a screen: short, in one line.
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
	health := engine.Health(snap, &s.vitals, s.job.Run.Settings().CheckpointEvery)
	overhead, late := s.vitals.Overhead(snap)
	s.mu.Unlock()
	r.Status = NewStatus(s.job.Title, snap, health)
	r.Status.Overhead = NewOverhead(&overhead, late, snap.Limit, snap.Binds)
	if s.job.Sink != nil {
		r.Status.Sink = s.job.Sink()
	}
	return nil
}

// stop lets what is in flight end, however often it is ordered: a second Stop of the run would cut it.
func (s *server) stop(q *request, _ *reply) error {
	if s.job.Snapshot().Phase == engine.Draining {
		return nil
	}
	return s.job.Stop(q.Who, q.Why)
}

// cut ends what is in flight now.
func (s *server) cut(q *request, _ *reply) error {
	if s.job.Snapshot().Phase != engine.Draining {
		if err := s.job.Stop(q.Who, q.Why); err != nil {
			return err
		}
	}
	if err := s.job.Stop(q.Who, q.Why); !errors.Is(err, engine.ErrEnded) { // which is what was wanted
		return err
	}
	return nil
}

// set changes all of it or nothing.
func (s *server) set(q *request, r *reply) error {
	tunables := s.job.Tunables()
	var mistakes []error
	for i, wanted := range q.Settings {
		same := func(other Setting) bool { return other.Name == wanted.Name }
		switch {
		case value(tunables, wanted.Name) == nil:
			mistakes = append(mistakes, unknown(clean(wanted.Name), tunables))
		case slices.ContainsFunc(q.Settings[:i], same):
			mistakes = append(mistakes, &engine.FieldError{Field: wanted.Name, Problem: "it is named twice"})
		}
	}
	if len(q.Settings) == 0 {
		mistakes = append(mistakes, &engine.FieldError{Field: "set", Problem: "nothing is to be changed", Hint: "name=value"})
	}
	if err := errors.Join(mistakes...); err != nil {
		return err
	}
	if err := s.setAll(q, tunables); err != nil {
		return err
	}
	now := s.job.Tunables()
	for _, wanted := range q.Settings {
		c := Change{Name: wanted.Name, Old: *value(tunables, wanted.Name), New: wanted.Value}
		if set := value(now, wanted.Name); set != nil {
			c.New = *set
		}
		r.Changes = append(r.Changes, c)
	}
	r.Changes = append(r.Changes, along(q, tunables, now)...)
	return nil
}

// steering are the tunables of which another value may move the others. They can be put back in this order: a limit that
// is at its ceiling takes this along.
var steering = []string{engine.LimitChange, engine.CeilingChange, "floor"}

// along are the ceiling and the floor, where a limit that was ordered has moved them.
func along(q *request, was, now []engine.Tunable) []Change {
	ordered := func(name string) bool {
		return slices.ContainsFunc(q.Settings, func(s Setting) bool { return s.Name == name })
	}
	if !ordered(engine.LimitChange) {
		return nil
	}
	var moved []Change
	for _, name := range steering[1:] {
		if before, after := value(was, name), value(now, name); before != nil && after != nil && *before != *after && !ordered(name) {
			moved = append(moved, Change{name, *before, *after})
		}
	}
	return moved
}

// setAll sets what was ordered, in the order given or, where one thing must not be before another is, in one that goes.
func (s *server) setAll(q *request, was []engine.Tunable) error {
	var done []Setting
	for left := q.Settings; len(left) > 0; {
		var refused []Setting
		var mistakes []error
		for _, wanted := range left {
			if err := s.job.Set(wanted.Name, wanted.Value, q.Who, q.Why); err != nil {
				refused, mistakes = append(refused, wanted), append(mistakes, err)
				continue
			}
			done = append(done, wanted)
		}
		if len(refused) == len(left) {
			return errors.Join(append(mistakes, s.restore(q, was, done))...)
		}
		left = refused
	}
	return nil
}

// restore takes back what was set before something else was a mistake, and what moved along with it.
func (s *server) restore(q *request, was []engine.Tunable, set []Setting) error {
	var errs []error
	back := func(name string) {
		if err := s.job.Set(name, *value(was, name), q.Who, "taken back: not all that was ordered with it could be set"); err != nil {
			errs = append(errs, fmt.Errorf("%s stays %s: %w", name, *value(s.job.Tunables(), name), err))
		}
	}
	moved := func(name string) bool {
		before, now := value(was, name), value(s.job.Tunables(), name)
		return before != nil && now != nil && *before != *now
	}
	steered := slices.ContainsFunc(set, func(one Setting) bool { return one.Name == "governor" || slices.Contains(steering, one.Name) })
	together := func() {
		for _, name := range steering {
			if steered && moved(name) {
				back(name)
			}
		}
	}
	together()
	for _, one := range slices.Backward(set) {
		if moved(one.Name) {
			back(one.Name)
		}
	}
	together() // a governor that is back moves them
	return errors.Join(errs...)
}

// value is that of a tunable; nil is that there is none of this name.
func value(of []engine.Tunable, name string) *string {
	i := slices.IndexFunc(of, func(t engine.Tunable) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &of[i].Value
}

func unknown(name string, tunables []engine.Tunable) error {
	var names []string
	for _, t := range tunables {
		names = append(names, t.Name)
	}
	return &engine.FieldError{Field: name, Problem: "that cannot be changed while a run is in progress", Hint: "what can: " + strings.Join(names, ", ")}
}

// each does something to every agent of a request. All are looked for first.
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
