//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// peak is the most memory that this process had resident (syscall.RUSAGE_SELF), or its children that ended, in MB (of
// 10⁶ bytes).
func peak(who int) float64 {
	var usage syscall.Rusage
	if syscall.Getrusage(who, &usage) != nil {
		return 0
	}
	unit := int64(1024)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(int64(usage.Maxrss)*unit) / 1e6
}

func ownPeak() float64   { return peak(syscall.RUSAGE_SELF) }
func childPeak() float64 { return peak(syscall.RUSAGE_CHILDREN) }
