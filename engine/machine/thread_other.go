//go:build !linux && !darwin

package machine

import "time"

// ThreadTime returns 0: this system does not report the CPU time of a thread.
func ThreadTime() time.Duration { return 0 }
