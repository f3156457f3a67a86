//go:build !unix

package main

import "os"

// byHand is nothing where there is no such signal.
func byHand() <-chan os.Signal { return nil }
