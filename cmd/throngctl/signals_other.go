//go:build !unix

package main

import "os"

// byHand returns nil: these systems have no signal to ask for a checkpoint.
func byHand() <-chan os.Signal { return nil }

// enters returns a function that reports false: on these systems a terminal cannot be read without waiting.
func enters(*terminal) func() bool { return func() bool { return false } }
