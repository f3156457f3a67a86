//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// peak is the most memory that was resident, in MB (of 10⁶ bytes).
func peak(usage *syscall.Rusage) float64 {
	unit := int64(1024)
	if runtime.GOOS == "darwin" {
		unit = 1
	}
	return float64(int64(usage.Maxrss)*unit) / 1e6
}

func usage(who int) *syscall.Rusage {
	var u syscall.Rusage
	if syscall.Getrusage(who, &u) != nil {
		return &syscall.Rusage{}
	}
	return &u
}

// ownPeak is the most memory that this process had resident, in MB.
func ownPeak() float64 { return peak(usage(syscall.RUSAGE_SELF)) }

// childPeak is the most memory that one of its children that ended had, in MB.
func childPeak() float64 { return peak(usage(syscall.RUSAGE_CHILDREN)) }

// peakOf is the most memory that a process had that has ended, in MB.
func peakOf(p *os.ProcessState) float64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return peak(u)
}

// ownTime is the processor's time that this process has taken.
func ownTime() time.Duration {
	u := usage(syscall.RUSAGE_SELF)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mostFiles is how many files this process may have open if it asks for them.
func mostFiles() (uint64, bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return limit.Max, err == nil
}
