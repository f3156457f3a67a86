//go:build !unix

package main

import (
	"math"
	"os"
	"time"
)

// Here it is not measured what memory a process had at most, nor what time of the processor it took.
func ownPeak() float64                { return math.NaN() }
func childPeak() float64              { return math.NaN() }
func peakOf(*os.ProcessState) float64 { return math.NaN() }
func ownTime() time.Duration          { return 0 }
func mostFiles() (n uint64, ok bool)  { return 0, false }
