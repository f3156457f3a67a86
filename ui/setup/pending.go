package setup

import (
	"errors"
	"sync"
	"time"
)

// pending is a launch that waits for its time.
type pending struct {
	at    time.Time
	start func() // at once
}

// errCancelled is that a person cancelled the start.
var errCancelled = errors.New("its start was cancelled")

// now is the time of the day, which goes on while the machine sleeps.
func now() time.Time { return time.Now().Round(0) }

// wait shows that a launch waits, and returns what starts it sooner.
func (s *Screen) wait(at time.Time) <-chan struct{} {
	start := make(chan struct{})
	s.pending = &pending{at, sync.OnceFunc(func() { close(start) })}
	s.bar.cancel.Show()
	s.bar.wait(at.Sub(now()))
	return start
}

// noLonger shows that no launch waits any more.
func (s *Screen) noLonger() {
	s.pending = nil
	s.bar.cancel.Hide()
}

// cancelStart gives up a launch that waits.
func (s *Screen) cancelStart() {
	if s.pending == nil || s.giveUp == nil {
		return
	}
	s.giveUp(errCancelled)
	s.giveUp = nil
	s.noLonger()
}
