package service

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine/service/database"
)

// learn asks the server on its first connection for its limits, so that the others can be opened. A limit that it does not
// report does not apply.
func (p *Postgres) learn(ctx context.Context, conn *pgx.Conn) error {
	defer p.pool.Opened()
	if p.learned.Load() {
		return nil
	}
	c, err := database.CountClients(ctx, conn)
	if _, silent := errors.AsType[*pgconn.PgError](err); silent {
		err, c = nil, database.Clients{Pooled: true} // a server other than PostgreSQL limits its connections itself
	}
	if err != nil {
		return err
	}
	p.ownLimit.Store(c.LimitsStatements())
	p.Share(c, 1) // this connection
	p.learned.Store(true)
	return nil
}

// Share limits the pool to its share of the connections that other clients leave. own of the server's clients are Throng's. The
// share includes one connection for questions about clients.
func (p *Postgres) Share(c database.Clients, own int) {
	p.pooled.Store(c.Pooled)
	switch {
	case c.Pooled: // the pooler limits them
		p.pool.Allow(0)
	case p.limits.Allow != nil:
		p.pool.Allow(max(p.limits.Allow(c.Max-c.Reserved-max(c.All-own, 0))-1, 1))
	default:
		p.pool.Allow(0)
	}
}

// limitStep rounds the server's time limit up, so that its statistics contain few different statements.
const limitStep = 5 * time.Second

// graceTime is how long the server may continue a statement after the client gave up and canceled it: the cancellation may not have
// arrived.
const graceTime = 5 * time.Second

// serverLimit returns the server's time limit for a statement that the client awaits for patience, in milliseconds; 0 if the server
// has a limit of its own.
func (p *Postgres) serverLimit(patience time.Duration) int64 {
	if p.ownLimit.Load() {
		return 0
	}
	return int64((patience+graceTime+limitStep-1)/limitStep) * limitStep.Milliseconds()
}
