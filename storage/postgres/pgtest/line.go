package pgtest

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Line is a way to a server that can go silent, as a network does: connections stay, and nothing passes.
type Line struct {
	to      string
	silent  atomic.Bool
	end     chan struct{}
	working sync.WaitGroup
	net.Listener
}

// NewLine returns a line to a server, which ends with the test.
func NewLine(t testing.TB, to string) *Line {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &Line{to: to, end: make(chan struct{}), Listener: listener}
	l.working.Go(l.accept)
	t.Cleanup(func() {
		close(l.end)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		l.working.Wait()
	})
	return l
}

// Silence has nothing pass from now on.
func (l *Line) Silence() { l.silent.Store(true) }

func (l *Line) accept() {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		l.working.Go(func() { l.join(client) })
	}
}

// join passes what a client and the server say, until one of them ends or the test does.
func (l *Line) join(client net.Conn) {
	server, err := net.Dial("tcp", l.to) //nolint:noctx // on loopback
	if err != nil {
		_ = client.Close()
		return
	}
	ended := make(chan struct{}, 2)
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		l.working.Go(func() {
			l.pass(way[0], way[1])
			ended <- struct{}{}
		})
	}
	select {
	case <-ended:
	case <-l.end:
	}
	_ = errors.Join(client.Close(), server.Close())
}

func (l *Line) pass(from, to net.Conn) {
	buffer := make([]byte, 8<<10)
	for {
		n, err := from.Read(buffer)
		if l.silent.Load() {
			<-l.end
			return
		}
		if err == nil {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			return
		}
	}
}
