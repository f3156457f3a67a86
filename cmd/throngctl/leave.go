package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/throng-sim/throng/cmd/internal/crash"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// leaveTime is how long the program takes at most to end once the system wants that: it kills those that take longer.
const leaveTime = 5 * time.Second

// emergencies are the signals with which the system ends programs, at log-out and shutdown; Ctrl+C is a person's and
// has time.
var emergencies = map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}

// heeded are the signals that end a run. A hang-up that was ignored when the program began, as under nohup, stays so.
func heeded() <-chan os.Signal {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals
}

// leave ends a run within leaveTime.
func (t *terminal) leave(run *run.Run, reason string) {
	fmt.Fprintf(t.err, "%s, stopping within %s: a checkpoint, then sessions in flight that end in time; the others run again on resume\n",
		reason, engine.FormatDuration(leaveTime))
	if t.exit != nil {
		time.AfterFunc(leaveTime-100*time.Millisecond, func() {
			t.screens.clear()
			fmt.Fprintf(t.err, "Out of time; finished work is stored as far as the disk allowed. Resume with: throngctl resume %s\n", run.ID())
			t.exit(exitInterrupted)
		}) // a disk or a server may be slow
	}
	if err := run.Leave(reason); err != nil && !errors.Is(err, engine.ErrEnded) {
		fmt.Fprintf(t.err, "stop: %v\n", err)
	}
}

// crashed prints where the crash report is and how to resume. It does not return.
func (t *terminal) crashed(box *crash.Box, run engine.RunID, value any, stack []byte) {
	t.screens.clear()
	path := box.Keep(value, stack, string(run))
	if path == "" { // then here
		fmt.Fprintf(t.err, "panic: %v\n\n%s\n", value, stack)
		path = "above"
	} else {
		path = "in " + path
	}
	fmt.Fprintf(t.err, "\nthrongctl: Throng crashed. Finished work is stored; resume with: throngctl resume %s\nReport saved to %s.\n", run, path)
	if t.exit != nil {
		t.exit(exitFailed)
	}
}

// guarded shows a run; a panic of that takes a checkpoint of the run before it ends the program.
func (t *terminal) guarded(box *crash.Box, run *run.Run, show func()) {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			ctx, cancel := context.WithTimeout(context.Background(), leaveTime/2)
			defer cancel()
			_ = run.Checkpoint(ctx, engine.PanicReason)
			t.crashed(box, run.ID(), p, stack)
		}
	}()
	show()
}
