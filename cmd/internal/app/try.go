package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service"
)

// Try runs the first session of one agent, named by its id or its index, with the services of the launch and shows what
// each step does; "" is the first agent. No run is made of it: nothing is kept, and what a mock did is forgotten. Its
// requests to other services are real. When ctx ends the session is cut, and what it did until then comes beside the error.
// Mistakes are *engine.FieldError, those in the scenario *scenario.Mistakes.
func (l Launch) Try(ctx context.Context, agent string) (t *engine.Trial, err error) {
	dir, leave, err := scratch(l.Data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	l.Store, l.Scratch, l.Remote, l.Resume, l.Fork, l.Settings = nil, dir, nil, "", nil, alone(l.Settings)
	if err := l.checkTry(); err != nil {
		return nil, err
	}
	bearers, err := l.Services().unlock()
	if err != nil {
		return nil, err
	}
	j := &Job{Program: l.Scenario.Program(l.Settings.Seed)}
	j.Record.ID = NewRunID(time.Now())
	index, err := j.Program.Agent(agent)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if err := l.Services().connect(j, bearers, l.Services().services()); err != nil {
		return nil, err
	}
	trial := &trying{}
	j.Program.Try(trial.ended)
	began := time.Now()
	j.Run, err = run.Start(ctx, run.Config{
		ID: j.Record.ID, Program: j.Program, Agents: l.Scenario.Agents, Chosen: []int{index}, Name: j.Program.AgentID,
		Clock: l.Scenario.Clock, Settings: l.Settings, Services: j.services, Tracer: trial.heard,
	})
	if err != nil {
		return nil, err
	}
	result := j.Run.Wait()
	t = trial.result(time.Since(began))
	maskTrial(t)
	switch {
	case ctx.Err() != nil:
		return t, context.Cause(ctx)
	case t == nil:
		return nil, fmt.Errorf("the session did not begin: %s", result.Reason)
	}
	return t, nil
}

// alone are settings under which one session runs by itself.
func alone(s engine.Settings) engine.Settings {
	s.Limit, s.Floor, s.Ceiling, s.Governor = 1, 1, 1, engine.Manual
	s.Breaker, s.StallAfter, s.TimeScale = noBreaker, 0, 0
	s.Cycles, s.Hours, s.WarmUp, s.CheckpointEvery = 1, 0, nil, 0
	s.Remote, s.Record, s.Replay, s.Agents, s.Filter = false, false, "", nil, ""
	return s
}

// checkTry finds what keeps a session from being tried.
func (l Launch) checkTry() error {
	unpriced, err := l.Services().unpriced()
	if err := errors.Join(err, l.Settings.Validate(), l.Permits().checkHosts(), l.Services().checkStandIn(), l.Services().checkMock(),
		l.Scenario.Program(l.Settings.Seed).Check(), engine.CheckPriced(l.Settings.Budget, unpriced), l.Population().TakeKept()); err != nil {
		return err
	}
	switch w := l.Scenario.Writing(l.Settings.Seed); {
	case w != nil:
		return &engine.FieldError{Field: "population", Problem: "is not written yet", Hint: "launch the scenario once; what the model writes is kept"}
	case l.Scenario.Agents == 0:
		return &engine.FieldError{Field: "agents", Problem: "there are none", Hint: "a population of one at least"}
	}
	return nil
}

// trying collects what a session did.
type trying struct {
	mu        sync.Mutex
	trial     *engine.Trial // nil before its end
	exchanges []engine.Exchange
}

func (t *trying) ended(trial *engine.Trial) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trial = trial
}

// mostHeard bounds how many exchanges are kept.
const mostHeard = 10_000

func (t *trying) heard(e engine.Exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.exchanges) < mostHeard {
		t.exchanges = append(t.exchanges, e)
	}
}

// result is the session with its exchanges at their steps; nil if it has not begun.
func (t *trying) result(took time.Duration) *engine.Trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.trial == nil {
		return nil
	}
	t.trial.Took = took
	t.trial.Walk(func(_ int, s *engine.TrialStep) {
		for _, e := range t.exchanges {
			if of, _, _ := strings.Cut(e.Path, "~"); of == s.Path { // an answer that did not fit is asked for again
				s.Exchanges = append(s.Exchanges, e)
			}
		}
	})
	return t.trial
}

// maskTrial takes out what goes by the name of a secret, and the secrets that this process has looked up. What was exchanged
// is without the former already.
func maskTrial(t *engine.Trial) {
	if t == nil {
		return
	}
	veil := func(text *string) { *text = service.Unnamed(secrets.Redact(*text)) }
	secrets.MaskFacts(t.Persona, veil)
	for _, r := range []*engine.Remembered{&t.Before, &t.After} {
		secrets.MaskFacts(r.Fields, veil)
		for i := range r.Notes {
			veil(&r.Notes[i])
		}
		for i := range r.Inbox {
			veil(&r.Inbox[i].Body)
		}
	}
	for i := range t.Events {
		veil(&t.Events[i].Data)
	}
	for i := range t.Said {
		veil(&t.Said[i].Body)
	}
	t.Error, t.Because = secrets.Redact(t.Error), secrets.Redact(t.Because)
	t.Walk(func(_ int, s *engine.TrialStep) {
		veil(&s.Output)
		s.Error = secrets.Redact(s.Error)
		for i := range s.Exchanges {
			secrets.RedactExchange(&s.Exchanges[i])
		}
	})
}
