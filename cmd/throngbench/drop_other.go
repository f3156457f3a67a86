//go:build !linux

package main

import "os"

// drop does nothing: the window is not driven here.
func drop(*os.File) error { return nil }
