package app

import (
	"context"
	"fmt"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres"
)

// poolStatements is how many statements checkPool sends at most.
const poolStatements = 4

// checkPool asks the database of sql steps, and opens as many connections as they may have.
func (l checks) checkPool(ctx context.Context, o Outlook) engine.Check {
	d, _, err := l.database(o.Service)
	if err != nil {
		return refused(err)
	}
	for range poolStatements {
		if err := payRequest(ctx); err != nil {
			return unknown("not asked: %v", err)
		}
	}
	text, err := d.Check(ctx)
	if err != nil {
		return mended(refused(err), engine.MendAgain, "")
	}
	wanted := poolSize(o.Service)
	allowed, pooled, super, instead := wanted, false, "", ""
	if conn, err := d.Connect(ctx); err == nil {
		super, instead = d.Superuser(ctx, conn)
		clients, err := database.CountClients(ctx, conn)
		if pooled = clients.Pooled; err == nil && !pooled { // a pooler need not tell
			allowed = max(min(wanted, l.allowance(o.Service, d)(clients.Free()+1)), 1) // the one that asks goes
		}
		_ = conn.Close(ctx)
	}
	t := tryPool(ctx, allowed, d.Connect)
	switch {
	case t.opened < t.wanted:
		return mended(warning("its steps would wait for each other", "%s; only %d of %s opened at once: %v",
			text, t.opened, plural(int64(t.wanted), "connection", "connections"), t.err), engine.MendAgain, "")
	case super != "":
		return warning(instead, "%s; %s", text, super)
	case pooled:
		return fine("%s; %s open at once; more statements at once than the pooler's default_pool_size wait in it, and their clocks run: set limits.connections to that",
			text, plural(int64(allowed), "connection", "connections"))
	case allowed < wanted:
		return fine("%s; %s open at once, of %d configured: the rest is left to others", text, plural(int64(allowed), "connection", "connections"), wanted)
	}
	return fine("%s; %s open at once", text, plural(int64(allowed), "connection", "connections"))
}

// databaseItems are what the database that results go to must have. It is asked once for all of them.
func (l checks) databaseItems(db config.Database) []item {
	switch {
	case db.URL == "":
		return []item{{"Database", "", func(context.Context) engine.Check {
			return fine("the results are kept on this machine; Settings names no database")
		}}}
	case !l.Settings.Remote:
		return []item{{"Database", "", func(context.Context) engine.Check {
			return fine("the results of this run stay on this machine; they can be sent later")
		}}}
	}
	cfg, err := db.Config()
	if err != nil {
		return []item{{"Database", "", func(context.Context) engine.Check { return mended(refused(err), engine.MendSettings, "") }}}
	}
	key := fmt.Sprint(db.Target(), db.URL, db.CA, db.Limits, db.Password != "")
	var once sync.Once
	var report postgres.Report
	var failed error
	ask := func(ctx context.Context) (*postgres.Report, error) {
		once.Do(func() { report, failed = postgres.Check(ctx, cfg) })
		return &report, failed
	}
	var all []item
	for _, c := range databaseChecks {
		all = append(all, item{c.name, c.name + " " + key, func(ctx context.Context) engine.Check {
			r, err := ask(ctx)
			if err != nil && r.Version == "" && c.name != "Database" {
				return unknown("the database cannot be asked")
			}
			return c.find(r, err, cfg)
		}})
	}
	return append(all, item{"Pool", "Pool " + key, func(ctx context.Context) engine.Check {
		r, err := ask(ctx)
		if err != nil {
			return unknown("the database cannot be asked")
		}
		return checkSink(ctx, r, cfg)
	}})
}

// databaseChecks is the one table of what a server is asked before results are sent to it.
var databaseChecks = []struct {
	name string
	find func(r *postgres.Report, err error, cfg postgres.Config) engine.Check
}{
	{"Database", checkServer},
	{"Server's connections", checkClients},
	{"Idle in a transaction", checkIdle},
	{"Database size", checkSize},
}

func checkServer(r *postgres.Report, err error, _ postgres.Config) engine.Check {
	if err != nil {
		return mended(warning("the run keeps its results here and sends them when the database answers: nothing is lost", "%v", err), engine.MendSettings, "")
	}
	return fine("PostgreSQL %s, %s, answers in %s; this user %s", r.Version, r.TLS, engine.FormatDuration(r.RoundTrip), r.Rights)
}

func checkClients(r *postgres.Report, _ error, cfg postgres.Config) engine.Check {
	most := r.MaxConnections - r.Kept
	if most <= 0 {
		return unknown("%s does not tell", r.Target)
	}
	used := float64(r.InUse) / float64(most)
	text := fmt.Sprintf("%d of %d in use, %d more are kept for superusers", r.InUse, most, r.Kept)
	wanted := configured(cfg)
	switch {
	case used >= fullShare:
		return mended(problem("see in pg_stat_activity who holds them", "%s", text), engine.MendAgain, "")
	case r.Share > 0 && r.Share < wanted && !r.Pooler:
		return mended(warning("the rest is for the backend under simulation", "%s: Throng can have %d for its results, and %d are set", text, r.Share, wanted),
			engine.MendConnections, fmt.Sprint(r.Share))
	case used >= busyShare:
		return mended(warning("see in pg_stat_activity who holds them", "%s", text), engine.MendAgain, "")
	}
	return fine("%s; Throng takes %d at most for its results", text, wanted)
}

// configured is how many connections the sending of results may have.
func configured(cfg postgres.Config) int {
	if cfg.Connections > 0 {
		return cfg.Connections
	}
	return sinkConnections
}

func checkIdle(r *postgres.Report, _ error, _ postgres.Config) engine.Check {
	switch {
	case r.MaxConnections <= 0:
		return unknown("%s does not tell", r.Target)
	case r.IdleInTransaction > 0:
		return mended(warning("each holds a connection and perhaps locks: see pg_stat_activity", "%s", plural(int64(r.IdleInTransaction), "client", "clients")),
			engine.MendAgain, "")
	case r.Hidden > 0:
		return unknown("none that this user is told of; %s hidden from it", plural(int64(r.Hidden), "client is", "clients are"))
	}
	return fine("nobody")
}

func checkSize(r *postgres.Report, _ error, _ postgres.Config) engine.Check {
	if r.SizeBytes == 0 {
		return unknown("%s does not tell", r.Target)
	}
	return fine("%s; how much is free on its disk cannot be asked by SQL", engine.FormatBytes(r.SizeBytes))
}

// checkSink opens the connections that results would be sent by.
func checkSink(ctx context.Context, r *postgres.Report, cfg postgres.Config) engine.Check {
	wanted := configured(cfg)
	if r.Share > 0 {
		wanted = min(wanted, r.Share)
	}
	t := tryPool(ctx, wanted, cfg.Connect)
	if t.opened < t.wanted {
		c := warning("", "only %d of %s opened at once: %v", t.opened, plural(int64(t.wanted), "connection", "connections"), t.err)
		return mended(c, engine.MendConnections, fmt.Sprint(max(t.opened, 1)))
	}
	return fine("%s opened at once in %s", plural(int64(t.opened), "connection", "connections"), engine.FormatDuration(t.took))
}
