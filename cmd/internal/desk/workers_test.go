package desk

import (
	"errors"
	"strings"
	"testing"

	"github.com/throng-sim/throng/cmd/internal/app/crew/crewtest"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/runs"
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
	launch(t, d, func(o *setup.Order) {
		o.Fleet.Plan = plan
		o.Awaits = func(on bool) {
			if on {
				crewtest.Join(t, line)
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

// TestResumeOnAWorker checks that a run that a worker executed asks what executes the rest, continues on the worker, and does not ask
// again after this process has executed a part.
func TestResumeOnAWorker(t *testing.T) {
	d := open(t, t.TempDir())
	use := fleet.Use{Plan: fleet.Plan{Listen: "127.0.0.1:0"}}
	line, err := d.Fleet().Invite(use.Plan)
	if err != nil {
		t.Fatal(err)
	}
	crewtest.Join(t, line)
	launch(t, d, func(o *setup.Order) {
		o.Fleet = use
		o.Settings.Budget.Requests = 40
	})
	job := d.Job()
	<-d.Settled()
	if s := job.Snapshot(); s.Ending != engine.EndOutOfBudget {
		t.Fatalf("ended as %v", s.Ending)
	}
	resume := func(how runs.Resumption) error {
		_, err := runsDesk{d}.Resume(t.Context(), job.ID(), how)
		return err
	}
	if had, ok := errors.AsType[*runs.HadWorkers](resume(runs.Resumption{Bound: "80"})); !ok || had.Plan != use.Plan || had.Secrets != nil {
		t.Fatalf("it asks %+v", had)
	}
	if err := resume(runs.Resumption{Bound: "80", Fleet: &fleet.Use{Plan: use.Plan, Share: []string{"SHOP_TOKEN"}}}); err == nil || !strings.Contains(err.Error(), "no service of the scenario receives the secret SHOP_TOKEN") {
		t.Errorf("a secret that the run does not need: %v", err)
	}
	if err := resume(runs.Resumption{Bound: "80", Fleet: &use}); err != nil {
		t.Fatal(err)
	}
	if d.Job().Fleet == nil {
		t.Error("it continues without the worker")
	}
	<-d.Settled()
	if err := resume(runs.Resumption{Bound: "120", Fleet: &fleet.Use{}}); err != nil {
		t.Fatal(err)
	}
	if d.Job().Fleet != nil {
		t.Error("it continues on the worker")
	}
	<-d.Settled()
	if err := resume(runs.Resumption{Bound: "160"}); err != nil {
		t.Errorf("after a part in this process: %v", err)
	}
	<-d.Settled()
}
