//go:build unix

package direct

import (
	"errors"
	"syscall"
	"testing"
)

// awaitInput waits until a connection has input, and leaves it there.
func awaitInput(t *testing.T, l *link) {
	t.Helper()
	if err := l.socket.raw.Read(func(fd uintptr) bool {
		_, _, err := syscall.Recvfrom(int(fd), make([]byte, 1), syscall.MSG_PEEK)
		return !errors.Is(err, syscall.EAGAIN)
	}); err != nil {
		t.Fatal(err)
	}
}
