//go:build linux || darwin

package machine

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadTime returns the CPU time so far of the calling thread.
func ThreadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
