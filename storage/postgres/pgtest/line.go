package pgtest

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
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
	Latency    time.Duration // of each piece, in both directions
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
	to       string
	trouble  Trouble
	changed  chan struct{} // closed when the trouble changes
	open     map[*joint]bool
	listener net.Listener // nil while connections are refused
}

// NewLine returns a line to a server, which ends with the test.
func NewLine(t testing.TB, to string) *Line {
	t.Helper()
	l := &Line{to: to, end: make(chan struct{}), changed: make(chan struct{}), open: map[*joint]bool{}}
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

// join copies bytes between a client and the server until one of them or the test ends.
func (l *Line) join(client net.Conn) {
	l.mu.Lock()
	to := l.to
	l.mu.Unlock()
	server, err := net.Dial("tcp", to) //nolint:noctx // on loopback
	if err != nil {
		_ = client.Close()
		return
	}
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

// joint is a connection over the line.
type joint struct {
	*Line
	ends      [2]net.Conn // by the direction that leads there
	abandoned atomic.Bool
	once      sync.Once
	closed    chan struct{}
}

func (j *joint) close(reset bool) {
	j.once.Do(func() {
		for _, c := range j.ends {
			if tcp, ok := c.(*net.TCPConn); ok && reset {
				_ = tcp.SetLinger(0)
			}
			_ = c.Close()
		}
		close(j.closed)
	})
}

// pass copies one direction.
func (j *joint) pass(w Way) {
	p := passage{joint: j, way: w}
	buffer := make([]byte, 16<<10)
	for {
		n, err := j.ends[1-w].Read(buffer)
		if n > 0 && !p.carry(buffer[:n]) {
			return
		}
		if err != nil {
			return
		}
	}
}

// passage is one direction of a connection.
type passage struct {
	*joint
	way    Way
	known  chan struct{} // of the trouble that the following fields belong to
	passed int64
	tail   []byte // the last bytes that passed, shorter than ResetAt
}

// carry copies a piece with the current trouble; false if the connection has ended.
func (p *passage) carry(piece []byte) bool {
	var trouble Trouble
	for {
		p.mu.Lock()
		t, changed := p.trouble, p.changed
		p.mu.Unlock()
		if p.known != changed {
			p.known, p.passed, p.tail = changed, 0, nil
		}
		if trouble = t; !t.Hold[p.way] {
			break
		}
		select {
		case <-changed:
		case <-p.closed:
			return false
		}
	}
	piece, reset := p.upTo(piece, trouble)
	if !p.wait(trouble.Latency) {
		return false
	}
	p.passed += int64(len(piece))
	p.bytes[p.way].Add(int64(len(piece))) // before the peer can receive them
	if len(piece) > 0 {
		if _, err := p.ends[p.way].Write(piece); err != nil && !p.swallows(err) {
			return false
		}
	}
	if reset {
		p.close(true)
		return false
	}
	return trouble.Rate == 0 || p.wait(time.Second*time.Duration(len(piece))/time.Duration(trouble.Rate))
}

// swallows reports whether bytes of an abandoned client are discarded.
func (p *passage) swallows(err error) bool {
	return p.abandoned.Load() && (errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET))
}

// upTo returns the part of a piece that passes before the connection is reset, if it is.
func (p *passage) upTo(piece []byte, t Trouble) (passes []byte, reset bool) {
	if most := t.ResetAfter[p.way]; most > 0 && p.passed+int64(len(piece)) >= most {
		return piece[:max(most-p.passed, 0)], true
	}
	at := []byte(t.ResetAt[p.way])
	if len(at) == 0 {
		return piece, false
	}
	seen := append(p.tail, piece...)
	if i := bytes.Index(seen, at); i >= 0 {
		return piece[:max(i-len(p.tail), 0)], true
	}
	p.tail = bytes.Clone(seen[max(len(seen)-len(at)+1, 0):])
	return piece, false
}

// wait returns false if the connection ended in the meantime.
func (p *passage) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-late.C:
		return true
	case <-p.closed:
		return false
	}
}
