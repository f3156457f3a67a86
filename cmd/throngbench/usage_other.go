//go:build !unix

package main

import (
	"math"
	"os"
	"time"
)

// Peak memory and CPU time of a process are not measured on these systems.
func ownPeak() float64                { return math.NaN() }
func childPeak() float64              { return math.NaN() }
func peakOf(*os.ProcessState) float64 { return math.NaN() }
func ownTime() time.Duration          { return 0 }
func mostFiles() (n uint64, ok bool)  { return 0, false }
