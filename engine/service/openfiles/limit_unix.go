//go:build unix

package openfiles

import "syscall"

// limit returns the limit of open files, or 0 if it is not known.
func limit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur)
}
