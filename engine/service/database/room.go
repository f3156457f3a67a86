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

// After a server or pooler had no room for another connection, one is tried again after leastFull, and twice as long
// after each try that failed, up to mostFull.
const leastFull, mostFull = 200 * time.Millisecond, 5 * time.Second

// room is how many connections a server or pooler lets the pool have, while that is fewer than the pool would open. The
// zero value is that it has room.
//
//	room ── refused for want of room ──▶ full: as many as are open ── time is over ──▶ one more is tried
//	  ▲                                        ▲ ◀──── refused ───────────────────────────────┤
//	  └────────── all are open that may ───────┴────── opened: one more at once ◀─────────────┘
type room struct {
	full  bool
	most  int    // while it is full
	why   string // it is, in words
	moves []Move
	wait  time.Duration
	timer *time.Timer // nil is that none is due
}

// tooMany is the SQLSTATE of a server that has as many connections as it accepts.
const tooMany = "53300"

// NoRoom returns why a server or a pooler accepts no more connections, in words with what to do; "" is that this is not
// why it failed. Nothing was asked, and it works.
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

// roomMove is a change of how many connections the pool may have.
type Move struct {
	At       time.Time
	Old, Now int
	Why      string
}

func (r *room) moved(old, now int, why string) {
	r.moves = append(r.moves, Move{time.Now(), old, now, why})
}

// roomMoves returns what changed since it was called last.
func (p *Pool) Moves() []Move {
	p.mu.Lock()
	defer p.mu.Unlock()
	moves := p.room.moves
	p.room.moves = nil
	return moves
}

// noRoomNow says why there is no room for as many connections as the pool would open; "" is that there is.
func (p *Pool) WhyFull() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.room.full {
		return ""
	}
	return p.room.why
}

// refused notes that there was no room for another connection, and why. Statements wait for those that are open until a
// try succeeds.
func (p *Pool) Refuse(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	r := &p.room
	most := p.established()
	if !r.full {
		r.moved(p.wanted+p.BurstSize, most, why)
	}
	r.full, r.most, r.why = true, most, why
	p.limit()
	if r.timer == nil {
		r.wait = min(max(2*r.wait, leastFull), mostFull)
		r.timer = time.AfterFunc(r.wait, p.tryAgain)
	}
}

// tryAgain lets a statement open one connection more.
func (p *Pool) tryAgain() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.room.timer = nil
	p.widen()
}

// Opened notes that there was room for a connection, and lets another be tried at once.
func (p *Pool) Opened() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.room.full {
		p.room.wait = 0
		p.widen()
	}
}

// widen allows one connection more than are open. mu is held.
func (p *Pool) widen() {
	r := &p.room
	if !r.full || p.closed {
		return
	}
	r.most = max(r.most, p.established()) + 1
	all := p.wanted + p.BurstSize
	if p.ceiling > 0 {
		all = min(all, p.ceiling)
	}
	if r.most >= all {
		r.full = false
		r.moved(r.most, all, "there is room for connections again")
	}
	p.limit()
}

// established is how many connections are open, without those that are about to be.
func (p *Pool) established() (n int) {
	for _, of := range p.pools() {
		stat := of.Stat()
		n += int(stat.AcquiredConns() + stat.IdleConns())
	}
	return n
}

// use counts connections in use, and the most of them since it was asked last.
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

// take returns the most since it was asked last.
func (u *use) take() int {
	now := u.now.Load()
	return int(max(u.most.Swap(now), now))
}

// spare is how many connections are open beyond the most that were in use since it was asked last.
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

// closeOne closes a connection of a pool and gives its place back.
func closeOne(conn *pgxpool.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = conn.Conn().Close(ctx)
	conn.Release()
}

// tooMany is how many more connections the pool that keeps them has than it may.
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
