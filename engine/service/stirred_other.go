//go:build !unix

package service

import "syscall"

const canLook = false

func stirred(syscall.RawConn) bool { return true }
