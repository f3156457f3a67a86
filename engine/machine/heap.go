package machine

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// leastGarbage is how many bytes of garbage may pile up in a process at work before it is collected. Go collects when the heap has
// doubled: with a few megabytes in use, as in most runs, many times a second.
const leastGarbage = 24 << 20

// usualPercent is the least growth of the heap, in percent, after which Go collects: its default.
const usualPercent = 100

var heap struct {
	mu    sync.Mutex
	users int
	round int // of tuning: an earlier one ends
}

// TuneHeap lets the process collect garbage less often while its heap is small, until release, which must be called once. It changes
// nothing if GOGC is set.
func TuneHeap() (release func()) {
	if os.Getenv("GOGC") != "" {
		return func() {}
	}
	heap.mu.Lock()
	defer heap.mu.Unlock()
	if heap.users++; heap.users == 1 {
		heap.round++
		tuneHeap(heap.round)
	}
	return func() {
		heap.mu.Lock()
		defer heap.mu.Unlock()
		if heap.users--; heap.users == 0 {
			heap.round++
			debug.SetGCPercent(usualPercent)
		}
	}
}

// tuneHeap sets the growth for what is in use after the last collection, and again after each one. The caller has the lock.
func tuneHeap(round int) {
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	debug.SetGCPercent(int(max(usualPercent, 100*leastGarbage/max(live[0].Value.Uint64(), 1<<20))))
	runtime.AddCleanup(new([16]byte), func(round int) { // after the next collection
		heap.mu.Lock()
		defer heap.mu.Unlock()
		if round == heap.round {
			tuneHeap(round)
		}
	}, round)
}
