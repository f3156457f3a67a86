//go:build !unix

package main

// The memory that a process had at most is not measured here.
func ownPeak() float64   { return 0 }
func childPeak() float64 { return 0 }
