package desk

import (
	"errors"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// TestAgentsOfTheRunThatIsShown checks that agents of the open run can be counted, found by ID or filter, and viewed.
func TestAgentsOfTheRunThatIsShown(t *testing.T) {
	d := open(t, t.TempDir())
	launch(t, d, func(o *setup.Order) { o.Settings.Mock.Profile = "none" })
	job := liveDesk{d}.Job()
	<-d.Settled()
	crowd := job.Crowd(nil)
	if n := crowd.Counts(); crowd.Cycle != 1 || len(crowd.States) != 40 || n[engine.AgentOK]+n[engine.AgentStopped]+n[engine.AgentFailed] != 40 {
		t.Errorf("cycle %d: got %v", crowd.Cycle, n)
	}
	found, more, err := job.Find(t.Context(), "weekly_budget > 0 and index >= 38", 10)
	if err != nil || more || len(found) != 2 || found[1] != 39 {
		t.Errorf("found %v %v %v", found, more, err)
	}
	var field *engine.FieldError
	if _, _, err := job.Find(t.Context(), "nothing > 0", 10); !errors.As(err, &field) {
		t.Errorf("an invalid filter: %v", err)
	}
	v, err := job.Agent(t.Context(), 39)
	if err != nil || v.ID != job.Name(39) || v.State != crowd.States[39] || len(v.Sessions) != 2 || len(v.Persona) == 0 {
		t.Errorf("agent 39: got %+v, %v", v, err)
	}
	if named, _, err := job.Find(t.Context(), v.ID, 10); err != nil || len(named) != 1 || named[0] != 39 {
		t.Errorf("search by ID: got %v, %v", named, err)
	}
}
