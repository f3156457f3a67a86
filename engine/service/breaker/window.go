package breaker

import "time"

// windowBuckets is the number of buckets in a window.
const windowBuckets = 10

// window counts the outcomes of the last breakWindow. Attempts count when they end, not when they began: one that times out began long
// ago. began must be set.
type window struct {
	began   time.Time
	newest  int64 // number of the newest bucket, counted from began
	buckets [windowBuckets]tally
}

type tally struct{ answered, failed int }

// add counts an outcome other than none.
func (w *window) add(now time.Time, o outcome) {
	w.advance(now)
	t := &w.buckets[w.newest%windowBuckets]
	if o == bad {
		t.failed++
	} else {
		t.answered++
	}
}

// totals returns the counts in the window.
func (w *window) totals(now time.Time) (answered, failed int) {
	w.advance(now)
	for _, t := range w.buckets {
		answered += t.answered
		failed += t.failed
	}
	return answered, failed
}

// advance empties the buckets that are too old.
func (w *window) advance(now time.Time) {
	current := int64(now.Sub(w.began) / (breakWindow / windowBuckets))
	for steps := min(current-w.newest, windowBuckets); steps > 0; steps-- {
		w.buckets[(current-steps+1)%windowBuckets] = tally{}
	}
	w.newest = max(w.newest, current)
}
