package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/app/runid"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service/redact"
)

// Try runs the first session of one agent, named by its ID or index, with the services of the launch, and returns what each
// step did; "" is the first agent. It stores nothing and discards the state of the mocks, but its requests to other services
// are real. If ctx ends, the session is cut, and the trial so far is returned with the error. Mistakes are *engine.FieldError
// values; mistakes in the scenario are *scenario.Mistakes.
func (l Launch) Try(ctx context.Context, agent string) (t *engine.Trial, err error) {
	dir, leave, err := calibration.Scratch(l.Data)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, leave()) }()
	l.Store, l.Scratch, l.Remote, l.Resume, l.Fork, l.Settings = nil, dir, nil, "", nil, alone(l.Settings)
	if err := l.checkTry(); err != nil {
		return nil, err
	}
	bearers, err := l.unlock()
	if err != nil {
		return nil, err
	}
	j := &Job{Program: l.Scenario.Program(l.Settings.Seed), single: true}
	j.Record.ID = runid.New(time.Now())
	index, err := j.Program.Agent(agent)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	if err := l.connect(j, bearers, l.services()); err != nil {
		return nil, err
	}
	trial := &sessionTrial{}
	j.Program.Try(trial.ended)
	began := time.Now()
	j.Run, err = run.Start(ctx, run.Config{
		ID: j.Record.ID, Program: j.Program, Agents: l.Scenario.Agents, Chosen: []int{index},
		Clock: l.Scenario.Clock.Together(), Settings: l.Settings, Services: j.services,
		Descriptions: run.Descriptions{Name: j.Program.AgentID}, Hooks: run.Hooks{Tracer: trial.trace},
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
		return nil, fmt.Errorf("the session did not start: %s", result.Reason)
	}
	return t, nil
}

// alone returns settings for a single session.
func alone(s engine.Settings) engine.Settings {
	s.Limit, s.Floor, s.Ceiling, s.Governor = 1, 1, 1, engine.Manual
	s.Breaker, s.StallAfter, s.TimeScale = noBreaker, 0, 0
	s.Cycles, s.Hours, s.WarmUp, s.CheckpointEvery = 1, 0, nil, 0
	s.Remote, s.Record, s.Replay, s.Agents, s.Filter = false, false, "", nil, ""
	return s
}

// checkTry checks that a session can be tried.
func (l Launch) checkTry() error {
	unpriced, err := l.unpriced()
	if err := errors.Join(err, l.Settings.Validate(), l.Permits().checkHosts(), l.checkStandIn(), l.checkMock(),
		l.Scenario.Program(l.Settings.Seed).Check(), engine.CheckPriced(l.Settings.Budget, unpriced), l.Population().TakeKept()); err != nil {
		return err
	}
	switch w := l.Scenario.Writing(l.Settings.Seed); {
	case w != nil:
		return &engine.FieldError{Field: "population", Problem: "is not written yet", Hint: "launch the scenario once; its personas are then stored"}
	case l.Scenario.Agents == 0:
		return &engine.FieldError{Field: "agents", Problem: "the population is empty", Hint: "use at least one agent"}
	}
	return nil
}

// sessionTrial collects what a session does.
type sessionTrial struct {
	mu        sync.Mutex
	trial     *engine.Trial // nil before its end
	exchanges []engine.Exchange
}

func (t *sessionTrial) ended(trial *engine.Trial) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trial = trial
}

// maxExchanges bounds the collected exchanges.
const maxExchanges = 10_000

func (t *sessionTrial) trace(e engine.Exchange) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.exchanges) < maxExchanges {
		t.exchanges = append(t.exchanges, e)
	}
}

// result returns the session with its exchanges at their steps; nil if it did not start.
func (t *sessionTrial) result(took time.Duration) *engine.Trial {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.trial == nil {
		return nil
	}
	t.trial.Took = took
	t.trial.Walk(func(_ int, s *engine.TrialStep) {
		for _, e := range t.exchanges {
			if of, _, _ := strings.Cut(e.Path, "~"); of == s.Path { // a repeated request has a suffix
				s.Exchanges = append(s.Exchanges, e)
			}
		}
	})
	return t.trial
}

// maskTrial removes values with the name of a secret, and secrets that this process has looked up. Exchanges are already
// without the former.
func maskTrial(t *engine.Trial) {
	if t == nil {
		return
	}
	veil := func(text *string) { *text = redact.Unnamed(secrets.Redact(*text)) }
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
