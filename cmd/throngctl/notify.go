package main

import (
	"fmt"

	"github.com/throng-sim/throng/cmd/internal/wire"
)

// telling has a web hook told of a run. The returned function waits until its end is told, for some seconds.
func (t *terminal) telling(n wire.Notify, job *wire.Job, title string) (done func()) {
	return n.WatchFor(job, title, t.troubled()).Close
}

// troubled takes what goes wrong beside the run in progress. It is said when a dashboard has room for it, and without a run
// at once.
func (t *terminal) troubled() func(error) {
	to := t.trouble
	return func(err error) {
		if to == nil {
			fmt.Fprintf(t.err, "note: %v\n", err)
			return
		}
		select {
		case to <- err:
		default: // there is more than anybody reads
		}
	}
}

// listen begins to take trouble of a run. The returned function says what nobody was told of.
func (t *terminal) listen() (end func()) {
	t.trouble = make(chan error, 8)
	return func() {
		for {
			select {
			case err := <-t.trouble:
				fmt.Fprintf(t.err, "note: %v\n", err)
			default:
				return
			}
		}
	}
}
