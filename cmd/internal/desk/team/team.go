// Package team keeps the workers that execute the runs of a window.
package team

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/fleet"
)

// Team keeps the fleet that workers of other computers can join, from the invitation until its end: workers stay from run to run. Its
// methods are safe for concurrent use.
type Team struct {
	cfg    crew.Config
	ctx    context.Context // ends with the window
	cancel context.CancelCauseFunc

	changes sync.Mutex // held while the fleet is opened or closed

	mu    sync.Mutex
	fleet *crew.Fleet // nil if nothing is open
	plan  fleet.Plan  // of the fleet
	users int         // runs that use it, or wait for a worker
}

var _ fleet.Host = (*Team)(nil)

var (
	errInUse  = errors.New("a run uses the workers, or waits for one; stop it first")
	errClosed = errors.New("the window is being closed")
)

// New returns a team without workers. cfg says where the data and the terminal program are; a [fleet.Plan] sets the rest.
func New(cfg crew.Config) *Team {
	t := &Team{cfg: cfg}
	t.ctx, t.cancel = context.WithCancelCause(context.Background())
	return t
}

// Close ends all connections. The runs that use them have ended before.
func (t *Team) Close() error {
	t.cancel(errClosed)
	t.changes.Lock()
	defer t.changes.Unlock()
	t.mu.Lock()
	open := t.fleet
	t.fleet = nil
	t.mu.Unlock()
	if open == nil {
		return nil
	}
	return open.Close()
}

// Invite implements [fleet.Host].
func (t *Team) Invite(p fleet.Plan) (string, error) {
	t.changes.Lock()
	defer t.changes.Unlock()
	t.mu.Lock()
	open := t.fleet
	t.mu.Unlock()
	if open != nil {
		return open.JoinLine(), nil
	}
	if t.ctx.Err() != nil {
		return "", errClosed
	}
	f, err := t.open(p)
	if err != nil {
		return "", err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fleet, t.plan = f, p
	return f.JoinLine(), nil
}

// open opens a fleet for a plan. Errors name its fields.
func (t *Team) open(p fleet.Plan) (*crew.Fleet, error) {
	cfg := t.cfg
	cfg.Where, cfg.Cluster, cfg.Credentials = p.Listen, p.Cluster, p.Credentials
	field := fleet.ListenField
	switch {
	case p.Local > 0:
		cfg.Where, field = fmt.Sprintf("local:%d", p.Local), fleet.LocalField
		if cfg.Program == "" {
			return nil, &engine.FieldError{Field: field, Problem: "the program throngctl, which executes the sessions, is not installed", Hint: "put it next to this program or on PATH"}
		}
	case p.Cluster != "":
		field = fleet.ClusterField
	}
	f, err := crew.Open(t.ctx, cfg)
	if err == nil {
		return f, nil
	}
	if mistake, ok := errors.AsType[*engine.FieldError](err); ok {
		return nil, mistake
	}
	return nil, &engine.FieldError{Field: field, Problem: err.Error()}
}

// Invited implements [fleet.Host].
func (t *Team) Invited() (p fleet.Plan, join string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fleet == nil {
		return p, ""
	}
	return t.plan, t.fleet.JoinLine()
}

// Uninvite implements [fleet.Host].
func (t *Team) Uninvite() error {
	t.changes.Lock()
	defer t.changes.Unlock()
	t.mu.Lock()
	open, users := t.fleet, t.users
	if users == 0 {
		t.fleet = nil
	}
	t.mu.Unlock()
	switch {
	case users > 0:
		return errInUse
	case open == nil:
		return nil
	}
	return open.Close()
}

// Workers implements [fleet.Host].
func (t *Team) Workers() []workers.State {
	t.mu.Lock()
	open := t.fleet
	t.mu.Unlock()
	if open == nil {
		return nil
	}
	return open.Workers()
}

// Hired are the workers of one run.
type Hired struct {
	app.Crew
	release func() error
}

// Release says that the run has ended. Workers on this computer end with it.
func (h *Hired) Release() error { return h.release() }

// Hire returns the workers for a run, as soon as the first one of other computers, or all of this computer, are ready. It calls awaits with
// true while it waits; awaits may be nil. The caller releases them. The plan is not this process.
func (t *Team) Hire(ctx context.Context, u fleet.Use, awaits func(bool)) (*Hired, error) {
	open, release, err := t.take(u.Plan)
	if err != nil {
		return nil, err
	}
	h := &Hired{open, sync.OnceValue(release)}
	if err := t.await(ctx, open, max(u.Local, 1), awaits); err != nil {
		return nil, errors.Join(err, h.Release())
	}
	open.Plan(u.Share, open.Ready()) // more cannot join a run that calls a database
	return h, nil
}

// Start hires workers for a launch and starts it with start. The workers are released with the run, or if it does not start.
func (t *Team) Start(ctx context.Context, l app.Launch, u fleet.Use, awaits func(bool), start func(app.Launch) error) error {
	if u.Plan == (fleet.Plan{}) {
		return start(l)
	}
	err := errors.Join(crew.CheckLaunch(&l, u.Local), crew.CheckShared(l, u.Share)) // before waiting for a worker
	if err != nil {
		return explain(err)
	}
	if u.Local == 0 {
		crew.Warn(&l, t.cfg.Say)
	}
	hired, err := t.Hire(ctx, u, awaits)
	if err != nil {
		return err
	}
	l.Crew = hired
	if err := start(l); err != nil {
		return errors.Join(err, hired.Release())
	}
	return nil
}

// take returns the fleet of a plan, which stays open until it is released.
func (t *Team) take(p fleet.Plan) (open *crew.Fleet, release func() error, err error) {
	if p.Local > 0 {
		if open, err = t.open(p); err != nil {
			return nil, nil, err
		}
		return open, open.Close, nil
	}
	if _, err := t.Invite(p); err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fleet == nil {
		return nil, nil, errClosed
	}
	if t.plan != p {
		return nil, nil, &engine.FieldError{Field: fleet.ListenField, Problem: "workers were invited to another address", Hint: "press Stop inviting first"}
	}
	t.users++
	return t.fleet, t.leave, nil
}

// leave notes that a run no longer uses the fleet.
func (t *Team) leave() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users--
	return nil
}

// look is how often a wait looks whether workers on this computer are refused.
const look = 100 * time.Millisecond

// await waits until a number of workers are ready. Workers on this computer that are refused will not be.
func (t *Team) await(ctx context.Context, open *crew.Fleet, count int, awaits func(bool)) error {
	if open.Ready() >= count {
		return nil
	}
	if awaits == nil {
		awaits = func(bool) {}
	}
	awaits(true)
	defer awaits(false)
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	defer context.AfterFunc(t.ctx, func() { giveUp(errClosed) })()
	if open.Locals() > 0 {
		again := time.NewTicker(look)
		defer again.Stop()
		go func() {
			for {
				select {
				case <-again.C:
					if why := refused(open.Workers()); why != nil {
						giveUp(why)
					}
				case <-ctx.Done():
					return
				}
			}
		}()
	}
	return open.Await(ctx, count)
}

// refused returns why workers on this computer are refused, or nil.
func refused(all []workers.State) error {
	for i := range all {
		if w := &all[i]; w.Status == workers.Refused {
			return &engine.FieldError{Field: fleet.LocalField, Problem: "the worker " + w.Name + " is refused: " + w.Why}
		}
	}
	return nil
}

// explain words an error of a launch with workers for the window.
func explain(err error) error {
	if m, ok := errors.AsType[*engine.FieldError](err); ok && m.Field == fleet.LocalField && m.Hint == "leave out --fleet" {
		return &engine.FieldError{Field: m.Field, Problem: m.Problem, Hint: "choose This computer under Workers"}
	}
	return err
}
