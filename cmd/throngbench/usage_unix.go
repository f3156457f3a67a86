//go:build unix

package main

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// peak is the maximum resident memory, in MB (10⁶ bytes).
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

// ownPeak returns the maximum resident memory of this process, in MB.
func ownPeak() float64 { return peak(usage(syscall.RUSAGE_SELF)) }

// childPeak returns the maximum resident memory of an ended child process, in MB.
func childPeak() float64 { return peak(usage(syscall.RUSAGE_CHILDREN)) }

// peakOf returns the maximum resident memory of an ended process, in MB.
func peakOf(p *os.ProcessState) float64 {
	u, ok := p.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return peak(u)
}

// ownTime returns the CPU time of this process.
func ownTime() time.Duration {
	u := usage(syscall.RUSAGE_SELF)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// mostFiles returns the maximum number of open files that this process may request.
func mostFiles() (uint64, bool) {
	var limit syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	return limit.Max, err == nil
}
