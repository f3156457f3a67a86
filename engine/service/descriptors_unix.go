//go:build unix

package service

import "syscall"

// descriptorLimit returns the limit of open files, or 0 if it is not known.
func descriptorLimit() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
