//go:build !linux && !darwin && !windows

package awake

// hold returns ErrNone: these systems have no mechanism.
func hold(string) (func(), string, error) { return nil, "", ErrNone }
