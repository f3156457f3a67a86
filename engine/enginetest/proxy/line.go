// Package proxy simulates network problems for tests: a TCP proxy that holds, delays, slows and resets connections. It takes no
// privileges. A lost packet looks as it does to programs that use TCP: the bytes come later, and all behind them wait.
package proxy

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Way is a direction of a line.
type Way int

// The directions.
const (
	ToServer Way = iota
	ToClient
)

// Trouble is a network problem. The zero value is a line without problems. Arrays are indexed by direction.
type Trouble struct {
	Hold       [2]bool       // bytes are held silently, and pass after the end of the trouble
	Rate       int           // bytes per second of each connection and direction; 0 is unlimited
	Latency    time.Duration // of each byte, in both directions; pieces are under way at the same time
	Jitter     time.Duration // up to this much more latency; bytes stay in order
	Loss       float64       // the fraction of pieces that are lost and come Stall later
	Stall      time.Duration // the time until a lost piece is sent again; Linux waits at least 200 ms
	ResetAfter [2]int64      // connections are reset after so many bytes since the trouble began; 0 is never
	ResetAt    [2]string     // connections are reset before this text passes; "" is never
}

// Line is a proxy to a server that simulates network problems. Its methods are safe for concurrent use.
type Line struct {
	address net.Addr
	end     chan struct{}
	working sync.WaitGroup

	connections atomic.Int64
	bytes       [2]atomic.Int64

	mu       sync.Mutex // protects the following fields
	draw     *rand.Rand
	to       string
	trouble  Trouble
	changed  chan struct{} // closed when the trouble changes
	open     map[*joint]bool
	listener net.Listener // nil while connections are refused
}

// NewLine returns a line to a server, which ends with the test.
func NewLine(t testing.TB, to string) *Line {
	t.Helper()
	l := newLine(to)
	if err := l.listen("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		close(l.end)
		l.refuse()
		l.Cut()
		l.working.Wait()
	})
	return l
}

func newLine(to string) *Line {
	return &Line{to: to, end: make(chan struct{}), changed: make(chan struct{}), open: map[*joint]bool{}, draw: rand.New(rand.NewPCG(1, 0))}
}

// Addr returns the address that the line listens on, which never changes.
func (l *Line) Addr() net.Addr { return l.address }

func (l *Line) listen(at string) error {
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", at)
	if err != nil {
		return err
	}
	l.mu.Lock()
	l.address, l.listener = listener.Addr(), listener
	l.mu.Unlock()
	l.working.Go(func() { l.accept(listener) })
	return nil
}

// Be replaces the trouble of all current and future connections.
func (l *Line) Be(t Trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = t
	close(l.changed)
	l.changed = make(chan struct{})
}

// Silence stops all bytes. Connections stay open, and new ones are accepted.
func (l *Line) Silence() { l.Be(Trouble{Hold: [2]bool{true, true}}) }

// To sends future connections to another server.
func (l *Line) To(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = address
}

// Refuse stops listening, until Listen is called.
func (l *Line) Refuse() { l.refuse() }

func (l *Line) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		_ = l.listener.Close()
		l.listener = nil
	}
}

// Listen listens again after Refuse, at the same address.
func (l *Line) Listen(t testing.TB) {
	t.Helper()
	if err := l.listen(l.address.String()); err != nil {
		t.Fatal(err)
	}
}

// Cut closes both ends of all connections.
func (l *Line) Cut() { l.each(func(j *joint) { j.close(false) }) }

// Reset resets both ends of all connections. Bytes in transit are lost.
func (l *Line) Reset() { l.each(func(j *joint) { j.close(true) }) }

// Abandon closes the server's ends of all connections. The clients' ends stay open and receive nothing.
func (l *Line) Abandon() {
	l.each(func(j *joint) {
		j.abandoned.Store(true)
		_ = j.ends[ToServer].Close()
	})
}

// Connections returns the number of accepted connections.
func (l *Line) Connections() int64 { return l.connections.Load() }

// Bytes returns the number of bytes that passed in a direction.
func (l *Line) Bytes(w Way) int64 { return l.bytes[w].Load() }

func (l *Line) each(f func(j *joint)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for j := range l.open {
		f(j)
	}
}

func (l *Line) accept(listener net.Listener) {
	for {
		client, err := listener.Accept()
		if err != nil {
			return
		}
		l.connections.Add(1)
		l.working.Go(func() { l.join(client) })
	}
}

// join connects a client to the server.
func (l *Line) join(client net.Conn) {
	l.mu.Lock()
	to := l.to
	l.mu.Unlock()
	server, err := net.Dial("tcp", to) //nolint:noctx // on loopback
	if err != nil {
		_ = client.Close()
		return
	}
	l.connect(client, server)
}

// connect copies bytes between two connections until one of them or the test ends.
func (l *Line) connect(client, server net.Conn) {
	j := &joint{Line: l, ends: [2]net.Conn{ToServer: server, ToClient: client}, closed: make(chan struct{})}
	l.mu.Lock()
	l.open[j] = true
	l.mu.Unlock()
	select {
	case <-l.end: // it may have closed the other connections before
		j.close(false)
	default:
	}
	for _, w := range []Way{ToServer, ToClient} {
		l.working.Go(func() {
			j.pass(w)
			if !j.abandoned.Load() {
				j.close(false)
			}
		})
	}
	<-j.closed
	l.mu.Lock()
	delete(l.open, j)
	l.mu.Unlock()
}
