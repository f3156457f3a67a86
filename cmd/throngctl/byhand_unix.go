//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// byHand delivers what asks for a checkpoint: kill -USR1.
func byHand() <-chan os.Signal {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	return asked
}
