package service

import (
	"context"

	"github.com/throng-sim/throng/engine/service/database"
)

// Clients asks the server for its clients, on a connection in addition to those of statements.
func (p *Postgres) Clients(ctx context.Context) (database.Clients, error) { return p.pool.Clients(ctx) }

// GiveBack closes the idle connections beyond the most that were in use since the last call.
func (p *Postgres) GiveBack() { p.pool.CloseSpare() }

// Held returns how many of the server's clients are connections of this pool, in use and idle. Behind a pooler both are 0, because
// the connections are the pooler's.
func (p *Postgres) Held() (inUse, idle int) {
	if p.pooled.Load() {
		return 0, 0
	}
	f := p.pool.State()
	return f.InUse, f.Idle
}

// Target names the database without user and password: host:port/database.
func (p *Postgres) Target() string { return p.database.Target() }
