package engine_test

import (
	"syscall"
	"testing"
	"time"
	"os"
	"runtime/pprof"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

func cpu() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func TestZZ(t *testing.T) {
	const n, gate, wait = 100_000, 1000, 20 * time.Millisecond
	for range 3 {
		c := cpu()
		sleepers(gate, n, wait)
		t.Logf("bare %v per session", (cpu()-c)/n)
		cfg := enginetest.Config(n, programFunc(func(s *engine.Session) {
			up := s.Clock()
			timer := time.NewTimer(wait)
			defer timer.Stop()
			select {
			case <-timer.C:
				s.Row.Outcome = engine.OK
			case <-up.Context().Done():
			}
		}), nil)
		cfg.Settings.Limit = gate
		c = cpu()
		f, _ := os.Create("/tmp/zz.prof")
		pprof.StartCPUProfile(f)
		r, _ := engine.Start(t.Context(), cfg)
		r.Wait()
		pprof.StopCPUProfile()
		f.Close()
		t.Logf("ours %v per session", (cpu()-c)/n)
	}
}
