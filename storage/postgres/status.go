package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
)

// watchEvery is how often the local rows are counted, askEvery how often the server is asked.
const watchEvery, askEvery = time.Second, 2 * time.Second

// Status is how a pusher is doing.
type Status struct {
	Connected bool
	Error     string    // why rows are not sent, in words; empty when all is well
	Since     time.Time // of the error

	Sent      int64  // rows that this process committed
	Confirmed int64  // sessions and metrics among them, and those that were there already
	Unsent    int64  // sessions and metrics, of all runs, that are not confirmed
	SetAside  int64  // rows that the server refuses; they are not sent again
	Refused   string // the last of them, and why

	Rate int64         // rows per second that were confirmed of late; 0 while none are
	Left time.Duration // until all are there at that rate; 0 is not known

	Connections    int // open, of Throng's own pool
	Pool           engine.Pool
	Clients        int  // of the server, from everywhere; -1 while it is not known
	MaxConnections int  // of the server; -1 while it is not known
	Reserved       int  // of those, kept for superusers
	Pooled         bool // a pooler stands in front of the server, whose clients do not include this pool
}

func (s *Status) figures(f figures) {
	s.Clients, s.MaxConnections, s.Reserved = f.Clients, f.Max, f.Kept
}

// board holds the newest status for readers who do not wait.
type board struct {
	mu      sync.Mutex // held while it is replaced
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

// Status returns how the pusher is doing. It does not wait.
func (p *Pusher) Status() Status { return *p.status.current.Load() }

// watch counts what is unsent, has it sent in time, and asks the server about its connections.
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

// countPool brings the figures of the pool up to date.
func (p *Pusher) countPool() {
	pool := p.pool.Load()
	if pool == nil {
		return
	}
	stat := pool.Stat()
	p.status.set(func(s *Status) {
		if p.pool.Load() != pool { // what disconnect says stays, or comes
			return
		}
		s.Connections = int(stat.TotalConns())
		s.Pool = engine.Pool{
			Size: int(stat.MaxConns()), InUse: int(stat.AcquiredConns()), Idle: int(stat.IdleConns()), Waiting: int(p.waiting.Load()),
		}
	})
}

// countUnsent also reports whether anything waits to be sent.
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

// askServer brings the figures of connections up to date. If the server does not answer, the sender looks what it is.
func (p *Pusher) askServer(ctx context.Context) {
	pool := p.pool.Load()
	if pool == nil {
		return
	}
	busy := func() bool { s := pool.Stat(); return s.AcquiredConns() >= s.MaxConns() }
	ctx, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	if busy() { // with no connection to spare, sending goes first
		if s := p.sending.Load(); s != nil && s.still() && !answers(ctx, p.server) {
			p.heardNothing()
		}
		return
	}
	f, err := readFigures(ctx, pool)
	switch {
	case p.pool.Load() != pool: // the sender was faster
	case silent(err):
	case err == nil:
		p.status.set(func(s *Status) {
			if p.pool.Load() != pool { // meanwhile; what disconnect says stays, or comes
				return
			}
			s.figures(f)
		})
		if float64(f.Clients) > engine.ConnectionsWarn*float64(f.Max) {
			giveBack(pool)
		}
	case !busy() && !noneFree(err): // the connection that the sender has may be good
		p.heardNothing()
	}
}
