//go:build !unix

package main

import (
	"os"
	"time"
)

// Here nothing tells what memory a process had at most, and what time it took: these figures are 0.
func ownPeak() float64                { return 0 }
func childPeak() float64              { return 0 }
func peakOf(*os.ProcessState) float64 { return 0 }
func ownTime() time.Duration          { return 0 }
func mostFiles() (n uint64, ok bool)  { return 0, false }
