package service

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine/service/database"
)

// learn asks a server on its first connection what bounds there are, so that the others can be opened. What it does not
// say is no bound.
func (p *Postgres) learn(ctx context.Context, conn *pgx.Conn) error {
	defer p.pool.Opened()
	if p.learnt.Load() {
		return nil
	}
	c, err := database.CountClients(ctx, conn)
	if _, silent := errors.AsType[*pgconn.PgError](err); silent {
		err, c = nil, database.Clients{Pooled: true} // what is no PostgreSQL itself bounds its connections itself
	}
	if err != nil {
		return err
	}
	p.ownLimit.Store(c.LimitsStatements())
	p.Share(c, 1) // this connection
	p.learnt.Store(true)
	return nil
}

// Share has the pool keep to its share of what other clients leave of a server, of whose clients own are Throng's. The
// share is that of all connections of the pool: one is for the questions about the server's clients.
func (p *Postgres) Share(c database.Clients, own int) {
	p.pooled.Store(c.Pooled)
	switch {
	case c.Pooled: // a pooler bounds them
		p.pool.Allow(0)
	case p.limits.Allow != nil:
		p.pool.Allow(max(p.limits.Allow(c.Max-c.Reserved-max(c.All-own, 0))-1, 1))
	default:
		p.pool.Allow(0)
	}
}

// limitStep is what the server's limit is rounded up to, so that its statistics see few different statements.
const limitStep = 5 * time.Second

// graceTime is how long a server goes on with a statement after this side gave it up, and has asked it to stop: that may
// not have arrived.
const graceTime = 5 * time.Second

// serverLimit is how long the server is to work on a statement that is awaited for a time, in milliseconds; 0 is that it has
// a limit of its own.
func (p *Postgres) serverLimit(patience time.Duration) int64 {
	if p.ownLimit.Load() {
		return 0
	}
	return int64((patience+graceTime+limitStep-1)/limitStep) * limitStep.Milliseconds()
}
