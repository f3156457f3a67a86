package desk

import (
	"context"
	"errors"
	"slices"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/setup"
)

// Requirements returns what a launch needs.
func (d setupDesk) Requirements(ctx context.Context, o setup.Order) (out setup.Requirements, err error) {
	l, err := d.launch(ctx, o)
	if err != nil {
		return out, err
	}
	out.Changed, out.Lost = l.Differences(), l.Warnings()
	for _, s := range l.Permits().PlannedServices() {
		for _, secret := range s.Secrets {
			if secret.Err == nil {
				kept := keptWhere()
				if secret.Place == secrets.InEnvironment {
					kept = "until the program ends"
				}
				out.Stored = append(out.Stored, setup.Stored{Service: s.Name, Secret: secret.Name, Place: secret.Place, Kept: kept})
				continue
			}
			m := setup.Missing{Service: s.Name, Secret: secret.Name, Problem: secret.Err.Error(), Kept: keptWhere()}
			if mistake, ok := errors.AsType[*engine.FieldError](secret.Err); ok { // the error's hint is for the terminal
				m.Problem = mistake.Problem
			}
			out.Missing = append(out.Missing, m)
		}
	}
	draft, err := l.Population().WritingForecast()
	if err != nil || draft == nil {
		return out, err
	}
	out.Writing, out.Unwritten = draft.String(), draft.Left
	return out, nil
}

// Forecast returns the forecast of a run.
func (d setupDesk) Forecast(ctx context.Context, o setup.Order) (engine.Forecast, error) {
	l, err := d.launch(ctx, o)
	if err != nil {
		return engine.Forecast{}, err
	}
	f, _, err := d.forecast(ctx, l)
	return f, err
}

// forecast returns the forecast of a launch, and the number of its agents.
func (d *Desk) forecast(ctx context.Context, l app.Launch) (f engine.Forecast, agents int, err error) {
	l.Remote = d.remote
	if err := l.Population().TakeKept(); err != nil {
		return f, 0, err
	}
	taking, err := l.Forecaster().Workload(ctx)
	if err != nil {
		return f, 0, err
	}
	return l.Forecaster().Forecast(d.app.EarlierRuns().Find(ctx, l.Forecaster()), taking), taking.Agents, nil
}

// KeepSecret stores a secret in the system's keychain or, without one, until the program ends.
func (d *Desk) KeepSecret(_ context.Context, name, value string) error {
	_, place, _ := secrets.Finder{}.Find("secret", name)
	err := secrets.Keep(name, value)
	if err == nil && place == secrets.InEnvironment { // which would come first
		err = secrets.Remember(name, value)
	}
	d.preflight.Forget() // a service may have refused the previous secret
	if _, unkept := errors.AsType[*secrets.UnkeptError](err); unkept {
		return nil
	}
	return err
}

// keptWhere says where a new secret is stored.
func keptWhere() string {
	if secrets.KeychainProblem() != nil {
		return "until the program ends"
	}
	return "in the keychain"
}

// locked returns a *runs.LockedError if a launch lacks secrets, or nil.
func locked(l app.Launch) error {
	if l.Settings.Replay != "" { // a replay calls no service
		return nil
	}
	var names []string
	for _, o := range l.Permits().PlannedServices() {
		for _, s := range o.Secrets {
			if s.Err != nil && !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	if names == nil {
		return nil
	}
	return &runs.LockedError{Secrets: names, Kept: keptWhere()}
}
