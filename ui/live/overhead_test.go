package live

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// onTwoCores adds a second of a run on two cores with the given CPU use of all programs and the given overhead per 10 s
// of sessions.
func onTwoCores(used, lost time.Duration) func(m *engine.MetricsRow) {
	return func(m *engine.MetricsRow) {
		o := &m.Overhead
		o.Span += time.Second
		o.Cores += 2 * time.Second
		o.Machine += used
		o.Process += used
		o.Requests += 1000
		o.Times[engine.ForServices] += 10*time.Second - lost
		o.Times[engine.ForEngine] += lost
		m.Late = engine.Late{Tick: 12 * time.Millisecond}
	}
}

func TestLostShare(t *testing.T) {
	for share, want := range map[float64]string{math.NaN(): "–", 0: "0.0%", 1e-6: "< 0.1%", 0.0123: "1.2%", 0.5: "50%", 1: "100%"} {
		if got := lostShare(share); got != want {
			t.Errorf("%g is shown as %q, want %q", share, got, want)
		}
	}
}

func TestTimeLost(t *testing.T) {
	st := perform(t, running())
	tile := func() string { return st.figure(t, "Engine overhead") }
	if got, want := tile(), "– of the sessions' time"; got != want {
		t.Errorf("before anything is known the tile shows %q, want %q", got, want)
	}
	for range 40 {
		st.run.second(onTwoCores(500*time.Millisecond, 200*time.Millisecond))
		st.tick()
	}
	if got, want := tile(), "2.0% of the sessions' time"; got != want {
		t.Errorf("slow backend: the tile shows %q, want %q", got, want)
	}
	st.lists.show(st.lists.all[slices.IndexFunc(st.lists.all, func(l *list) bool { return l.title == "Time" })])
	st.shows(t, "limited by", "The backend is the limit: services took 98% of the sessions' time.", "advice", "Look at the slowest step", "9.8 ms on average",
		"Throng's CPU", "25%", "of 2 cores", "timer lag", "12 ms")
	st.hides(t, "cores are in use", "python steps")

	for range 40 {
		st.run.second(onTwoCores(1960*time.Millisecond, 4100*time.Millisecond))
		st.tick()
	}
	if got, want := tile(), "41% of the sessions' time"; got != want {
		t.Errorf("busy machine: the tile shows %q, want %q", got, want)
	}
	st.shows(t, "limited by", "This machine is the limit: 98% of its 2 cores are in use", "Lower the limit, or use another machine",
		"Engine overhead: 41%, limited by this machine. Measurements do not describe the backend now")
}
