package calibration

import (
	"math"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/workers"
)

// snapshot returns the snapshot of a run at a second. perSecond sessions end each second, with two requests each.
func snapshot(second float64, perSecond int64) *engine.Snapshot {
	at := time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC).Add(time.Duration(second * float64(time.Second)))
	ended := int64(second * float64(perSecond))
	s := &engine.Snapshot{
		At:            at,
		Phase:         engine.Running,
		LimitState:    engine.LimitState{InFlight: 8},
		SessionCounts: engine.SessionCounts{Ended: ended, Outcomes: map[engine.Outcome]int64{engine.OK: ended * 9 / 10, engine.Failed: ended / 20, engine.TimedOut: ended / 20}},
		RequestCounts: engine.RequestCounts{Requests: 2*ended + ended/10, Retries: ended / 10, RateLimited: ended / 50},
		Metrics: engine.MetricsRow{
			At:          at.Truncate(time.Second),
			Host:        engine.HostMetrics{CPU: 50, ProcessCPU: 60, Available: 3 << 30, MemoryTotal: 4 << 30},
			SecondTimes: engine.SecondTimes{Total: engine.Quantiles{Count: perSecond, P95: 90 * time.Millisecond}, Service: engine.Quantiles{Count: perSecond, Mean: 60 * time.Millisecond}},
			DatabaseUse: engine.DatabaseUse{ServerConnections: 12, ServerMax: 60},
		},
	}
	waited := time.Duration(second * float64(time.Second))
	s.Waits[engine.ThrottledByRate], s.Waits[engine.ThrottledByRefusal] = 2*waited, waited
	s.Waits[engine.ThrottledBySlots] = waited / 2
	return s
}

func TestWindow(t *testing.T) {
	w := newWindow(snapshot(10.4, 100))
	for i := range 51 {
		w.add(snapshot(10.4+float64(i)/10, 100))
		w.add(snapshot(10.4, 100)) // seen before
	}
	s := w.sample(10, 4)
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 0.02*math.Abs(want) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("the span", s.Span.Seconds(), 5)
	near("the sessions", float64(s.Ended), 500)
	near("failed sessions", float64(s.Failed), 50)
	near("the requests", float64(s.Asked), 1000)
	near("the refusals", float64(s.Refused), 10)
	near("a session's p95", s.P95.Seconds(), 0.09)
	near("a request", s.Service.Seconds(), 0.03)
	near("the CPU", s.CPU, 50)
	near("its own", s.OwnCPU, 15)
	near("the memory", s.Memory, 0.25)
	near("the rates", s.Paced, 0.3)
	near("the bounds", s.Bounded, 0.05)
	near("in flight", s.InFlight, 8)
	if s.Clients != 12 || s.MaxClients != 60 || len(w.rows) != 5 {
		t.Errorf("%d of %d clients in %d seconds", s.Clients, s.MaxClients, len(w.rows))
	}
}

// TestWindowOfAFleet checks that the CPU of workers on this machine is not that of other programs.
func TestWindowOfAFleet(t *testing.T) {
	w := newWindow(snapshot(10.4, 100))
	w.workers = func() []workers.State { return []workers.State{{CPU: 30}, {CPU: 50}} }
	for i := range 51 {
		s := snapshot(10.4+float64(i)/10, 100)
		s.Metrics.Host.ProcessCPU += 80 // the engine counts them as Throng's
		w.add(s)
	}
	if s := w.sample(10, 4); math.Abs(s.WorkersCPU-20) > 0.01 || math.Abs(s.OwnCPU-35) > 0.01 {
		t.Errorf("the workers use %v, the fleet %v", s.WorkersCPU, s.OwnCPU)
	}
}

// TestWindowWithoutASecond uses an interval without a metrics row: the machine's metrics are unknown.
func TestWindowWithoutASecond(t *testing.T) {
	w := newWindow(snapshot(3.1, 100))
	w.add(snapshot(3.4, 100))
	if s := w.sample(1, 2); s.CPU >= 0 || s.Memory >= 0 || s.Clients >= 0 || s.P95 != 0 || s.Ended != 30 {
		t.Errorf("%+v", s)
	}
}
