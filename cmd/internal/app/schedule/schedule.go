// Package schedule waits for the start time of a run or an experiment, visibly for other processes.
package schedule

import (
	"context"
	"time"

	"github.com/throng-sim/throng/cmd/internal/awake"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite/queue"
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
	// Queue, if set, has an entry while waiting. Wait updates Entry: its priority may be changed there, and it keeps its age.
	Queue *queue.Queue
	Entry *queue.Entry
}

// Wait returns at the start time, or the cause of ctx. It uses the time of day, which advances while the machine sleeps:
// late is the delay if the machine woke up after the start time. The error is [queue.ErrCanceled] if somebody canceled the entry.
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
	look, begin, leave, err := c.enter()
	if err != nil {
		return 0, err
	}
	defer leave()
	for {
		left := c.At.Sub(clock())
		if left <= 0 {
			return -left, begin()
		}
		if err := look(); err != nil {
			return 0, err
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
		if err := context.Cause(ctx); err != nil {
			return 0, err
		}
		return 0, begin()
	}
}

// enter enters the queue. look updates the entry, and begin ends the wait.
func (c Countdown) enter() (look, begin func() error, leave func(), err error) {
	if c.Queue == nil {
		nothing := func() error { return nil }
		return nothing, nothing, func() {}, nil
	}
	e := *c.Entry // which then has no start time: it may be started earlier
	e.Start = c.At.UTC()
	place, err := c.Queue.Enter(e)
	if err != nil {
		return nil, nil, nil, err
	}
	look = func() error {
		now, err := place.Entry()
		if err == nil {
			c.Entry.Priority, c.Entry.Since = now.Priority, now.Since
		}
		return err
	}
	begin = func() error {
		if err := look(); err != nil {
			return err
		}
		return place.Begin()
	}
	return look, begin, place.Leave, nil
}

// Text formats the remaining time in whole seconds.
func Text(left time.Duration) string {
	return engine.FormatDuration((left + time.Second - 1).Truncate(time.Second))
}
