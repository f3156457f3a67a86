package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
)

const (
	mostClients = 16              // concurrent
	idleTime    = 5 * time.Minute // after which an idle client is disconnected
	writeTime   = 10 * time.Second
	watchEvery  = time.Second // how often the health of the run is measured
)

// server serves one run.
type server struct {
	job      Job
	listener net.Listener
	ctx      context.Context // for orders; canceled with the server
	working  sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	closed  bool
	clients map[net.Conn]bool
	vitals  health.Vitals
}

// serving is held while a socket is made: until it listens, it looks like that of a process that died.
var serving sync.Mutex

// Serve executes orders for a run, received on a socket in the data folder that only this user can open. The caller must
// hold the lock of the run: Serve replaces the socket of a process that died. stop ends it and waits for orders that are
// being executed, so the run must have ended, or be about to end.
func Serve(job Job, data string) (stop func() error, err error) {
	serving.Lock()
	forgetDead(data)
	p, listener, err := listen(data, ofRun(job.ID()))
	serving.Unlock()
	if err != nil {
		return nil, fmt.Errorf("make a socket for orders: %w", err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &server{job: job, listener: listener, ctx: ctx, clients: map[net.Conn]bool{}}
	s.vitals.See(job.Snapshot())
	s.working.Go(s.watch)
	s.working.Go(s.accept)
	return func() error {
		cancel(engine.ErrEnded)
		err := s.close()
		s.working.Wait()
		return errors.Join(err, p.remove())
	}, nil
}

// listen makes a socket that only this user can open.
func listen(data string, n names) (p place, l net.Listener, err error) {
	if p, err = makePlace(data, n); err != nil {
		return p, nil, err
	}
	if l, err = new(net.ListenConfig).Listen(context.Background(), "unix", p.path); err == nil {
		if err = closeToOthers(p.path); err != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if err != nil {
		return p, nil, errors.Join(err, p.remove())
	}
	return p, l, nil
}

// close disconnects idle clients.
func (s *server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.clients {
		_ = c.SetReadDeadline(time.Now()) // a reply that is being written still arrives
	}
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}

// watch measures the health of the run once a second.
func (s *server) watch() {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
			s.mu.Lock()
			s.vitals.See(s.job.Snapshot())
			s.mu.Unlock()
		}
	}
}

func (s *server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			select { // such as too many open files
			case <-s.ctx.Done():
			case <-time.After(watchEvery):
			}
			continue
		}
		if s.take(c) {
			s.working.Go(func() { s.serve(c) })
			continue
		}
		answer(c, &reply{Error: &fault{Text: fmt.Sprintf("%d terminals already talk to the run; end one of them first", mostClients)}})
		_ = c.Close()
	}
}

// take adds a client unless there are too many.
func (s *server) take(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.clients) == mostClients {
		return false
	}
	s.clients[c] = true
	return true
}

// serve answers a client until it disconnects, sends an invalid line, or the server stops.
func (s *server) serve(c net.Conn) {
	defer func() {
		s.mu.Lock()
		delete(s.clients, c)
		s.mu.Unlock()
		_ = c.Close()
	}()
	r := bufio.NewReader(c)
	for s.await(c) {
		q, err := readRequest(r)
		var bad *badLine
		switch {
		case errors.As(err, &bad), errors.Is(err, errTooLong):
			answer(c, &reply{Error: newFault(err)})
			return
		case err != nil: // the client has disconnected
			return
		}
		if !answer(c, s.carryOut(&q)) {
			return
		}
	}
}

// await sets the deadline for the next line of a client. It reports false if the server is stopping.
func (s *server) await(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && c.SetReadDeadline(time.Now().Add(idleTime)) == nil
}

// answer sends a reply and reports whether that succeeded.
func answer(c net.Conn, r *reply) bool {
	r.Version = version
	line, err := json.Marshal(r)
	if err != nil {
		return false
	}
	if err := c.SetWriteDeadline(time.Now().Add(writeTime)); err != nil {
		return false
	}
	_, err = io.WriteString(c, string(line)+"\n")
	return err == nil
}
