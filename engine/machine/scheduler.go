package machine

import (
	"math"
	"runtime/metrics"
	"time"
)

// scheduler holds the runtime's own counters at one moment; they only grow.
type scheduler struct {
	collector float64 // CPU seconds for collecting garbage
	counts    []uint64
	buckets   []float64 // bounds of counts in seconds; one more than there are counts
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

// wait returns how long goroutines waited for a core since an earlier reading, at quantile q: the upper bound of its
// bucket, which is 12.5% wide; 0 if none waited.
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
