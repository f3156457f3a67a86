package desk

import (
	"context"
	"log/slog"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/setup"
)

// TestARunOnAWorker launches a run that waits for a worker, and executes its sessions there.
func TestARunOnAWorker(t *testing.T) {
	d := open(t, t.TempDir())
	host := setupDesk{d}.Fleet()
	plan := fleet.Plan{Listen: "127.0.0.1:0"}
	line, err := host.Invite(plan)
	if err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	defer func() {
		leave()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()
	launch(t, d, func(o *setup.Order) {
		o.Fleet.Plan = plan
		o.Awaits = func(on bool) {
			if on {
				go func() {
					ended <- crew.Work(ctx, crew.WorkerConfig{Join: line, Name: "rack", Data: t.TempDir(), Say: func(string) {}, Log: slog.New(slog.DiscardHandler)})
				}()
			}
		}
	})
	job := d.Job()
	if job.Fleet == nil {
		t.Fatal("Live shows no workers")
	}
	<-d.Settled()
	if s := job.Snapshot(); s.Ending != engine.EndFinished || s.Ended != 80 {
		t.Errorf("ended as %v after %d sessions", s.Ending, s.Ended)
	}
	if all := job.Fleet.Workers(); len(all) != 1 || all[0].Name != "rack" {
		t.Errorf("the workers are %+v", all)
	}
}
