//go:build unix

package dash

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inFront reports whether the program is in the foreground of its terminal.
func inFront(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// background reports whether a read failed because the program is in the background.
func background(err error) bool { return errors.Is(err, syscall.EIO) }

// jobs returns a channel that receives each time a shell continues the program. In the background, reading from the terminal
// fails instead of suspending the program, so the run continues.
func jobs() (resumed chan os.Signal, stop func()) {
	resumed = make(chan os.Signal, 4)
	signal.Ignore(syscall.SIGTTIN)
	signal.Notify(resumed, syscall.SIGCONT)
	return resumed, func() {
		signal.Stop(resumed)
		signal.Reset(syscall.SIGTTIN)
	}
}

// suspend suspends the program and its job until the shell continues it. No handler may ever be registered for the signal:
// with one, Go would not suspend the program.
func suspend(resumed <-chan os.Signal) {
	if err := syscall.Kill(0, syscall.SIGTSTP); err == nil {
		select {
		case <-resumed:
		case <-time.After(time.Second): // without job control the system does not suspend it
		}
	}
}
