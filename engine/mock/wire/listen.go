// Package wire is what all mock servers share: a server on loopback that can be stopped, latency profiles and faults.
package wire

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

// Server is an HTTP server on loopback that can be stopped immediately and waited for.
type Server struct {
	http     http.Server
	listener net.Listener
	closing  chan struct{} // closed first, to release held requests
	served   chan error    // the result of Serve
	conns    sync.WaitGroup
}

// LoopbackOnly rejects an address that other machines could reach.
func LoopbackOnly(addr string) error {
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

// Listen opens the port; [Server.Run] serves it. "" is a free port.
func Listen(addr string, handle http.HandlerFunc) (*Server, error) {
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
	s := &Server{listener: l, closing: make(chan struct{}), served: make(chan error, 1)}
	s.http = http.Server{Handler: browser.Refuse(handle), ReadHeaderTimeout: headerTimeout, ConnState: s.track}
	return s, nil
}

// track counts connections. A connection is new before its goroutine starts; closing it is the last thing that goroutine does.
func (s *Server) track(conn net.Conn, state http.ConnState) {
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

// Run serves the port.
func (s *Server) Run() {
	go func() { s.served <- s.http.Serve(s.listener) }()
}

// URL returns the address, http://127.0.0.1:PORT.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Closing returns a channel that is closed when the server stops, to release requests that wait.
func (s *Server) Closing() <-chan struct{} { return s.closing }

// Close ends all requests and waits for their goroutines. Call it once, after Run.
func (s *Server) Close() error {
	close(s.closing)
	err := s.http.Close()
	if served := <-s.served; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	s.conns.Wait()
	return err
}
