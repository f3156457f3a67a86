//go:build !linux && !darwin && !windows

package awake

// hold knows no way here.
func hold(string) (func(), string, error) { return nil, "", ErrNone }
