package desk

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui"
)

// leaveTime is the maximum time for ending the program when the system asks for it. At log-out, the system kills programs that take longer.
const leaveTime = 5 * time.Second

// ending ends the program when the system asks for it. It does not wait for the window, which may be busy.
type ending struct {
	app fyne.App

	mu   sync.Mutex
	desk *Desk // nil until the store is open
	once sync.Once
}

// listen ends the program at the system's signals.
func (e *ending) listen() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGHUP)
	reason := "SIGTERM"
	if <-signals == syscall.SIGHUP {
		reason = "SIGHUP"
	}
	e.hurry()
	e.mu.Lock()
	d := e.desk
	e.mu.Unlock()
	if d != nil {
		d.leave(reason)
	}
	ui.Quit(e.app)
}

// of sets the desk to close.
func (e *ending) of(d *Desk) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.desk = d
}

// hurry ends the program after leaveTime in any case. Committed data is safe.
func (e *ending) hurry() {
	e.once.Do(func() {
		time.AfterFunc(leaveTime, func() {
			slog.Error("the program did not end in time; you can resume the run")
			os.Exit(1)
		})
	})
}

// guarded shows the window. If it panics, guarded takes a checkpoint of the run in progress, and then ends the program.
func (d *Desk) guarded(toolkit fyne.App, show func()) {
	stopped := ui.WithoutStopEvent(toolkit)
	defer func() {
		if p := recover(); p != nil {
			value, stack := ui.Panicked(p, debug.Stack())
			run := engine.RunID("")
			if job := d.current(); job != nil {
				run = job.Run.ID()
				ctx, cancel := context.WithTimeout(context.Background(), leaveTime/2)
				defer cancel()
				_ = job.Run.Checkpoint(ctx, engine.PanicReason)
			}
			d.crashed(run, value, stack)
		}
	}()
	show()
	stopped()
}

// crashed prints where the crash report is and ends the program, because the state of the run and the window is unknown.
func (d *Desk) crashed(run engine.RunID, value any, stack []byte) {
	where := "Report saved to " + d.box.Keep(value, stack, string(run))
	if where == "Report saved to " {
		where = fmt.Sprintf("panic: %v\n\n%s", value, stack)
	}
	kept := "No run was in progress."
	if run != "" {
		kept = fmt.Sprintf("The data of run %s is safe; the next start offers to resume it.", run)
	}
	fmt.Fprintf(os.Stderr, "Throng crashed. %s\n%s\n", kept, where)
	d.exit(1)
}
