package engine

import (
	"time"
)

// SpreadBounds are the upper bounds of the buckets of a [Spread].
var SpreadBounds = [...]time.Duration{
	time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond,
	250 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second, 25 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute,
}

// Spread counts durations by length, with the 1% error of a histogram's buckets.
type Spread struct {
	UpTo  [len(SpreadBounds)]int64 // number of durations up to each bound
	Count int64
	Sum   time.Duration
}
