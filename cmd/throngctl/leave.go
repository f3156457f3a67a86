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

// leaveTime is how long the program may take to end when the system asks it to. The system kills slower programs.
const leaveTime = 5 * time.Second

// emergencies are the signals that the system sends at logout and shutdown. Ctrl+C comes from the user and has no time
// limit.
var emergencies = map[os.Signal]string{syscall.SIGTERM: "SIGTERM", syscall.SIGHUP: "SIGHUP"}

// heeded returns the signals that end a run. A hang-up signal that was ignored at the start, as with nohup, stays ignored.
func heeded() <-chan os.Signal {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	return signals
}

// leave ends a run within leaveTime.
func leave(t *terminal, run *run.Run, reason string) {
	fmt.Fprintf(t.err, "%s, stopping within %s: a checkpoint, then sessions in flight that end in time; the others run again on resume\n",
		reason, engine.FormatDuration(leaveTime))
	if t.exit != nil {
		time.AfterFunc(leaveTime-100*time.Millisecond, func() {
			t.screens.clear()
			fmt.Fprintf(t.err, "Out of time; finished work is stored as far as the disk allowed. Resume with: throngctl resume %s\n", run.ID())
			t.exit(exitInterrupted)
		}) // the disk or a server may be slow
	}
	if err := run.Shutdown(reason); err != nil && !errors.Is(err, engine.ErrEnded) {
		fmt.Fprintf(t.err, "stop: %v\n", err)
	}
}

// crashed prints the path of the crash report and how to resume. It does not return.
func crashed(t *terminal, box *crash.Box, run engine.RunID, value any, stack []byte) {
	t.screens.clear()
	path := box.Keep(value, stack, string(run))
	if path == "" { // print it instead
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

// guarded calls show. If show panics, guarded takes a checkpoint of the run and ends the program.
func guarded(t *terminal, box *crash.Box, run *run.Run, show func()) {
	defer func() {
		if p := recover(); p != nil {
			stack := debug.Stack()
			ctx, cancel := context.WithTimeout(context.Background(), leaveTime/2)
			defer cancel()
			_ = run.Checkpoint(ctx, engine.PanicReason)
			crashed(t, box, run.ID(), p, stack)
		}
	}()
	show()
}
