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

// Limits limit the use of a Postgres service. The zero value takes the defaults.
type Limits struct {
	Connections int           // kept open between statements; default 50
	Burst       int           // more, while all of these are in use; default 10, none if negative
	Wait        time.Duration // for a free connection, after which the call fails; 0 waits without limit
	Timeout     time.Duration // of one attempt; default 30 s
	NoBreaker   bool          // calls fail while the server is unavailable, instead of waiting
	// Allow returns how many connections this pool may open, of free connections that others leave; nil allows as many as are
	// configured. It is not called behind a pooler.
	Allow func(free int) int

	BurstIdle time.Duration // idle time after which burst connections are closed; default 10 s
}

// Size returns the most connections, including the burst.
func (l Limits) Size() int {
	l = l.WithDefaults()
	return l.Connections + max(l.Burst, 0)
}

// WithDefaults returns the limits with defaults in place of zero values.
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
	// MostConnections limits the setting during a run.
	MostConnections = 1000
	// closeTime limits the time for closing connections.
	closeTime = time.Second
)

// Pool is two pools with a common limit: one keeps its connections, the other takes over while all of these are in use and closes
// its own soon after.
type Pool struct {
	BurstSize int
	mu        sync.Mutex // guards the next six
	wanted    int        // connections to keep
	ceiling   int        // of all connections; 0 for none
	part      part       // of these that this process may have
	room      room
	closed    bool
	used      use
	keep      atomic.Int64       // most connections that are kept
	Limit     *concurrency.Limit // of all concurrent statements; each acquires it first and releases it last
	steady    *concurrency.Limit // of statements on connections that are kept
	kept      *pgxpool.Pool
	burst     *pgxpool.Pool // nil if there is no burst
}

// NewPool returns a pool of connections within limits. It opens none.
func NewPool(config *pgxpool.Config, limits Limits) (*Pool, error) {
	burst := max(limits.Burst, 0)
	p := &Pool{BurstSize: burst, wanted: limits.Connections, Limit: concurrency.NewLimit(limits.Connections + burst), steady: concurrency.NewLimit(limits.Connections)}
	p.limit()
	if limits.Allow != nil {
		p.Allow(UnknownConnections)
	}
	kept := config.Copy()
	// The concurrency limit bounds the connections in use. It can be raised, and one more connection asks for the server's clients.
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

// Acquire returns a connection to a caller that holds a slot of Limit. release returns the connection.
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

// Open returns the number of open connections.
func (p *Pool) Open() int {
	n := p.kept.Stat().TotalConns()
	if p.burst != nil {
		n += p.burst.Stat().TotalConns()
	}
	return int(n)
}

// Connections returns the number of connections to keep.
func (p *Pool) Connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

// SetConnections changes the number of connections to keep. Excess idle connections are closed.
func (p *Pool) SetConnections(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = n
	p.limit()
}

// UnknownConnections is how many connections are opened while the server's limit is not known.
const UnknownConnections = 4

// Allow changes how many connections may be open, however many are configured; 0 sets no limit.
func (p *Pool) Allow(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n != p.ceiling {
		p.ceiling = n
		p.limit()
	}
}

// limit applies the limits and closes excess idle connections. mu is held.
func (p *Pool) limit() {
	keep, all := p.sizes()
	p.steady.SetLimit(keep)
	p.keep.Store(int64(keep))
	if p.part.of <= 1 {
		p.keep.Add(1) // one more asks for the server's clients
	}
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

// State returns the state of the connections.
func (p *Pool) State() (f engine.Pool) {
	f.Size, _, f.Waiting = p.Limit.State()
	for _, of := range p.pools() {
		stat := of.Stat()
		f.InUse += int(stat.AcquiredConns())
		f.Idle += int(stat.IdleConns())
	}
	return f
}

// Reset prevents statements from using connections that are open now.
func (p *Pool) Reset() {
	p.kept.Reset()
	if p.burst != nil {
		p.burst.Reset()
	}
}

// Close closes all connections. It does not wait for a silent server: the driver drops such a connection by itself.
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
