package pace

import "time"

// Rate is a moving average of sessions per second.
type Rate struct {
	at     [61]time.Time // of ticks, one per second
	counts [61]int64
	i      int
	now    int64
}

const (
	sample      = time.Second      // the interval of ticks
	rateOver    = 8 * time.Second  // the average covers at least this time
	rateLongest = 30 * time.Second // longest planned cycle; the average covers whole cycles
)

// Add counts sessions that ended.
func (r *Rate) Add(n int64) { r.now += n }

// Tick closes a second.
func (r *Rate) Tick(at time.Time) {
	r.at[r.i], r.counts[r.i] = at, r.now
	r.i = (r.i + 1) % len(r.at)
}

// Shift moves the recorded ticks later by d.
func (r *Rate) Shift(d time.Duration) {
	for i := range r.at {
		if !r.at[i].IsZero() {
			r.at[i] = r.at[i].Add(d)
		}
	}
}

// PerSecond returns the mean of the last seconds. If a planned cycle takes the time each, the mean covers whole cycles: their sessions
// run in bursts, and a span of two and a half bursts would make it jump.
func (r *Rate) PerSecond(at time.Time, each time.Duration) float64 {
	over := rateOver
	if each > 0 && each <= rateLongest {
		over = (rateOver + each - 1) / each * each
	}
	newest := (r.i + len(r.at) - 1) % len(r.at)
	end, count := r.at[newest], r.counts[newest]
	from := newest
	for k := 1; k < len(r.at); k++ {
		i := (newest + len(r.at) - k) % len(r.at)
		if r.at[i].IsZero() || end.Sub(r.at[i]) > over+sample/2 {
			break
		}
		from = i
	}
	if end.Sub(r.at[from]) < over-sample/2 { // in the first seconds
		end, count = at, r.now
	}
	span := end.Sub(r.at[from]).Seconds()
	if r.at[from].IsZero() || span <= 0 {
		return 0
	}
	return float64(count-r.counts[from]) / span
}
