package mock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine/browser"
)

const (
	freePort = "127.0.0.1:0"
	// headerTimeout closes a connection whose client never finishes its headers.
	headerTimeout = 30 * time.Second
)

// server is an HTTP server on loopback that can be stopped immediately and waited for.
type server struct {
	http     http.Server
	listener net.Listener
	closing  chan struct{} // closed first, to release held requests
	served   chan error    // the result of Serve
	conns    sync.WaitGroup
}

// loopbackOnly rejects an address that other machines could reach.
func loopbackOnly(addr string) error {
	if addr == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("address %q is not HOST:PORT; write for example 127.0.0.1:8080", addr)
	}
	if ip := net.ParseIP(host); host != "localhost" && !ip.IsLoopback() {
		return fmt.Errorf("address %q is not on loopback, and mocks listen on loopback only; write for example 127.0.0.1:8080", addr)
	}
	return nil
}

// listen opens the port; run serves it.
func listen(addr string, handle http.HandlerFunc) (*server, error) {
	if addr == "" {
		addr = freePort
	}
	l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	// The machine's resolver decides what "localhost" is.
	if bound, ok := l.Addr().(*net.TCPAddr); !ok || !bound.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("address %q is not loopback here: %v", addr, l.Addr()), l.Close())
	}
	s := &server{listener: l, closing: make(chan struct{}), served: make(chan error, 1)}
	s.http = http.Server{Handler: browser.Refuse(handle), ReadHeaderTimeout: headerTimeout, ConnState: s.track}
	return s, nil
}

// track counts connections. A connection is new before its goroutine starts; closing it is the last thing that goroutine does.
func (s *server) track(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		s.conns.Add(1)
		select {
		case <-s.closing: // http.Server.Close may have run before it knew this connection
			_ = conn.Close()
		default:
		}
	case http.StateClosed, http.StateHijacked:
		s.conns.Done()
	case http.StateActive, http.StateIdle:
	}
}

func (s *server) run() {
	go func() { s.served <- s.http.Serve(s.listener) }()
}

func (s *server) url() string { return "http://" + s.listener.Addr().String() }

// close ends all requests and waits for their goroutines. Call it once, after run.
func (s *server) close() error {
	close(s.closing)
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.conns.Wait()
	return err
}
