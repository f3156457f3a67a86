package setup

import (
	"errors"
	"sync"
	"time"
)

// pending is a launch that is scheduled for a later time.
type pending struct {
	at    time.Time
	start func() // starts it now
}

// errCanceled says that the user canceled the start.
var errCanceled = errors.New("start canceled")

// now returns the time of the wall clock, which advances while the machine sleeps.
func now() time.Time { return time.Now().Round(0) }

// wait shows the scheduled launch. It returns a channel that starts it early.
func (s *Screen) wait(at time.Time) <-chan struct{} {
	start := make(chan struct{})
	s.pending = &pending{at, sync.OnceFunc(func() { close(start) })}
	s.bar.wait(at.Sub(now()))
	return start
}

// Waiting reports whether a launch waits for its start time, for its turn or for a worker.
func (s *Screen) Waiting() bool { return s.pending != nil || s.queued.Load() || s.awaiting.Load() }

// noLonger hides the scheduled launch, which starts or is canceled.
func (s *Screen) noLonger() {
	s.pending = nil
	s.bar.work(s.launching)
}
