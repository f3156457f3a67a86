package app

import (
	"context"
	"time"

	"github.com/throng-sim/throng/cmd/internal/awake"
	"github.com/throng-sim/throng/engine"
)

// Countdown waits for the start of a run. It locks nothing, so other runs can start meanwhile.
type Countdown struct {
	At time.Time
	// Start, if set, ends the wait immediately.
	Start <-chan struct{}
	// Show, if set, receives the remaining time every second.
	Show func(left time.Duration)
	// Awake, if set, is the reason to keep the machine awake while waiting.
	Awake string
	// Clock returns the time of day; nil is this machine's clock.
	Clock func() time.Time
}

// Wait returns at the start time, or the cause of ctx. It uses the time of day, which advances while the machine sleeps:
// late is the delay if the machine woke up after the start time.
func (c Countdown) Wait(ctx context.Context) (late time.Duration, err error) {
	if c.Awake != "" {
		if release, _, err := awake.Hold(c.Awake); err == nil {
			defer release()
		}
	}
	clock := c.Clock
	if clock == nil {
		clock = func() time.Time { return time.Now().Round(0) }
	}
	for {
		left := c.At.Sub(clock())
		if left <= 0 {
			return -left, nil
		}
		if c.Show != nil {
			c.Show(left)
		}
		due := time.NewTimer(min(left, time.Second))
		select {
		case <-ctx.Done():
		case <-c.Start:
		case <-due.C:
			continue
		}
		due.Stop()
		return 0, context.Cause(ctx)
	}
}

// WaitFor waits for the start time of a launch. It keeps the machine awake if the run would.
func (l Launch) WaitFor(ctx context.Context, at time.Time, start <-chan struct{}) error {
	c := Countdown{At: at, Start: start}
	if l.Settings.KeepAwake {
		c.Awake = l.Scenario.Title + " starts at " + at.Format(time.TimeOnly)
	}
	_, err := c.Wait(ctx)
	return err
}

// CountdownText formats the remaining time in whole seconds.
func CountdownText(left time.Duration) string {
	return engine.FormatDuration((left + time.Second - 1).Truncate(time.Second))
}
