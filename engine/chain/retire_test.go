package chain

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// placeOf formats the step of the oldest session.
func placeOf(r *run.Run) string {
	all := r.Oldest(1)
	if len(all) == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%s of %q", all[0].Path, all[0].Service)
}

// TestRetired checks that retiring an agent ends its session where it waits, whatever its steps do on errors.
func TestRetired(t *testing.T) {
	for _, sequential := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			row := stage{steps: `
step a:
  kind: for
  each: "[1, 2]"
  as: i
  on_error: continue
  do:
    step b: {kind: wait, for: 1h, default: 1, timeout: 2h}
step c: {kind: emit, event: e}
`, change: func(s *engine.Settings) { s.SequentialSteps = sequential }, during: func(r *run.Run) {
				time.Sleep(time.Second)
				if got := placeOf(r); got != `a[0].b of ""` {
					t.Errorf("it is at %s", got)
				}
				if err := r.Retire(t.Context(), 0, "test"); err != nil {
					t.Error(err)
				}
			}}.one(t)
			if got, want := steps(&row), "a:canceled a[0].b:canceled c:canceled"; got != want || row.Outcome != engine.Canceled || row.Class != engine.NoError || row.Total != time.Second {
				t.Errorf("got %s, %v after %v; want %s, canceled", got, row.Outcome, row.Total, want)
			}
		})
	}
}

// TestSessionViewShowsService checks that a view of a session shows the step and the service that it calls.
func TestSessionViewShowsService(t *testing.T) {
	came, leave := make(chan struct{}), make(chan struct{})
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		came <- struct{}{}
		<-leave
		fmt.Fprint(w, "{}")
	})
	row := stage{address: address, steps: `
step first: {kind: http, service: shop, get: /a}
step again: {kind: http, service: shop, get: /b}
`, during: func(r *run.Run) {
		for _, want := range []string{"first", "again"} {
			<-came
			if got := placeOf(r); got != want+` of "shop"` {
				t.Errorf("it is at %s, want %s", got, want)
			}
			leave <- struct{}{}
		}
	}}.one(t)
	if row.Outcome != engine.OK {
		t.Errorf("%v: %s", row.Outcome, row.Error)
	}
}
