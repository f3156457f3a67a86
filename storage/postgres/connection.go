package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine"
)

// poolTime is how long connections may take to be closed while somebody waits.
const poolTime = time.Second

// connect opens the pool if there is none that works.
func (p *Pusher) connect() error {
	if p.suspect.Swap(false) {
		p.disconnect()
	}
	if p.pool.Load() != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.open, p.limits.Statement)
	defer cancel()
	// Where there is no schema nothing of ours is left, whatever was confirmed: a person dropped it, or the database is
	// another one of that name.
	pool, f, err := p.config.Database.open(ctx, func() error { return p.config.Outbox.Resend(ctx, p.target) })
	if err != nil {
		return err
	}
	p.pool.Store(pool)
	p.staged = true // nobody knows what became of the last batch
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

// none is the pool while nothing is open.
func (p *Pusher) none() engine.Pool {
	return engine.Pool{Size: p.limits.Connections, Waiting: int(p.waiting.Load())}
}

// closePool does not wait for a server that has gone silent: the driver gives such a connection up after 15 s.
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

// giveBack closes the idle connections of a pool but one.
func giveBack(pool *pgxpool.Pool) {
	for i, conn := range pool.AcquireAllIdle(context.Background()) {
		if i > 0 {
			ctx, cancel := context.WithTimeout(context.Background(), poolTime)
			_ = conn.Conn().Close(ctx)
			cancel()
		}
		conn.Release()
	}
}

// lost says that nothing can be sent. The next pass connects anew.
func (p *Pusher) lost(err error) {
	p.disconnect()
	if !p.down {
		p.down = true
		p.config.Logger.Warn("the remote database takes no rows; they are kept and sent later", "database", p.target, "error", err)
		p.status.set(func(s *Status) { s.Since = time.Now() })
	}
	p.status.set(func(s *Status) { s.Error = err.Error() })
}

// up says that the database takes rows.
func (p *Pusher) up() {
	if p.down {
		p.config.Logger.Info("the remote database takes rows again", "database", p.target)
		p.status.set(func(s *Status) { s.Error, s.Since = "", time.Time{} })
	}
	p.down = false
	p.status.set(func(s *Status) { s.Connected = true })
}

// passed says what became of the runs of a round that was not cut short.
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
