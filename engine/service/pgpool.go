package service

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/gate"
)

// PoolLimits bound the use of a Postgres service. The zero value takes the defaults.
type PoolLimits struct {
	Connections int           // kept open between statements; 50
	Burst       int           // more, while all of these are in use; 10, and none if it is negative
	Wait        time.Duration // for one of them to be free, then the call fails; 0 is as long as it takes
	Timeout     time.Duration // of one attempt; 30 s
	NoBreaker   bool          // calls fail while the server is away: nobody waits for it
	// Allow returns how many connections this pool may open, however many are configured, to a server on which so many are
	// not others'; nil is as many as are configured. It is not asked behind a pooler.
	Allow func(free int) int

	burstIdle time.Duration // after which those of the burst are closed; 10 s
}

// Size is how many connections may be open, the burst among them.
func (l PoolLimits) Size() int {
	l = l.withDefaults()
	return l.Connections + max(l.Burst, 0)
}

func (l PoolLimits) withDefaults() PoolLimits {
	if l.Connections == 0 {
		l.Connections = 50
	}
	if l.Burst == 0 {
		l.Burst = 10
	}
	if l.Timeout == 0 {
		l.Timeout = 30 * time.Second
	}
	if l.burstIdle == 0 {
		l.burstIdle = 10 * time.Second
	}
	return l
}

const (
	keptIdle = 5 * time.Minute
	// mostConnections is how many can be set while a run is in progress.
	mostConnections = 1000
	// closeTime is how long connections may take to be closed.
	closeTime = time.Second
)

// pool is two pools behind one bound: one that keeps its connections, and one that takes over while all of these are in
// use and closes its own soon after.
type pool struct {
	burstSize int
	mu        sync.Mutex // guards the next four
	wanted    int        // to be kept
	ceiling   int        // of all; 0 is none
	room      room
	closed    bool
	used      use
	keep      atomic.Int64 // connections at most, of those that are kept
	bound     *gate.Gate   // of all statements at once; each enters it first, and leaves it last
	steady    *gate.Gate   // of those that have a connection which is kept
	kept      *pgxpool.Pool
	burst     *pgxpool.Pool // nil without
}

func newPool(config *pgxpool.Config, limits PoolLimits) (*pool, error) {
	burst := max(limits.Burst, 0)
	p := &pool{burstSize: burst, wanted: limits.Connections, bound: gate.New(limits.Connections + burst), steady: gate.New(limits.Connections)}
	p.limit()
	if limits.Allow != nil {
		p.allow(unknownConnections)
	}
	kept := config.Copy()
	// The bound holds what is in use; it can be raised, and the server's figures are asked for beside it.
	kept.MaxConns, kept.MaxConnIdleTime = int32(max(limits.Connections, mostConnections))+1, keptIdle
	var err error
	if p.kept, err = pgxpool.NewWithConfig(context.Background(), kept); err != nil || burst == 0 {
		return p, err
	}
	more := config.Copy()
	more.MaxConns, more.MaxConnIdleTime, more.HealthCheckPeriod = int32(burst), limits.burstIdle, limits.burstIdle/5
	if p.burst, err = pgxpool.NewWithConfig(context.Background(), more); err != nil {
		p.kept.Close()
	}
	return p, err
}

// acquire gives a connection to whoever entered the bound; release gives it back.
func (p *pool) acquire(ctx context.Context) (conn *pgxpool.Conn, release func(), err error) {
	from, leave := p.kept, p.steady.Leave
	if !p.steady.TryEnter() {
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

func (p *pool) open() int {
	n := p.kept.Stat().TotalConns()
	if p.burst != nil {
		n += p.burst.Stat().TotalConns()
	}
	return int(n)
}

// connections is how many are to be kept.
func (p *pool) connections() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wanted
}

// setConnections changes how many are kept. Of fewer, those that are idle are closed.
func (p *pool) setConnections(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted = n
	p.limit()
}

// unknownConnections are opened while nobody knows how many the server takes.
const unknownConnections = 4

// allow changes how many may be open, however many are wanted; 0 is no bound.
func (p *pool) allow(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n != p.ceiling {
		p.ceiling = n
		p.limit()
	}
}

// limit sets the gates, and closes idle connections that are too many. mu is held.
func (p *pool) limit() {
	keep, all := p.wanted, p.wanted+p.burstSize
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
	p.bound.SetLimit(all)
}

// figures are what the connections do.
func (p *pool) figures() (f engine.Pool) {
	f.Size, _, f.Waiting = p.bound.State()
	for _, of := range p.pools() {
		stat := of.Stat()
		f.InUse += int(stat.AcquiredConns())
		f.Idle += int(stat.IdleConns())
	}
	return f
}

// reset has no statement begin on a connection that is open now.
func (p *pool) reset() {
	p.kept.Reset()
	if p.burst != nil {
		p.burst.Reset()
	}
}

// close does not wait for a server that has gone silent: the driver gives such a connection up by itself.
func (p *pool) close() {
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
