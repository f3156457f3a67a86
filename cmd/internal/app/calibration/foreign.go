package calibration

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
)

// Policy is what to do if other programs use the machine before a calibration.
type Policy uint8

// The policies.
const (
	Refuse Policy = iota // return a *Busy error
	Wait                 // until they use little CPU
	Anyway               // measure; the result is not recommended
)

// Busy is the error of a calibration that did not start because other programs use the machine.
type Busy struct{ CPU float64 } // percentage of the machine's CPU

func (b *Busy) Error() string { return calibrate.ForeignLoad(b.CPU) }

// Durations of looking at the machine.
const (
	lookFor  = 2 * time.Second // before a calibration
	lookNext = time.Second     // while waiting
	calmFor  = 3               // readings in a row that end the wait
	unknowns = 3               // readings without figures in a row after which the load counts as unknown
)

// Others returns the percentage of the machine's CPU that other programs use, or 0 if it is unknown. If they use too much, the policy
// decides. waiting is called with each reading during a wait.
func (p Policy) Others(ctx context.Context, host func() engine.HostMetrics, waiting func(cpu float64)) (float64, error) {
	if host().Cores == 0 { // otherwise, rates count from here
		return 0, nil
	}
	others, err := look(ctx, host, lookFor)
	if err != nil || others < calibrate.MaxForeign || p == Anyway {
		return others, err
	}
	if p == Refuse {
		return others, &Busy{others}
	}
	for calm := 0; calm < calmFor; {
		waiting(others)
		if others, err = look(ctx, host, lookNext); err != nil {
			return others, err
		}
		if calm++; others > calibrate.CalmForeign {
			calm = 0
		}
	}
	return others, nil
}

// look returns the load of other programs during a time. A machine that takes long to answer answers the next time.
func look(ctx context.Context, host func() engine.HostMetrics, during time.Duration) (float64, error) {
	for range unknowns {
		timer := time.NewTimer(during)
		select {
		case <-ctx.Done():
			timer.Stop()
			return 0, context.Cause(ctx)
		case <-timer.C:
		}
		if h := host(); h.CPU > 0 {
			return max(h.CPU-h.ProcessCPU/float64(h.Cores), 0), nil
		}
	}
	return 0, nil
}

// Waiting describes a wait for other programs.
func Waiting(cpu float64) string { return fmt.Sprintf("waiting: %s", calibrate.ForeignLoad(cpu)) }
