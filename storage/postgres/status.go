package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
)

// watchEvery is the interval at which local rows are counted, and askEvery the interval of queries to the server.
const watchEvery, askEvery = time.Second, 2 * time.Second

// Status is the status of a pusher.
type Status struct {
	Connected bool
	Error     string    // why rows are not sent; empty without an error
	Since     time.Time // of the error

	Sent      int64  // rows committed by this process
	Confirmed int64  // sessions and metrics confirmed, including those that were already in the database
	Unsent    int64  // unconfirmed sessions and metrics of all runs
	SetAside  int64  // rows that the server rejected; they are not sent again
	Refused   string // the last rejected row, and why

	Rate int64         // recently confirmed rows per second; 0 if there are none
	Left time.Duration // time until all rows are sent at that rate; 0 if unknown

	Connections    int // open connections of Throng
	Pool           engine.Pool
	Clients        int  // connections of all clients of the server; -1 if unknown
	MaxConnections int  // of the server; -1 if unknown
	Reserved       int  // of them, reserved for superusers
	Pooled         bool // a pooler is in front of the server, whose clients do not include this pool
}

func (s *Status) figures(f figures) {
	s.Clients, s.MaxConnections, s.Reserved = f.Clients, f.Max, f.Kept
}

// board holds the newest status for readers that do not wait.
type board struct {
	mu      sync.Mutex // serializes changes
	current atomic.Pointer[Status]
}

func (b *board) set(change func(s *Status)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var s Status
	if was := b.current.Load(); was != nil {
		s = *was
	}
	change(&s)
	b.current.Store(&s)
}

// Status returns the status of the pusher. It does not wait.
func (p *Pusher) Status() Status { return *p.status.current.Load() }

// watch counts unsent rows, triggers sending, and queries the server's connections.
func (p *Pusher) watch(ctx context.Context) {
	tick := time.NewTicker(min(watchEvery, p.config.Every))
	defer tick.Stop()
	pushed, asked := time.Now(), time.Time{}
	var pace pace
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		case <-p.ended:
			return
		}
		n, waiting := p.countUnsent(ctx)
		p.countPool()
		p.status.set(func(s *Status) { s.Rate, s.Left = pace.of(time.Now(), s.Confirmed, n) })
		if waiting && (n >= int64(p.config.Rows) || time.Since(pushed) >= p.config.Every) {
			pushed = time.Now()
			p.Nudge()
		}
		if time.Since(asked) >= askEvery {
			asked = time.Now()
			p.askServer(ctx)
		}
	}
}

// countPool updates the numbers of the pool.
func (p *Pusher) countPool() {
	pool := p.pool.Load()
	if pool == nil {
		return
	}
	stat := pool.Stat()
	p.status.set(func(s *Status) {
		if p.pool.Load() != pool { // disconnect sets the status itself
			return
		}
		s.Connections = int(stat.TotalConns())
		s.Pool = engine.Pool{
			Size: int(stat.MaxConns()), InUse: int(stat.AcquiredConns()), Idle: int(stat.IdleConns()), Waiting: int(p.waiting.Load()),
		}
	})
}

// countUnsent updates the number of unsent rows. It reports whether anything is unsent.
func (p *Pusher) countUnsent(ctx context.Context) (n int64, waiting bool) {
	runs, err := p.config.Outbox.Outbox(ctx, p.target)
	for _, run := range runs {
		rows, gone := p.config.Outbox.Unsent(ctx, run, p.target)
		if gone == nil {
			n += rows
		}
	}
	if err == nil {
		p.status.set(func(s *Status) { s.Unsent = n })
	}
	incomplete, _ := p.incomplete(ctx)
	return n, len(runs)+len(incomplete) > 0
}

// askServer updates the numbers of connections. If the server does not respond, the sender checks the pool.
func (p *Pusher) askServer(ctx context.Context) {
	pool := p.pool.Load()
	if pool == nil {
		return
	}
	busy := func() bool { s := pool.Stat(); return s.AcquiredConns() >= s.MaxConns() }
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	if busy() { // without a free connection, sending has priority
		if s := p.sending.Load(); s != nil && s.still() && !answers(ctx, p.server) {
			p.suspectServer()
		}
		return
	}
	f, err := readFigures(ctx, pool)
	switch {
	case p.pool.Load() != pool: // the sender replaced it
	case silent(err):
	case err == nil:
		p.status.set(func(s *Status) {
			if p.pool.Load() != pool { // disconnect sets the status itself
				return
			}
			s.figures(f)
		})
		if float64(f.Clients) > engine.ConnectionsWarn*float64(f.Max) {
			closeIdle(pool)
		}
	case !busy() && !noConnectionFree(err): // the connection of the sender may still work
		p.suspectServer()
	}
}
