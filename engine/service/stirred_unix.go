//go:build unix

package service

import (
	"errors"
	"syscall"
)

// canLook says that a connection can be asked whether it has stirred.
const canLook = true

// looker returns what looks at a connection that nobody reads from, as [syscall.RawConn] calls it: quiet becomes whether
// nothing came in, neither bytes nor its end.
func looker(quiet *bool) func(fd uintptr) bool {
	var b [1]byte
	return func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), b[:])
		*quiet = errors.Is(err, syscall.EAGAIN)
		return true
	}
}
