//go:build unix

package service

import "syscall"

// descriptorLimit is how many files the process may have open; 0 is not known.
func descriptorLimit() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return uint64(limit.Cur)
}
