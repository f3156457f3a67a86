package app

import (
	"cmp"

	"github.com/throng-sim/throng/cmd/internal/app/clients"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres"
)

// sinkConnections is the default number of connections for sending results.
const sinkConnections = 8

// allowance returns a function from the number of connections that other clients leave on a server to the number that a
// pool may open. It takes Throng's configured share, subtracts the connections that send results, and divides the rest
// among the pools of the same server by their sizes.
func (l Services) allowance(s *chain.Service, at *database.Server) func(free int) int {
	share := postgres.DefaultShare
	taken := 0
	if l.Remote != nil {
		db := l.Remote.Database()
		share = cmp.Or(db.Limits.Share, share)
		if db.URL != "" && clients.Server(db.Target()) == clients.Server(at.Target()) {
			taken = cmp.Or(db.Limits.Connections, sinkConnections)
		}
	}
	own, all := poolSize(s), 0
	for _, other := range l.Scenario.Services {
		if other.Postgres == nil {
			continue
		}
		if d, _, err := l.database(other); err == nil && clients.Server(d.Target()) == clients.Server(at.Target()) {
			all += poolSize(other)
		}
	}
	all = max(all, own)
	return func(free int) int { return (free*share/100 - taken) * own / all }
}

func poolSize(s *chain.Service) int { return s.Postgres.Limits.Size() }
