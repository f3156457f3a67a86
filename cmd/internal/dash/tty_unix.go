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

// inFront reports whether the program is the one that its terminal is for, and not in the background of it.
func inFront(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// background reports whether reading failed since the program is in the background.
func background(err error) bool { return errors.Is(err, syscall.EIO) }

// jobs delivers the signals by which a shell suspends a program and goes on with it. In the background, reading from the
// terminal fails instead of suspending the program, and the run goes on.
func jobs() (signals chan os.Signal, stop func()) {
	signals = make(chan os.Signal, 4)
	signal.Ignore(syscall.SIGTTIN)
	signal.Notify(signals, syscall.SIGTSTP, syscall.SIGCONT)
	return signals, func() {
		signal.Stop(signals)
		signal.Reset(syscall.SIGTTIN, syscall.SIGTSTP, syscall.SIGCONT)
	}
}

// suspend stops the program, with the others of its job, until the shell goes on with it.
func suspend(signals chan os.Signal) {
	signal.Stop(signals)
	signal.Reset(syscall.SIGTSTP)
	went := make(chan os.Signal, 1)
	signal.Notify(went, syscall.SIGCONT)
	if err := syscall.Kill(0, syscall.SIGTSTP); err == nil {
		select {
		case <-went:
		case <-time.After(time.Second): // nobody could go on with it, so the system did not stop it
		}
	}
	signal.Stop(went)
	signal.Notify(signals, syscall.SIGTSTP, syscall.SIGCONT)
}

// suspends reports whether a signal asks the program to stop for now.
func suspends(s os.Signal) bool { return s == syscall.SIGTSTP }
