package run

import "time"

// timers holds the run's timers by name. A timer is nil until it is first set. The zero value is ready to use.
type timers [numTimers]*time.Timer

// set starts or restarts a timer.
func (t *timers) set(which timer, after time.Duration) {
	if t[which] == nil {
		t[which] = time.NewTimer(after)
	} else {
		t[which].Reset(after)
	}
}

// expiry returns the channel of a timer, or nil if the timer was never set.
func (t *timers) expiry(which timer) <-chan time.Time {
	if t[which] == nil {
		return nil
	}
	return t[which].C
}

// stop stops all timers.
func (t *timers) stop() {
	for _, one := range t {
		if one != nil {
			one.Stop()
		}
	}
}
