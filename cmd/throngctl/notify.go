package main

import (
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/wire"
)

// telling has a web hook told of a run. The returned function waits until its end is told, for some seconds.
func (t *terminal) telling(n wire.Notify, job *wire.Job, title string) (done func()) {
	t.trouble = make(chan error, 8) // more than one at a time there are not
	watch := n.WatchFor(job, title, func(err error) {
		select {
		case t.trouble <- err:
		default:
		}
	})
	return func() {
		watch.Close()
		for {
			select {
			case err := <-t.trouble:
				fmt.Fprintf(t.err, "note: %v\n", err)
			default:
				t.trouble = nil
				return
			}
		}
	}
}
