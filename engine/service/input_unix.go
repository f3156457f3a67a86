//go:build unix

package service

import (
	"errors"
	"syscall"
)

// canLook says that connections can be checked for pending input.
const canLook = true

// inputCheck returns a function for [syscall.RawConn] that checks an idle connection: it sets quiet if there is no input, neither
// bytes nor the end.
func inputCheck(quiet *bool) func(fd uintptr) bool {
	var b [1]byte
	return func(fd uintptr) bool {
		_, err := syscall.Read(int(fd), b[:])
		*quiet = errors.Is(err, syscall.EAGAIN)
		return true
	}
}
