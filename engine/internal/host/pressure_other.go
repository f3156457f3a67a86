//go:build !darwin

package host

// pressed is never so: what is said to be available is.
func pressed() bool { return false }
