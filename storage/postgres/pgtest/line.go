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

// Way is a direction on a line.
type Way int

// The ways.
const (
	ToServer Way = iota
	ToClient
)

// Trouble is what a line does to what passes. The zero value is a line in order. What is by way is indexed by it.
type Trouble struct {
	Hold       [2]bool       // nothing passes this way, and nobody is told; it passes later, if the trouble ends
	Rate       int           // bytes per second of each connection and way; 0 is any number
	Latency    time.Duration // of each piece, both ways
	ResetAfter [2]int64      // connections are reset once so many bytes passed since the trouble began; 0 is never
	ResetAt    [2]string     // connections are reset where this would pass, which it does not; "" is never
}

// Line is a way to a server on which anything may go wrong that does on a network. Its methods may be called at any
// time and from anywhere.
type Line struct {
	address net.Addr
	end     chan struct{}
	working sync.WaitGroup

	connections atomic.Int64
	bytes       [2]atomic.Int64

	mu       sync.Mutex // holds the rest
	to       string
	trouble  Trouble
	changed  chan struct{} // closed when the trouble is another
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

// Addr is where the line listens, all its life.
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

// Be has a trouble begin on all connections, those to come too, in place of the one before.
func (l *Line) Be(t Trouble) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trouble = t
	close(l.changed)
	l.changed = make(chan struct{})
}

// Silence has nothing pass from now on: connections stay, and are made.
func (l *Line) Silence() { l.Be(Trouble{Hold: [2]bool{true, true}}) }

// To has connections from now on go to another server.
func (l *Line) To(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.to = address
}

// Refuse has nobody listen; Listen ends that, at the same address.
func (l *Line) Refuse() { l.refuse() }

func (l *Line) refuse() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.listener != nil {
		_ = l.listener.Close()
		l.listener = nil
	}
}

// Listen has connections taken again after Refuse.
func (l *Line) Listen(t testing.TB) {
	t.Helper()
	if err := l.listen(l.address.String()); err != nil {
		t.Fatal(err)
	}
}

// Cut closes all connections, both ends.
func (l *Line) Cut() { l.each(func(j *joint) { j.close(false) }) }

// Reset breaks all connections, both ends: what was on its way is lost.
func (l *Line) Reset() { l.each(func(j *joint) { j.close(true) }) }

// Abandon has the server gone from all connections without a word: their clients' ends stay, and hear nothing.
func (l *Line) Abandon() {
	l.each(func(j *joint) {
		j.abandoned.Store(true)
		_ = j.ends[ToServer].Close()
	})
}

// Connections is how many were made so far.
func (l *Line) Connections() int64 { return l.connections.Load() }

// Bytes is how many passed a way so far.
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

// join passes what a client and the server say, until one of them ends or the test does.
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
	case <-l.end: // it may have cut the others before
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
	ends      [2]net.Conn // by the way that leads there
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

// pass carries what goes one way.
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

// passage is one way of a connection.
type passage struct {
	*joint
	way    Way
	known  chan struct{} // of the trouble that the rest is counted for
	passed int64
	tail   []byte // the last bytes that passed, fewer than ResetAt has
}

// carry passes a piece, with the trouble of the moment; false where the connection has ended.
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
	p.bytes[p.way].Add(int64(len(piece))) // before anybody hears them
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

// swallows reports whether what an abandoned client says goes nowhere.
func (p *passage) swallows(err error) bool {
	return p.abandoned.Load() && (errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET))
}

// upTo is what of a piece passes before the connection is reset, if it is.
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

// wait is false where the connection ended meanwhile.
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
