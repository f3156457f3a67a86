package desk

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/wire"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// Outlook tells what a launch would need.
func (d setupDesk) Outlook(_ context.Context, o setup.Order) (out setup.Outlook, err error) {
	l, err := d.launch(o)
	if err != nil {
		return out, err
	}
	l.Data = d.data
	for _, s := range l.Outlook() {
		for _, secret := range s.Secrets {
			if secret.Err == nil {
				continue
			}
			m := setup.Missing{Service: s.Name, Secret: secret.Name, Problem: secret.Err.Error(), Kept: "in the keychain"}
			if wire.KeychainProblem() != nil {
				m.Kept = "until the program ends"
			}
			if mistake, ok := errors.AsType[*engine.FieldError](secret.Err); ok { // its hint is for the terminal
				m.Problem = mistake.Problem
			}
			out.Missing = append(out.Missing, m)
		}
	}
	draft, err := l.Draft()
	if err != nil || draft == nil {
		return out, err
	}
	out.Writing, out.Unwritten = draft.String(), draft.Left
	return out, nil
}

// Forecast tells what a run would take.
func (d setupDesk) Forecast(ctx context.Context, o setup.Order) (engine.Forecast, error) {
	l, err := d.launch(o)
	if err != nil {
		return engine.Forecast{}, err
	}
	l.Data, l.Remote = d.data, d.remote
	if err := l.TakeKept(); err != nil {
		return engine.Forecast{}, err
	}
	taking, err := l.Taking(ctx)
	if err != nil {
		return engine.Forecast{}, err
	}
	return l.Forecast(d.past.Like(ctx, l), taking), nil
}

// KeepSecret keeps a secret in the system's keychain; where there is none, in the environment of this process.
func (d setupDesk) KeepSecret(_ context.Context, name, value string) error {
	err := wire.KeepSecret(name, value)
	if _, mistake := errors.AsType[*engine.FieldError](err); err == nil || mistake {
		return err
	}
	return os.Setenv(name, strings.TrimSpace(value))
}
