package show

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestOutageIsShown checks what the terminal says about a service that does not answer, and about a stop in the meantime.
func TestOutageIsShown(t *testing.T) {
	s := &engine.Snapshot{Phase: engine.Running, At: time.Now()}
	s.Total, s.InFlight, s.Limit = 5, 5, 10
	says := func(got, want string, is bool) {
		t.Helper()
		if strings.Contains(got, want) != is {
			t.Errorf("%q in %q: want %v", want, got, is)
		}
	}
	says(Describe(s), "unavailable", false)
	says(Stop(s, false), "which does not answer", false)
	s.Services = []engine.ServiceState{{Name: "shop"}, {Name: "bank", Breaker: engine.BreakerOpen, BreakerWhy: "unavailable since 12:04: 10 requests in a row failed"}}
	says(Describe(s), "0 of 5 sessions, 0%  bank unavailable since 12:04: 10 requests in a row failed  ", true)
	const finish = "stopping: sessions in flight finish, except those that wait for bank, which does not answer: they run again on resume; then a checkpoint; press again to stop immediately"
	says(Stop(s, false), finish, true)
	says(Stop(s, true), "stopping immediately", true)
	s.Phase, s.Reason, s.InFlight = engine.Draining, "Ctrl+C", 1
	s.Oldest = []engine.Activity{{Path: "pay", Since: s.At.Add(-41 * time.Second), ThrottledBy: engine.ThrottledByRefusal.Text()}}
	says(Describe(s), "stopping: Ctrl+C  waits for 1 session to finish, the oldest at pay for 41 s (429)", true)
}
