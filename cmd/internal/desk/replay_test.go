package desk

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/setup"
)

// TestHistoryOfARun checks moments of the open run, and of an earlier run that is opened for its history.
func TestHistoryOfARun(t *testing.T) {
	d := open(t, t.TempDir())
	launch(t, d, nil)
	<-d.Settled()
	first := liveDesk{d}.Job()
	launch(t, d, func(o *setup.Order) { o.Settings.Cycles = 1 })
	<-d.Settled()
	if job, err := (liveDesk{d}).Past(t.Context(), liveDesk{d}.Job().ID()); err != nil || job != (liveDesk{d}).Job() {
		t.Errorf("the open run: got %v, %v", job, err)
	}
	past, err := liveDesk{d}.Past(t.Context(), first.ID())
	if err != nil {
		t.Fatal(err)
	}
	was, is := first.Snapshot(), past.Snapshot()
	if past.Title != first.Title || past.Agents != first.Agents || len(past.Graph.Segments) == 0 || is.Phase != engine.Ended || is.Ending != engine.EndFinished ||
		is.Ended != was.Ended || is.Requests != was.Requests || is.Events != was.Events || is.Latency.Count != was.Latency.Count || len(is.Steps) != len(was.Steps) {
		t.Errorf("reopened: got %+v,\nwant %+v", is, was)
	}
	if err := past.Pause("", ""); !errors.Is(err, engine.ErrEnded) {
		t.Errorf("a finished run accepts orders: %v", err)
	}
	c, err := past.Past.Timeline(t.Context())
	if err != nil || len(c.Stretches) != 1 || len(c.Barriers) != 2 {
		t.Fatalf("got timeline %+v, %v", c, err)
	}
	for at, want := range map[time.Time][2]int64{
		c.Stretches[0].From.Add(-time.Second): {0, 0}, c.Barriers[0].At: {1, 40}, c.Stretches[0].To: {1, 80},
	} {
		m, err := first.Past.Moment(t.Context(), at)
		if err != nil || int64(m.Snapshot.Cycle) != want[0] || m.Snapshot.Ended != want[1] || len(m.Crowd.States) != 40 {
			t.Errorf("at %v: %+v, %v; want cycle %d, %d sessions", at, m, err, want[0], want[1])
		}
	}
	if _, err := (liveDesk{d}).Past(t.Context(), "stranger"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("a missing run: %v", err)
	}
}
