package database

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine/pgbouncer"
)

// After a server or pooler refused a connection, another is tried after leastFull, and twice as long after each further refusal, up
// to mostFull.
const leastFull, mostFull = 200 * time.Millisecond, 5 * time.Second

// room is how many connections a server or pooler accepts, while that is fewer than the pool would open. In the zero value there is
// room.
//
//	room ── connection refused ──▶ full: as many as are open ── time is over ──▶ one more is tried
//	  ▲                                        ▲ ◀──── refused ───────────────────────────────┤
//	  └────────── all are open that may ───────┴────── opened: try one more ◀─────────────────┘
type room struct {
	full  bool
	most  int    // while it is full
	why   string // reason and hint
	moves []Move
	wait  time.Duration
	timer *time.Timer // nil if no try is due
}

// tooMany is the SQLSTATE for too many connections.
const tooMany = "53300"

// NoRoom returns why a server or a pooler accepts no more connections, and what to do. It returns "" for other errors. The
// statement was not sent, and the server works.
func NoRoom(err error) string {
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case !ok:
		return ""
	case pgbouncer.Full(AsPgBouncer(e)):
		return pgbouncer.Hint(AsPgBouncer(e))
	case e.Code == tooMany:
		return "the server accepts no more connections (" + e.Message + "): raise its max_connections, or use fewer here"
	}
	return ""
}

// Move is a change of the number of connections that the pool may have.
type Move struct {
	At       time.Time
	Old, Now int
	Why      string
}

func (r *room) moved(old, now int, why string) {
	r.moves = append(r.moves, Move{time.Now(), old, now, why})
}

// Moves returns the changes since the last call.
func (p *Pool) Moves() []Move {
	p.mu.Lock()
	defer p.mu.Unlock()
	moves := p.room.moves
	p.room.moves = nil
	return moves
}

// WhyFull returns why the pool cannot open more connections, or "" if it can.
func (p *Pool) WhyFull() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.room.full {
		return ""
	}
	return p.room.why
}

// Refuse records that a connection was refused, and why. Statements then wait for open connections until a try succeeds.
func (p *Pool) Refuse(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	r := &p.room
	most := p.established()
	if !r.full {
		_, all := p.sizes()
		r.moved(all, most, why)
	}
	r.full, r.most, r.why = true, most, why
	p.limit()
	if r.timer == nil {
		r.wait = min(max(2*r.wait, leastFull), mostFull)
		r.timer = time.AfterFunc(r.wait, p.tryAgain)
	}
}

// tryAgain lets a statement open one more connection.
func (p *Pool) tryAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.room.timer = nil
	p.widen()
}

// Opened records that a connection was accepted, and allows another try.
func (p *Pool) Opened() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.room.full {
		p.room.wait = 0
		p.widen()
	}
}

// widen allows one more connection than are open. mu is held.
func (p *Pool) widen() {
	r := &p.room
	if !r.full || p.closed {
		return
	}
	r.most = max(r.most, p.established()) + 1
	_, all := p.sizes()
	if r.most >= all {
		r.full = false
		r.moved(r.most, all, "there is room for connections again")
	}
	p.limit()
}

// established returns the number of open connections, without those that are being opened.
func (p *Pool) established() (n int) {
	for _, of := range p.pools() {
		stat := of.Stat()
		n += int(stat.AcquiredConns() + stat.IdleConns())
	}
	return n
}

// use counts connections in use, and the most of them since the last take.
type use struct{ now, most atomic.Int64 }

func (u *use) begin() {
	now := u.now.Add(1)
	for {
		most := u.most.Load()
		if now <= most || u.most.CompareAndSwap(most, now) {
			return
		}
	}
}

func (u *use) end() { u.now.Add(-1) }

// take returns the most since the last call.
func (u *use) take() int {
	now := u.now.Load()
	return int(max(u.most.Swap(now), now))
}

// spare returns the number of open connections beyond the most that were in use since the last call.
func (p *Pool) spare() int { return max(p.established()-p.used.take(), 0) }

// CloseSpare closes the idle connections beyond the most that were in use since the last call.
func (p *Pool) CloseSpare() { p.giveBack(p.spare()) }

// giveBack closes up to n idle connections.
func (p *Pool) giveBack(n int) {
	var closing sync.WaitGroup
	for _, of := range p.pools() {
		for _, conn := range of.AcquireAllIdle(context.Background()) {
			if n <= 0 {
				conn.Release()
				continue
			}
			n--
			closing.Go(func() { closeOne(conn) })
		}
	}
	closing.Wait()
}

// closeOne closes a connection of a pool and releases its slot.
func closeOne(conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = conn.Conn().Close(ctx)
	conn.Release()
}

// tooMany returns how many connections are kept in excess of the limit.
func (p *Pool) tooMany() int {
	if p.kept == nil {
		return 0
	}
	stat := p.kept.Stat()
	return int(int64(stat.AcquiredConns()+stat.IdleConns()) - p.keep.Load())
}

func (p *Pool) pools() []*pgxpool.Pool {
	if p.kept == nil {
		return nil
	}
	if p.burst == nil {
		return []*pgxpool.Pool{p.kept}
	}
	return []*pgxpool.Pool{p.kept, p.burst}
}
