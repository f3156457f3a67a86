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

// leaveTime is how long the program takes at most to end once it is told to: at log-out the system kills those that take
// longer.
const leaveTime = 5 * time.Second

// ending is the way out when the system wants the program to end. The window may be busy then, so what counts does not
// wait for it.
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

// of is what has to be brought to an end.
func (e *ending) of(d *Desk) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.desk = d
}

// hurry ends the program in any case once its time is over. What was committed is there.
func (e *ending) hurry() {
	e.once.Do(func() {
		time.AfterFunc(leaveTime, func() {
			slog.Error("the program did not end in time; what was kept can be resumed")
			os.Exit(1)
		})
	})
}

// leave has the run in progress end within seconds.
func (d *Desk) leave(reason string) {
	d.mu.Lock()
	job := d.job
	d.mu.Unlock()
	if job != nil {
		_ = job.Run.Leave(reason) // that it has ended is no trouble
	}
}

// guarded shows the window. A panic of it takes a checkpoint of the run in progress, and then ends the program.
func (d *Desk) guarded(show func()) {
	defer func() {
		if p := recover(); p != nil {
			if d.blind != nil && d.blind(p) {
				fmt.Fprintln(os.Stderr, "There is no screen to show the window on. Start Throng from a desktop, or use throngctl, which needs none.")
				_ = d.box.Close() // nothing crashed
				d.exit(1)
				return
			}
			value, stack := ui.Panicked(p, debug.Stack())
			d.mu.Lock()
			job := d.job
			d.mu.Unlock()
			run := engine.RunID("")
			if job != nil {
				run = job.Run.ID()
				ctx, cancel := context.WithTimeout(context.Background(), leaveTime/2)
				defer cancel()
				_ = job.Run.Checkpoint(ctx, engine.PanicReason)
			}
			d.crashed(run, value, stack)
		}
	}()
	show()
}

// crashed says where the text of a panic is and ends the program: neither the run nor the window can be trusted.
func (d *Desk) crashed(run engine.RunID, value any, stack []byte) {
	where := "The text is in " + d.box.Keep(value, stack, string(run))
	if where == "The text is in " {
		where = fmt.Sprintf("panic: %v\n\n%s", value, stack)
	}
	kept := "Nothing was in progress."
	if run != "" {
		kept = fmt.Sprintf("What run %s did is kept; the next start offers to go on.", run)
	}
	fmt.Fprintf(os.Stderr, "A mistake in Throng itself ended the program. %s\n%s\n", kept, where)
	d.exit(1)
}
