// Package startat has the flags for when a run or an experiment starts, and waits for it.
package startat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/schedule"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite/queue"
)

// Flags say when a run or an experiment starts.
type Flags struct {
	At       string `placeholder:"TIME" help:"Start at this time, such as 22:00, '2030-03-01 22:00' or +90m. Ctrl+C cancels, Enter starts now."`
	Priority int    `placeholder:"N" help:"Priority in the queue, if something else is in progress: higher ones start first (default: 0)."`
}

// Time returns when to start; zero means now.
func (f *Flags) Time(now time.Time) (time.Time, error) {
	if f.At == "" {
		return time.Time{}, nil
	}
	return view.StartTime(f.At, now)
}

// Wait is a wait for a start time. The store is not open meanwhile, but others see the wait in its queue.
type Wait struct {
	Data    string
	Err     io.Writer
	Lines   io.Writer        // receives JSON; nil without
	Signals <-chan os.Signal // requests to cancel
	ByHand  <-chan os.Signal // requests to start now
	Enter   func() bool      // reports whether the user pressed Enter
	Awake   string           // why the machine is kept awake; "" does not
}

var (
	// ErrCanceled says that the user canceled the start.
	ErrCanceled = errors.New("canceled before it started")

	errStart = errors.New("start now")
)

// overslept is the delay of a start from which it is reported.
const overslept = 5 * time.Second

// Until waits until a time, or until the user asks for the start. It updates the entry, which the run then has in the queue.
func (w Wait) Until(ctx context.Context, at time.Time, entry *queue.Entry) error {
	if at.IsZero() {
		return nil
	}
	if w.Lines != nil {
		if err := answer.PrintLine(w.Lines, answer.Waiting{Event: answer.WaitingEvent, At: at.UTC()}); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start, done := make(chan struct{}), make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-w.Signals:
			cancel(ErrCanceled)
		case <-w.ByHand:
			close(start)
		case <-done:
		}
	}()
	p, said := show.NewProgress(w.Err, false), false
	late, err := schedule.Countdown{At: at, Start: start, Awake: w.Awake, Queue: queue.Of(w.Data, slog.Default()), Entry: entry, Show: func(left time.Duration) {
		if !said { // the entry is in the queue
			said = true
			fmt.Fprintf(w.Err, "Starts at %s. Ctrl+C cancels; %s.\n", at.Format("2006-01-02 15:04:05"), startEarlier())
		}
		if p.Moving {
			p.Say(time.Now(), "starts in "+schedule.Text(left), false)
		}
		if w.Enter() {
			cancel(errStart)
		}
	}}.Wait(ctx)
	p.End()
	switch {
	case errors.Is(err, errStart):
		return nil
	case errors.Is(err, ErrCanceled):
		fmt.Fprintln(w.Err, "Canceled: nothing was started.")
	case err == nil && late > overslept:
		fmt.Fprintf(w.Err, "Started %s late: the machine or this program was suspended.\n", schedule.Text(late))
	}
	return err
}

// Queued says that a run or an experiment of this process waits for another one, and under which ID in the queue.
func (w Wait) Queued(holder string) {
	line, where := answer.Waiting{Event: answer.WaitingEvent, For: holder}, ""
	all, _ := queue.Of(w.Data, slog.Default()).List() // without it, the ID is missing
	for _, e := range all {
		if e.Process == os.Getpid() {
			line.Queue, line.Run, where = e.ID, string(e.Run), " in the queue as "+e.ID
		}
	}
	fmt.Fprintf(w.Err, "%s; waiting for it%s (Ctrl+C cancels)\n", holder, where)
	if w.Lines != nil {
		_ = answer.PrintLine(w.Lines, line) // the output may be closed
	}
}

// startEarlier describes how to start a waiting run now.
func startEarlier() string {
	if runtime.GOOS == "windows" {
		return "it cannot be started earlier"
	}
	return fmt.Sprintf("press Enter or send SIGUSR1 to %d to start now", os.Getpid())
}
