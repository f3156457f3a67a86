package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine"
)

// poolTime is how long closing connections may take while a caller waits.
const poolTime = time.Second

// connect opens the pool, unless a working one is open.
func (p *Pusher) connect() error {
	if p.suspect.Swap(false) {
		p.disconnect()
	}
	if p.pool.Load() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.open, p.limits.Statement)
	defer cancel()
	// Without a schema, none of the confirmed rows exists: the schema was dropped, or the database was replaced.
	pool, f, err := p.config.Database.open(ctx, func() error { return p.config.Outbox.Resend(ctx, p.target) })
	if err != nil {
		return err
	}
	p.pool.Store(pool)
	p.staged = true // the result of the last batch is unknown
	p.status.set(func(s *Status) {
		s.figures(f)
		s.Pooled = f.Pooled
	})
	return nil
}

func (p *Pusher) disconnect() {
	if pool := p.pool.Swap(nil); pool != nil {
		closePool(pool)
	}
	p.status.set(func(s *Status) {
		s.Connected, s.Connections, s.Pool, s.Clients, s.MaxConnections = false, 0, p.none(), -1, -1
	})
}

// none returns the state of the pool while it is not open.
func (p *Pusher) none() engine.Pool {
	return engine.Pool{Size: p.limits.Connections, Waiting: int(p.waiting.Load())}
}

// closePool does not wait for a server that stopped responding. The driver drops such a connection after 15 s.
func closePool(pool *pgxpool.Pool) {
	closed := make(chan struct{})
	go func() {
		pool.Close()
		close(closed)
	}()
	late := time.NewTimer(poolTime)
	defer late.Stop()
	select {
	case <-closed:
	case <-late.C:
	}
}

// closeIdle closes all idle connections of a pool except one.
func closeIdle(pool *pgxpool.Pool) {
	for i, conn := range pool.AcquireAllIdle(context.Background()) {
		if i > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), poolTime)
			_ = conn.Conn().Close(ctx)
			cancel()
		}
		conn.Release()
	}
}

// lost records that nothing can be sent. The next pass reconnects.
func (p *Pusher) lost(err error) {
	p.disconnect()
	if !p.down {
		p.down = true
		p.config.Logger.Warn("the remote database does not accept rows; they are kept and sent later", "database", p.target, "error", err)
		p.status.set(func(s *Status) { s.Since = time.Now() })
	}
	p.status.set(func(s *Status) { s.Error = err.Error() })
}

// up records that the database accepts rows.
func (p *Pusher) up() {
	if p.down {
		p.config.Logger.Info("the remote database accepts rows again", "database", p.target)
		p.status.set(func(s *Status) { s.Error, s.Since = "", time.Time{} })
	}
	p.down = false
	p.status.set(func(s *Status) { s.Connected = true })
}

// passed records the result of a completed round.
func (p *Pusher) passed(r *round) {
	p.up()
	p.status.set(func(s *Status) {
		if len(r.failed) == 0 {
			s.Error, s.Since = "", time.Time{}
		} else if s.Error == "" {
			s.Since = time.Now()
		}
		for _, err := range r.failed {
			s.Error = err.Error()
		}
	})
}
