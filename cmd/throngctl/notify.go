package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
)

// notifyFlag sets the address for notifications.
type notifyFlag struct {
	Notify string `placeholder:"URL" help:"Webhook for notifications of the end, pauses, circuit breakers, budgets and stalls. The format follows from the host, or from a prefix json:, slack:, ntfy:, discord:, teams: or telegram:; secret:NAME reads the address from the keychain; none disables it (default: the saved address; variable ${env_notify}). Other users of this machine can see flags, but not variables or the keychain."`
}

// target returns the address for notifications.
func (f notifyFlag) target(t *terminal) (config.Notify, error) {
	return config.FindNotify(f.Notify, os.Getenv, t.data)
}

// mostTrouble is how many errors wait to be printed.
const mostTrouble = 64

// hear reports an error outside of the run, from any goroutine. The goroutine that owns the terminal prints it.
func (t *terminal) hear(err error) {
	select {
	case t.trouble <- err:
	default: // the queue is full: enough errors are waiting
	}
}

// sayTrouble prints the waiting errors.
func (t *terminal) sayTrouble() {
	for {
		select {
		case err := <-t.trouble:
			fmt.Fprintf(t.err, "note: %v\n", err)
		default:
			return
		}
	}
}

// patience limits how long the end of a run waits for notifications and telemetry.
type patience struct {
	over <-chan struct{} // closed by end
	end  context.CancelFunc
}

func newPatience() *patience {
	ctx, end := context.WithCancel(context.Background())
	return &patience{ctx.Done(), end}
}

// hurryTime is the limit after a second Ctrl+C.
const hurryTime = time.Second

// await waits for others and prints their errors. Any signal cancels the wait.
func await(t *terminal, p *patience, others func() error) (err error) {
	defer t.sayTrouble()
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = others()
	}()
	for {
		select {
		case <-done:
			return err
		case <-t.signals:
			p.end()
		}
	}
}

// notifyOf sends notifications of a run. The returned function waits some seconds for the last one.
func notifyOf(t *terminal, n config.Notify, job *app.Job, title string, p *patience) (done func()) {
	watch := n.WatchFor(job.Run, title, t.hear)
	return func() {
		_ = await(t, p, func() error { watch.Close(p.over); return nil }) // hear reports its errors
	}
}

// tryNotice sends a test notification.
func tryNotice(ctx context.Context, n config.Notify) engine.Check {
	check := engine.Check{Name: "Notifications", Grade: engine.GradeProblem}
	answer, err := n.Try(ctx)
	if field, ok := errors.AsType[*engine.FieldError](err); ok {
		check.Text, check.Hint = field.Problem, field.Hint
		return check
	}
	if err != nil {
		check.Text, check.Hint = err.Error(), "runs continue without it; check the address and its server"
		return check
	}
	check.Grade, check.Text = engine.GradeOK, n.Host()+" accepted a test notification: "+answer
	return check
}
