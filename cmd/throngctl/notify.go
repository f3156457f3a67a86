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

// notifyFlag says where notices go.
type notifyFlag struct {
	Notify string `placeholder:"URL" help:"Webhook for notifications of the end, pauses, circuit breakers, budgets and stalls. The format (JSON, Slack or ntfy) follows from the host, or from a prefix json:, slack: or ntfy:; secret:NAME reads the address from the keychain; none disables it (default: the saved address; variable ${env_notify}). Other users of this machine can see flags, but not variables or the keychain."`
}

// target is where they go.
func (f notifyFlag) target(t *terminal) (config.Notify, error) {
	return config.FindNotify(f.Notify, os.Getenv, t.data)
}

// hear takes in what goes wrong beside a run, from any goroutine; it is said by the one that talks to the terminal.
func (t *terminal) hear(err error) {
	select {
	case t.trouble <- err:
	default: // who hears so much has heard enough
	}
}

// sayTrouble says what was heard and is not said yet.
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

// patience is that of a person with what others are still to be told at the end of a run.
type patience struct {
	over <-chan struct{} // closed by end
	end  context.CancelFunc
}

func newPatience() *patience {
	ctx, end := context.WithCancel(context.Background())
	return &patience{ctx.Done(), end}
}

// hurryTime is what others have of the time of a person who wants the program to end at once.
const hurryTime = time.Second

// await waits for others, and says what troubled them. Any signal ends the patience with them.
func (t *terminal) await(p *patience, others func() error) (err error) {
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

// telling has a web hook told of a run. The returned function waits until its end is told, for some seconds.
func (t *terminal) telling(n config.Notify, job *app.Job, title string, p *patience) (done func()) {
	watch := n.WatchFor(job.Run, title, t.hear)
	return func() {
		_ = t.await(p, func() error { watch.Close(p.over); return nil }) // its trouble is heard
	}
}

// tryNotice sends a notice as a test of where notices go.
func tryNotice(ctx context.Context, n config.Notify) engine.Check {
	check := engine.Check{Name: "Notices", Grade: engine.GradeProblem}
	answer, err := n.Try(ctx)
	if field, ok := errors.AsType[*engine.FieldError](err); ok {
		check.Text, check.Hint = field.Problem, field.Hint
		return check
	}
	if err != nil {
		check.Text, check.Hint = err.Error(), "a run would go on without; look at the address and its server"
		return check
	}
	check.Grade, check.Text = engine.GradeOK, n.Host()+" took a notice, as a test: "+answer
	return check
}
