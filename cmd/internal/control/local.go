package control

import (
	"bufio"
	"context"
	"net"

	"github.com/throng-sim/throng/engine"
)

// Local executes orders for a run from within its process, like [Serve] for other terminals.
type Local struct {
	server *server
	cancel context.CancelCauseFunc
}

// NewLocal starts to watch the health of a run and to execute the orders of its clients.
func NewLocal(job Job) *Local {
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &server{job: job, ctx: ctx, clients: map[net.Conn]bool{}}
	s.vitals.See(job.Snapshot())
	s.working.Go(s.watch)
	return &Local{s, cancel}
}

// Client returns another client of the run.
func (l *Local) Client() *Client {
	ours, theirs := net.Pipe()
	if l.server.take(theirs) {
		l.server.working.Go(func() { l.server.serve(theirs) })
	} else {
		_ = theirs.Close()
	}
	return &Client{conn: ours, in: bufio.NewReader(ours), run: l.server.job.ID(), who: myself()}
}

// Close stops it and waits for orders that are being executed.
func (l *Local) Close() error {
	l.cancel(engine.ErrEnded)
	err := l.server.close()
	l.server.working.Wait()
	return err
}
