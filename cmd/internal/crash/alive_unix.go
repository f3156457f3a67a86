//go:build unix

package crash

import (
	"errors"
	"syscall"
)

// alive reports whether a process with this ID exists.
func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
