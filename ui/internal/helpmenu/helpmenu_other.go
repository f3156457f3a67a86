//go:build !darwin

package helpmenu

// Set does nothing on this system.
func Set(string) {}
