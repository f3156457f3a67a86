package machine_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/throng-sim/throng/engine/machine"
)

// growth returns after which growth of the heap, in percent, garbage is collected.
func growth() int {
	percent := debug.SetGCPercent(100)
	debug.SetGCPercent(percent)
	return percent
}

// TestTunedHeap tunes the heap twice: it may grow more while it is small, not while it is large, and as usual after the second release.
func TestTunedHeap(t *testing.T) {
	first, second := machine.TuneHeap(), machine.TuneHeap()
	first()
	small := growth()
	if small <= 100 {
		t.Errorf("a small heap may grow by %d%%", small)
	}
	large := make([]byte, 100<<20)
	for growth() != 100 { // the growth is set some time after a collection
		runtime.GC()
	}
	runtime.KeepAlive(large)
	for growth() <= 100 {
		runtime.GC()
	}
	second()
	if usual := growth(); usual != 100 {
		t.Errorf("after its use, it may grow by %d%%", usual)
	}
}
