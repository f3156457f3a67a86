package main

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/cmd/internal/wire"
)

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
func (t *terminal) telling(n wire.Notify, job *wire.Job, title string, p *patience) (done func()) {
	watch := n.WatchFor(job, title, t.hear)
	return func() {
		_ = t.await(p, func() error { watch.Close(p.over); return nil }) // its trouble is heard
	}
}
