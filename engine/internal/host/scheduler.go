package host

import (
	"math"
	"runtime/metrics"
	"time"
)

// scheduler is what the runtime says of itself at one moment: counters grow for ever.
type scheduler struct {
	collector float64 // CPU seconds for collecting garbage
	counts    []uint64
	buckets   []float64 // seconds: the bounds of counts, one more than these
}

func readScheduler() scheduler {
	samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/sched/latencies:seconds"}}
	metrics.Read(samples)
	var s scheduler
	if v := samples[0].Value; v.Kind() == metrics.KindFloat64 {
		s.collector = v.Float64()
	}
	if v := samples[1].Value; v.Kind() == metrics.KindFloat64Histogram {
		h := v.Float64Histogram()
		s.counts, s.buckets = h.Counts, h.Buckets
	}
	return s
}

// wait is for how long goroutines waited for a core since an earlier reading, at a quantile: the upper bound of its
// bucket, which is 12.5 % wide; 0 where none waited.
func (s *scheduler) wait(was *scheduler, q float64) time.Duration {
	if len(s.counts) == 0 || len(s.counts) != len(was.counts) {
		return 0
	}
	var all uint64
	for i := range s.counts {
		all += s.counts[i] - was.counts[i]
	}
	rank := uint64(math.Ceil(q * float64(all)))
	var seen uint64
	for i := range s.counts {
		seen += s.counts[i] - was.counts[i]
		if all == 0 || seen < rank {
			continue
		}
		bound := s.buckets[i+1]
		if math.IsInf(bound, 1) {
			bound = s.buckets[i]
		}
		return time.Duration(bound * float64(time.Second))
	}
	return 0
}
