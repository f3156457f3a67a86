//go:build !unix

package direct

import (
	"errors"
	"syscall"
)

const canLook = false

type immediate struct{ read func(fd uintptr) bool }

type arrival struct {
	check  func(fd uintptr) bool
	waited bool
}

func (*arrival) ready(uintptr) bool { return true }

func (*immediate) at(uintptr) bool { return true }

func (*immediate) from(syscall.RawConn, []byte) (int, error) { return 0, errors.ErrUnsupported }
