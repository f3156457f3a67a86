package calibration

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
)

// hosts returns a machine with two cores on which Throng uses a tenth of the CPU. Other programs use the given percentages, one for each
// reading, and the last one from then on.
func hosts(others ...float64) func() engine.HostMetrics {
	return func() engine.HostMetrics {
		now := others[0]
		if len(others) > 1 {
			others = others[1:]
		}
		return engine.HostMetrics{CPU: now + 10, ProcessCPU: 20, Cores: 2}
	}
}

func TestOthers(t *testing.T) {
	unknown := func() engine.HostMetrics { return engine.HostMetrics{Cores: 2} }
	unseen := func() engine.HostMetrics { return engine.HostMetrics{} }
	for _, tt := range []struct {
		name   string
		policy Policy
		host   func() engine.HostMetrics
		want   float64
		busy   bool
		told   []float64
		took   time.Duration
	}{
		{"quiet", Refuse, hosts(0, 8), 8, false, nil, lookFor},
		{"busy", Refuse, hosts(0, 45), 45, true, nil, lookFor},
		{"anyway", Anyway, hosts(0, 45), 45, false, nil, lookFor},
		{"wait", Wait, hosts(0, 45, 30, 8, 50, 8, 9, 10), 10, false, []float64{45, 30, 8, 50, 8, 9}, lookFor + 6*lookNext},
		{"nothing to wait for", Wait, hosts(0, 8), 8, false, nil, lookFor},
		{"unknown", Refuse, unknown, 0, false, nil, unknowns * lookFor},
		{"a machine that cannot be measured", Refuse, unseen, 0, false, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []float64
				began := time.Now()
				got, err := tt.policy.Others(t.Context(), tt.host, func(cpu float64) { told = append(told, cpu) })
				if busy, ok := errors.AsType[*Busy](err); ok != tt.busy || ok && busy.Error() != "other programs use 45% of the CPU" {
					t.Errorf("the error is %v", err)
				}
				if got != tt.want || !slices.Equal(told, tt.told) || time.Since(began) != tt.took {
					t.Errorf("got %v, told %v, after %v", got, told, time.Since(began))
				}
			})
		})
	}
}

// TestTheWaitIsCanceled checks that a wait ends with its context.
func TestTheWaitIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, errors.New("enough"))
		defer cancel()
		if _, err := Wait.Others(ctx, hosts(45), func(float64) {}); err == nil || err.Error() != "enough" {
			t.Errorf("got %v", err)
		}
	})
}
