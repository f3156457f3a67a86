package team

import (
	"context"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/fleet"
)

// Store is what a team reads of earlier runs.
type Store interface {
	Changes(ctx context.Context, run engine.RunID) ([]engine.ChangeRow, error)
	Starts(ctx context.Context, run engine.RunID) ([]engine.StartRow, error)
}

// Had returns the plan of the workers that a run had when it last ended; the zero value if it had none.
func Had(ctx context.Context, store Store, run engine.RunID) (p fleet.Plan, err error) {
	starts, err := store.Starts(ctx, run)
	if err != nil || len(starts) == 0 {
		return p, err
	}
	changes, err := store.Changes(ctx, run)
	if err != nil {
		return p, err
	}
	where, last := "", starts[len(starts)-1].At
	for i := range changes {
		if c := &changes[i]; c.What == engine.FleetChange && !c.At.Before(last) {
			where = c.New
		}
	}
	switch count, err := crew.Local(where); {
	case err != nil || where == "":
	case count > 0:
		p.Local = count
	case strings.Contains(where, "://"):
		p.Cluster = where
	default:
		p.Listen = where
	}
	return p, nil
}

// Secrets returns the names of the secrets that a launch needs.
func Secrets(l app.Launch) (names []string) {
	for _, s := range l.Permits().PlannedServices() {
		for _, secret := range s.Secrets {
			if !slices.Contains(names, secret.Name) {
				names = append(names, secret.Name)
			}
		}
	}
	return names
}
