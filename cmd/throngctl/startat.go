package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/throngctl/internal/answer"
	"github.com/throng-sim/throng/cmd/throngctl/internal/show"
	"github.com/throng-sim/throng/engine/view"
)

// startFlag delays the start of a run.
type startFlag struct {
	At string `placeholder:"TIME" help:"Start at this time, such as 22:00, '2030-03-01 22:00' or +90m. Ctrl+C cancels, Enter starts now."`
}

// startTime returns when to start the run; zero means now.
func (f *startFlag) startTime(now time.Time) (time.Time, error) {
	if f.At == "" {
		return time.Time{}, nil
	}
	return view.StartTime(f.At, now)
}

// overslept is the delay of a start from which it is reported.
const overslept = 5 * time.Second

var errCanceled = errors.New("canceled before it started")

// waitFor waits until the start time, until the user asks for the start, or until a signal cancels it. The store is not open
// meanwhile. programs receives JSON.
func (f *startFlag) waitFor(ctx context.Context, t *terminal, programs *terminal, at time.Time, keepAwake bool) error {
	if at.IsZero() {
		return nil
	}
	if t.json {
		if err := programs.line(answer.Waiting{Event: answer.WaitingEvent, At: at.UTC()}); err != nil {
			return err
		}
	}
	why := ""
	if keepAwake {
		why = "a run starts at " + at.Format(time.TimeOnly)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	start, done := make(chan struct{}), make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-t.signals:
			cancel(errCanceled)
		case <-t.byHand:
			close(start)
		case <-done:
		}
	}()
	fmt.Fprintf(t.err, "Starts at %s. Ctrl+C cancels; %s.\n", at.Format("2006-01-02 15:04:05"), startEarlier())
	p := show.NewProgress(t.err, false)
	typed := enters(t)
	late, err := app.Countdown{At: at, Start: start, Awake: why, Show: func(left time.Duration) {
		if p.Moving {
			p.Say(time.Now(), "starts in "+app.CountdownText(left), false)
		}
		if typed() {
			cancel(errStart)
		}
	}}.Wait(ctx)
	p.End()
	switch {
	case errors.Is(err, errStart):
		return nil
	case errors.Is(err, errCanceled):
		fmt.Fprintln(t.err, "Canceled: nothing was started.")
		return exitError(exitInterrupted)
	case err != nil:
		return err
	case late > overslept:
		fmt.Fprintf(t.err, "Started %s late: the machine or this program was suspended.\n", app.CountdownText(late))
	}
	return nil
}

// errStart means that Enter was pressed.
var errStart = errors.New("start now")

// startEarlier describes how to start a waiting run now.
func startEarlier() string {
	if runtime.GOOS == "windows" {
		return "it cannot be started earlier"
	}
	return fmt.Sprintf("press Enter or send SIGUSR1 to %d to start now", os.Getpid())
}
