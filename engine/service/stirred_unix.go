//go:build unix

package service

import (
	"errors"
	"syscall"
)

// canLook says that a connection can be asked whether it has stirred.
const canLook = true

// stirred reports whether something came in on a connection that nobody reads from: its end, or bytes.
func stirred(conn syscall.RawConn) bool {
	quiet := false
	err := conn.Read(func(fd uintptr) bool {
		var b [1]byte
		_, err := syscall.Read(int(fd), b[:])
		quiet = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err != nil || !quiet
}
