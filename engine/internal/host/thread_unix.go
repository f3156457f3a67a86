//go:build linux || darwin

package host

import (
	"time"

	"golang.org/x/sys/unix"
)

// ThreadTime is the CPU time so far of the thread that it is called on.
func ThreadTime() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
