//go:build !unix

package main

// enters reports nothing: here a terminal cannot be asked without waiting.
func (t *terminal) enters() func() bool { return func() bool { return false } }
