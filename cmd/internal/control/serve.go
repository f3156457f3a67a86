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
	mostClients = 16              // at once
	idleTime    = 5 * time.Minute // after which a client that says nothing is gone
	writeTime   = 10 * time.Second
	watchEvery  = time.Second // how often the run's health is taken
)

// server serves one run.
type server struct {
	job      Job
	listener net.Listener
	ctx      context.Context // of orders; it ends with the server
	working  sync.WaitGroup

	mu      sync.Mutex // guards what is below
	closed  bool
	clients map[net.Conn]bool
	vitals  health.Vitals
}

// Serve takes orders for a run from now on, on a socket in the run's data folder that only this user can open. Who
// calls it has the run, so that what a dead process left there is taken over. stop ends it; it waits for orders under
// way, so the run has to have ended, or to end by itself.
func Serve(job Job, data string) (stop func() error, err error) {
	p, listener, err := listen(data, ofRun)
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

// close ends what waits for clients.
func (s *server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.clients {
		_ = c.SetReadDeadline(time.Now()) // an answer under way still leaves
	}
	if s.listener == nil {
		return nil
	}
	return s.listener.Close()
}

// watch takes the run's health, as far as it takes time to tell.
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

// take makes room for a client, if there is any.
func (s *server) take(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.clients) == mostClients {
		return false
	}
	s.clients[c] = true
	return true
}

// serve answers a client until it goes, says what nobody understands, or the server ends.
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
		case err != nil: // it has gone
			return
		}
		if !answer(c, s.carryOut(&q)) {
			return
		}
	}
}

// await gives a client time for its next line; false is that the server ends.
func (s *server) await(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && c.SetReadDeadline(time.Now().Add(idleTime)) == nil
}

// answer sends a reply and reports whether it left.
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
