//go:build unix

package main

import "golang.org/x/sys/unix"

// enters returns a function that reports whether Enter was pressed since it was called last. It does not wait, so that
// what is typed later is left to the dashboard.
func (t *terminal) enters() func() bool {
	fd, ok := t.person()
	if !ok {
		return func() bool { return false }
	}
	line := make([]byte, 256)
	return func() bool {
		ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 0); err != nil || n == 0 {
			return false
		}
		n, err := unix.Read(fd, line)
		return err == nil && n > 0
	}
}
