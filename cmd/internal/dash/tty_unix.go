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

// jobs tells each time that a shell goes on with the program. In the background, reading from the terminal fails instead
// of suspending the program, and the run goes on.
func jobs() (wentOn chan os.Signal, stop func()) {
	wentOn = make(chan os.Signal, 4)
	signal.Ignore(syscall.SIGTTIN)
	signal.Notify(wentOn, syscall.SIGCONT)
	return wentOn, func() {
		signal.Stop(wentOn)
		signal.Reset(syscall.SIGTTIN)
	}
}

// suspend stops the program, with the others of its job, until the shell goes on with it. The signal must never have been
// asked for: Go would not let it stop the program any more.
func suspend(wentOn <-chan os.Signal) {
	if err := syscall.Kill(0, syscall.SIGTSTP); err == nil {
		select {
		case <-wentOn:
		case <-time.After(time.Second): // nobody could go on with it, so the system did not stop it
		}
	}
}
