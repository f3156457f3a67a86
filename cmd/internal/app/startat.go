package app

import (
	"context"
	"time"

	"github.com/throng-sim/throng/cmd/internal/awake"
)

// Countdown waits for the start of a run. It holds nothing that keeps others from running meanwhile.
type Countdown struct {
	At time.Time
	// Start, if set, starts at once.
	Start <-chan struct{}
	// Show, if set, is told every second how long it still takes.
	Show func(left time.Duration)
	// Awake, if set, says why the machine is kept from falling asleep meanwhile.
	Awake string
	// Clock is the time of the day; nil is that of this machine.
	Clock func() time.Time
}

// Wait returns when it is time, or the cause of ctx. It goes by the time of the day, which goes on while the machine
// sleeps: late is by how much it woke up too late.
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

// WaitFor waits for the time of a launch, and keeps the machine awake meanwhile if its run would.
func (l Launch) WaitFor(ctx context.Context, at time.Time, start <-chan struct{}) error {
	c := Countdown{At: at, Start: start}
	if l.Settings.KeepAwake {
		c.Awake = l.Scenario.Title + " starts at " + at.Format(time.TimeOnly)
	}
	_, err := c.Wait(ctx)
	return err
}

// Left writes how long a countdown still takes, in whole seconds.
func Left(left time.Duration) string { return (left + time.Second - 1).Truncate(time.Second).String() }
