package team

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/cmd/internal/app/crew/crewtest"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
	"github.com/throng-sim/throng/ui/fleet"
)

var loopback = fleet.Use{Plan: fleet.Plan{Listen: "127.0.0.1:0"}}

func newTeam(t *testing.T) *Team {
	t.Helper()
	team := New(crew.Config{Data: t.TempDir(), Say: func(string) {}, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := team.Close(); err != nil {
			t.Error(err)
		}
	})
	return team
}

func TestARunWaitsForAWorker(t *testing.T) {
	team := newTeam(t)
	line, err := team.Invite(loopback.Plan)
	if err != nil || !strings.HasPrefix(line, "throng://") {
		t.Fatalf("invited with %q, %v", line, err)
	}
	if again, err := team.Invite(loopback.Plan); again != line || err != nil {
		t.Errorf("invited again with %q, %v", again, err)
	}
	var waits []bool
	hired, err := team.Hire(t.Context(), loopback, func(on bool) {
		if waits = append(waits, on); on {
			if err := team.Uninvite(); !errors.Is(err, errInUse) {
				t.Errorf("while a run waits, the end is %v", err)
			}
			crewtest.Join(t, line)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if all := team.Workers(); len(all) != 1 || all[0].Name != "rack" || all[0].Status != workers.Ready || len(hired.Workers()) != 1 {
		t.Errorf("the workers are %+v", all)
	}
	if !team.Workers()[0].Here {
		t.Error("the worker counts as one of another machine")
	}
	if p, join := team.Invited(); p != loopback.Plan || join != line {
		t.Errorf("the invitation is %+v, %s", p, join)
	}
	if len(waits) != 2 || waits[1] {
		t.Errorf("it waited %v", waits)
	}
	for range 2 { // the second has no effect
		if err := hired.Release(); err != nil {
			t.Error(err)
		}
	}
	second, err := team.Hire(t.Context(), loopback, nil) // the worker has stayed
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
	if _, err := team.Hire(t.Context(), fleet.Use{Plan: fleet.Plan{Listen: "127.0.0.1:1"}}, nil); err == nil {
		t.Error("workers of one address are hired for another")
	}
	if err := team.Uninvite(); err != nil || team.Workers() != nil || invited(team) {
		t.Errorf("after the end: %v, %v", team.Workers(), err)
	}
}

func TestAWaitCanBeCanceled(t *testing.T) {
	team := newTeam(t)
	mine := errors.New("canceled")
	ctx, cancel := context.WithCancelCause(t.Context())
	if _, err := team.Hire(ctx, loopback, func(bool) { cancel(mine) }); !errors.Is(err, mine) {
		t.Errorf("canceled with %v", err)
	}
	if err := team.Uninvite(); err != nil {
		t.Errorf("after a canceled wait: %v", err)
	}
}

func TestErrorsNameTheirFields(t *testing.T) {
	team := newTeam(t)
	for _, c := range []struct {
		plan  fleet.Plan
		field string
	}{
		{fleet.Plan{Local: 2}, fleet.LocalField}, // there is no terminal program
		{fleet.Plan{Listen: "nowhere"}, fleet.ListenField},
		{fleet.Plan{Cluster: "gopher://x"}, fleet.ClusterField},
	} {
		_, err := team.Hire(t.Context(), fleet.Use{Plan: c.plan}, nil)
		if m, ok := errors.AsType[*engine.FieldError](err); !ok || m.Field != c.field {
			t.Errorf("%+v: %v", c.plan, err)
		}
	}
	why := refused([]workers.State{{Name: "local-1"}, {Name: "local-2", Status: workers.Refused, Why: "another version"}})
	if why == nil || !strings.Contains(why.Error(), "local-2 is refused: another version") || refused(nil) != nil {
		t.Errorf("refused with %v", why)
	}
	err := explain(&engine.FieldError{Field: fleet.LocalField, Problem: "a replay", Hint: "leave out --fleet"})
	if m, ok := errors.AsType[*engine.FieldError](err); !ok || m.Hint != "choose This computer under Workers" {
		t.Errorf("explained as %v", err)
	}
}

func invited(team *Team) bool {
	_, join := team.Invited()
	return join != ""
}
