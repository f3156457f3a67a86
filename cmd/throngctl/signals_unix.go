//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"
)

// byHand returns a channel of requests for a checkpoint: kill -USR1.
func byHand() <-chan os.Signal {
	requests := make(chan os.Signal, 1)
	signal.Notify(requests, syscall.SIGUSR1)
	return requests
}

// enters returns a function that reports whether Enter was pressed since the last call. It reads only input that is
// waiting, so that later input reaches the dashboard.
func enters(t *terminal) func() bool {
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
