package service

import (
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/openfiles"
)

// TestNoDescriptorIsNotTheServicesFailure checks that if the process cannot open more files, a request waits with its
// clock paused, uses no attempt and opens no breaker, and that one warning says what to do.
func TestNoDescriptorIsNotTheServicesFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := reply{err: &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}}
		answers := make([]reply, 0, 41)
		for range 40 {
			answers = append(answers, full)
		}
		h := client(t, &script{answers: append(answers, ok200("made"))}, Limits{})
		row := stage{}.play(t, func(s *engine.Session) {
			c := callOf(s, "step")
			c.Retry.Attempts = 1
			_, err := h.Do(c, Request{Method: "POST", Target: must(t, "/orders")})
			end(s, c, err)
		})
		step := row.Steps[0]
		if row.Outcome != engine.OK || step.Attempts != 1 || step.Label != engine.Fresh || step.Waits[engine.ThrottledByFiles] != 40*openfiles.Pause {
			t.Errorf("%v after %d attempts, %v, having waited %v: %s", row.Outcome, step.Attempts, step.Label, step.Waits, row.Error)
		}
		if s := h.State(time.Now()); s.Breaker != engine.BreakerClosed {
			t.Errorf("the breaker is %v", s.Breaker)
		}
		moves := h.Moves()
		if len(moves) != 1 || !strings.Contains(moves[0].Why, "too many open files") || !strings.Contains(moves[0].Why, "ulimit -n") || len(h.Moves()) > 0 {
			t.Errorf("moves %+v", moves)
		}
	})
}
