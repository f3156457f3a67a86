package database

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/concurrency"
)

// PoolLimits bound the use of a Postgres service. The zero value takes the defaults.
type Limits struct {
	Connections int           // kept open between statements; 50
	Burst       int           // more, while all of these are in use; 10, and none if it is negative
	Wait        time.Duration // for one of them to be free, then the call fails; 0 is as long as it takes
	Timeout     time.Duration // of one attempt; 30 s
	NoBreaker   bool          // calls fail while the server is away: nobody waits for it
	// Allow returns how many connections this pool may open, however many are configured, to a server on which so many are
	// not others'; nil is as many as are configured. It is not asked behind a pooler.
	Allow func(free int) int

	BurstIdle time.Duration // after which those of the burst are closed; 10 s
}

// Size is how many connections may be open, the burst among them.
func (l Limits) Size() int {
	l = l.WithDefaults()
	return l.Connections + max(l.Burst, 0)
}

func (l Limits) WithDefaults() Limits {
	if l.Connections == 0 {
		l.Connections = 50
	}
	if l.Burst == 0 {
		l.Burst = 10
	}
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
	if l.BurstIdle == 0 {
		l.BurstIdle = 10 * time.Second
	}
	return l
}

const (
	keptIdle = 5 * time.Minute
	// mostConnections is how many can be set while a run is in progress.
	MostConnections = 1000
	// closeTime is how long connections may take to be closed.
	closeTime = time.Second
)

// Pool is two pools behind one bound: one that keeps its connections, and one that takes over while all of these are in
// use and closes its own soon after.
type Pool struct {
	BurstSize int
	mu        sync.Mutex // guards the next four
	wanted    int        // to be kept
	ceiling   int        // of all; 0 is none
	room      room
	closed    bool
	used      use
	keep      atomic.Int64       // connections at most, of those that are kept
	Limit     *concurrency.Limit // of all statements at once; each enters it first, and leaves it last
	steady    *concurrency.Limit // of those that have a connection which is kept
	kept      *pgxpool.Pool
	burst     *pgxpool.Pool // nil without
}

func NewPool(config *pgxpool.Config, limits Limits) (*Pool, error) {
	burst := max(limits.Burst, 0)
	p := &Pool{BurstSize: burst, wanted: limits.Connections, Limit: concurrency.NewLimit(limits.Connections + burst), steady: concurrency.NewLimit(limits.Connections)}
	p.limit()
	if limits.Allow != nil {
		p.Allow(UnknownConnections)
	}
	kept := config.Copy()
	// The bound holds what is in use; it can be raised, and the server's figures are asked for beside it.
	kept.MaxConns, kept.MaxConnIdleTime = int32(max(limits.Connections, MostConnections))+1, keptIdle
	var err error
	if p.kept, err = pgxpool.NewWithConfig(context.Background(), kept); err != nil || burst == 0 {
		return p, err
	}
	more := config.Copy()
	more.MaxConns, more.MaxConnIdleTime, more.HealthCheckPeriod = int32(burst), limits.BurstIdle, limits.BurstIdle/5
	if p.burst, err = pgxpool.NewWithConfig(context.Background(), more); err != nil {
		p.kept.Close()
	}
	return p, err
}

// Acquire gives a connection to whoever entered the bound; release gives it back.
func (p *Pool) Acquire(ctx context.Context) (conn *pgxpool.Conn, release func(), err error) {
	from, leave := p.kept, p.steady.Release
	if !p.steady.TryAcquire() {
		from, leave = p.burst, func() {}
	}
	if conn, err = from.Acquire(ctx); err != nil {
		leave()
		return nil, nil, err
	}
	p.used.begin()
	return conn, func() {
		p.used.end()
		if from == p.kept && p.tooMany() > 0 {
			go closeOne(conn)
		} else {
			conn.Release()
		}
		leave()
	}, nil
}

func (p *Pool) Open() int {
	n := p.kept.Stat().TotalConns()
	if p.burst != nil {
		n += p.burst.Stat().TotalConns()
	}
	return int(n)
}

// Connections is how many are to be kept.
func (p *Pool) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

// SetConnections changes how many are kept. Of fewer, those that are idle are closed.
func (p *Pool) SetConnections(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = n
	p.limit()
}

// UnknownConnections are opened while nobody knows how many the server takes.
const UnknownConnections = 4

// Allow changes how many may be open, however many are wanted; 0 is no bound.
func (p *Pool) Allow(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n != p.ceiling {
		p.ceiling = n
		p.limit()
	}
}

// limit sets the gates, and closes idle connections that are too many. mu is held.
func (p *Pool) limit() {
	keep, all := p.wanted, p.wanted+p.BurstSize
	if p.ceiling > 0 {
		keep, all = min(keep, p.ceiling), min(all, p.ceiling)
	}
	p.steady.SetLimit(keep)
	p.keep.Store(int64(keep) + 1) // one asks for the server's figures, beside statements
	if more := p.tooMany(); more > 0 {
		go p.giveBack(more)
	}
	if p.room.full {
		all = min(all, p.room.most)
	}
	p.Limit.SetLimit(all)
}

// Clients asks the server for its clients, on a connection in addition to those of statements.
func (p *Pool) Clients(ctx context.Context) (Clients, error) {
	conn, err := p.kept.Acquire(ctx)
	if err != nil {
		return Clients{}, err
	}
	defer conn.Release()
	return CountClients(ctx, conn.Conn())
}

// figures are what the connections do.
func (p *Pool) State() (f engine.Pool) {
	f.Size, _, f.Waiting = p.Limit.State()
	for _, of := range p.pools() {
		stat := of.Stat()
		f.InUse += int(stat.AcquiredConns())
		f.Idle += int(stat.IdleConns())
	}
	return f
}

// Reset has no statement begin on a connection that is open now.
func (p *Pool) Reset() {
	p.kept.Reset()
	if p.burst != nil {
		p.burst.Reset()
	}
}

// Close does not wait for a server that has gone silent: the driver gives such a connection up by itself.
func (p *Pool) Close() {
	p.mu.Lock()
	p.closed = true
	if p.room.timer != nil {
		p.room.timer.Stop()
	}
	p.mu.Unlock()
	closed := make(chan struct{})
	go func() {
		p.kept.Close()
		if p.burst != nil {
			p.burst.Close()
		}
		close(closed)
	}()
	late := time.NewTimer(closeTime)
	defer late.Stop()
	select {
	case <-closed:
	case <-late.C:
	}
}
