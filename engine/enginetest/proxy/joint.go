package proxy

import (
	"bytes"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

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

// piece is some bytes on their way.
type piece struct {
	text   []byte
	due    time.Time     // the zero value is now
	passed chan struct{} // closed when it has passed
}

// underWay is the number of delayed pieces of a connection and direction that are on their way at most.
const underWay = 1024

// pass copies one direction.
func (j *joint) pass(w Way) {
	pieces := make(chan piece, underWay)
	j.working.Go(func() {
		defer close(pieces)
		j.read(w, pieces)
	})
	p := passage{joint: j, way: w}
	for one := range pieces {
		if !p.wait(time.Until(one.due)) || !p.carry(one.text) {
			return
		}
		close(one.passed)
	}
}

// read reads one direction until the connection ends. It continues while pieces are delayed, but not while they are held or slow: the
// peer then notices that its bytes are not taken.
func (j *joint) read(w Way, to chan<- piece) {
	buffer := make([]byte, 16<<10)
	var last time.Time
	for {
		n, err := j.ends[1-w].Read(buffer)
		if n > 0 && !j.queue(w, bytes.Clone(buffer[:n]), &last, to) {
			return
		}
		if err != nil {
			return
		}
	}
}

// queue puts bytes on their way, not before those that are due last; false if the connection has ended.
func (j *joint) queue(w Way, text []byte, last *time.Time, to chan<- piece) bool {
	t, _, open := j.current(w)
	if !open {
		return false
	}
	one := piece{text: text, passed: make(chan struct{})}
	now := time.Now()
	due := now.Add(j.delay(t))
	if due.Before(*last) {
		due = *last
	}
	if due.After(now) {
		one.due, *last = due, due
	}
	select {
	case to <- one:
	case <-j.closed:
		return false
	}
	if !one.due.IsZero() {
		return true
	}
	select {
	case <-one.passed:
		return true
	case <-j.closed:
		return false
	}
}

// current returns the trouble when no bytes are held in a direction, and a channel that is closed when it changes; false if the
// connection ended before.
func (j *joint) current(w Way) (t Trouble, changed chan struct{}, open bool) {
	for {
		j.mu.Lock()
		t, changed = j.trouble, j.changed
		j.mu.Unlock()
		if !t.Hold[w] {
			return t, changed, true
		}
		select {
		case <-changed:
		case <-j.closed:
			return t, changed, false
		}
	}
}

// delay draws the delay of a piece.
func (l *Line) delay(t Trouble) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	d := t.Latency
	if t.Jitter > 0 {
		d += time.Duration(l.draw.Int64N(int64(t.Jitter)))
	}
	if t.Loss > 0 && l.draw.Float64() < t.Loss {
		d += t.Stall
	}
	return d
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
func (p *passage) carry(text []byte) bool {
	trouble, changed, open := p.current(p.way)
	if !open {
		return false
	}
	if p.known != changed {
		p.known, p.passed, p.tail = changed, 0, nil
	}
	text, reset := p.upTo(text, trouble)
	p.passed += int64(len(text))
	p.bytes[p.way].Add(int64(len(text))) // before the peer can receive them
	if len(text) > 0 {
		if _, err := p.ends[p.way].Write(text); err != nil && !p.swallows(err) {
			return false
		}
	}
	if reset {
		p.close(true)
		return false
	}
	return trouble.Rate == 0 || p.wait(time.Second*time.Duration(len(text))/time.Duration(trouble.Rate))
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
