package service

import "context"

// Clients returns how many clients the server has, from everywhere, and how many it takes (max_connections). It asks on
// a connection of the pool beside those that statements have.
func (p *Postgres) Clients(ctx context.Context) (clients, most int, err error) {
	conn, err := p.pool.kept.Acquire(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer conn.Release()
	// A user without pg_read_all_stats is not told what the processes of others are; those of clients have a database
	// and a user.
	err = conn.QueryRow(ctx, `SELECT (SELECT count(*) FROM pg_stat_activity
			WHERE backend_type = 'client backend' OR backend_type IS NULL AND datid IS NOT NULL AND usesysid IS NOT NULL),
		current_setting('max_connections')::int`).Scan(&clients, &most)
	return clients, most, err
}
