//go:build unix

package direct

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// canLook says that connections can be checked for pending input.
const canLook = true

// immediate reads from a socket what has arrived.
type immediate struct {
	read func(fd uintptr) bool // at, which is not allocated for each read
	p    []byte
	n    int
	err  error
}

func (i *immediate) at(fd uintptr) bool {
	i.n, i.err = syscall.Read(int(fd), i.p)
	return true
}

// arrival looks for input, and leaves it where it is.
type arrival struct {
	check  func(fd uintptr) bool // ready, which is not allocated for each look
	waited bool
	p      [1]byte
}

// ready reports whether reading would not have to wait. When it is called again, the runtime has waited.
func (a *arrival) ready(fd uintptr) bool {
	if a.waited {
		return true
	}
	a.waited = true
	_, _, err := syscall.Recvfrom(int(fd), a.p[:], syscall.MSG_PEEK)
	return !errors.Is(err, syscall.EAGAIN)
}

// from reads from a socket without waiting. If nothing has arrived, its error is [os.ErrDeadlineExceeded].
func (i *immediate) from(raw syscall.RawConn, p []byte) (int, error) {
	i.p = p
	err := raw.Read(i.read)
	i.p = nil
	switch {
	case err != nil:
		return 0, err
	case errors.Is(i.err, syscall.EAGAIN):
		return 0, os.ErrDeadlineExceeded
	case i.err != nil:
		return 0, i.err
	case i.n == 0:
		return 0, io.EOF
	}
	return i.n, nil
}
