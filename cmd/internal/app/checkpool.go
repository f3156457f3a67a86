package app

import (
	"context"
	"fmt"
	"sync"

	"github.com/throng-sim/throng/cmd/internal/app/clients"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/service/database"
	"github.com/throng-sim/throng/storage/postgres"
)

// poolStatements bounds the statements that checkPool sends.
const poolStatements = 4

// checkPool checks the database of sql steps, and opens as many connections as the pool may have.
func (l checks) checkPool(ctx context.Context, o PlannedService) engine.Check {
	d, _, err := l.database(o.Service)
	if err != nil {
		return failedCheck(err)
	}
	for range poolStatements {
		if err := payRequest(ctx); err != nil {
			return unknown("not checked: %v", err)
		}
	}
	text, err := d.Check(ctx)
	if err != nil {
		return withFix(failedCheck(err), engine.FixAgain, "")
	}
	wanted := poolSize(o.Service)
	allowed, pooled, super, instead := wanted, false, "", ""
	if conn, err := d.Connect(ctx); err == nil {
		super, instead = d.Superuser(ctx, conn)
		clients, err := database.CountClients(ctx, conn)
		if pooled = clients.Pooled; err == nil && !pooled { // a pooler may not report its clients
			allowed = max(min(wanted, l.allowance(o.Service, d)(clients.Free()+1)), 1) // this check's own connection closes
		}
		_ = conn.Close(ctx)
	}
	t := clients.TryPool(ctx, allowed, d.Connect)
	switch {
	case t.Opened < t.Wanted:
		return withFix(warning("steps would wait for a connection", "%s; opened only %d of %s: %v",
			text, t.Opened, plural(int64(t.Wanted), "connection", "connections"), t.Err), engine.FixAgain, "")
	case super != "":
		return warning(instead, "%s; %s", text, super)
	case pooled:
		return fine("%s; opened %s; set limits.connections to the pooler's default_pool_size, because timeouts include the wait inside the pooler",
			text, plural(int64(allowed), "connection", "connections"))
	case allowed < wanted:
		return fine("%s; opened %s of %d configured; the rest is left for other clients", text, plural(int64(allowed), "connection", "connections"), wanted)
	}
	return fine("%s; opened %s", text, plural(int64(allowed), "connection", "connections"))
}

// databaseItems lists the checks of the database that results go to. They share one query.
func (l checks) databaseItems(db config.Database) []item {
	switch {
	case db.URL == "":
		return []item{{"Database", "", func(context.Context) engine.Check {
			return fine("results are stored on this machine; no database is configured")
		}}}
	case !l.Settings.Remote:
		return []item{{"Database", "", func(context.Context) engine.Check {
			return fine("results of this run stay on this machine; you can send them later")
		}}}
	}
	cfg, err := db.Config()
	if err != nil {
		return []item{{"Database", "", func(context.Context) engine.Check { return withFix(failedCheck(err), engine.FixSettings, "") }}}
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
				return unknown("the database does not answer")
			}
			return c.find(r, err, cfg)
		}})
	}
	return append(all, item{"Pool", "Pool " + key, func(ctx context.Context) engine.Check {
		r, err := ask(ctx)
		if err != nil {
			return unknown("the database does not answer")
		}
		return checkSink(ctx, r, cfg)
	}})
}

// databaseChecks is the table of all checks of the database server before results are sent to it.
var databaseChecks = []struct {
	name string
	find func(r *postgres.Report, err error, cfg postgres.Config) engine.Check
}{
	{"Database", checkServer},
	{"Server connections", checkClients},
	{"Idle in a transaction", checkIdle},
	{"Database size", checkSize},
}

func checkServer(r *postgres.Report, err error, _ postgres.Config) engine.Check {
	if err != nil {
		return withFix(warning("nothing is lost: results stay on this machine until the database answers", "%v", err), engine.FixSettings, "")
	}
	return fine("PostgreSQL %s, %s, answers in %s; this user %s", r.Version, r.TLS, engine.FormatDuration(r.RoundTrip), r.Rights)
}

func checkClients(r *postgres.Report, _ error, cfg postgres.Config) engine.Check {
	most := r.MaxConnections - r.Kept
	if most <= 0 {
		return unknown("%s does not report it", r.Target)
	}
	used := float64(r.InUse) / float64(most)
	text := fmt.Sprintf("%d of %d in use; %d more reserved for superusers", r.InUse, most, r.Kept)
	wanted := configured(cfg)
	switch {
	case used >= fullShare:
		return withFix(problem("find the clients in pg_stat_activity", "%s", text), engine.FixAgain, "")
	case r.Share > 0 && r.Share < wanted && !r.Pooler:
		return withFix(warning("leave the other connections to the backend under test", "%s; Throng may use %d to send results, but %d are configured", text, r.Share, wanted),
			engine.FixConnections, fmt.Sprint(r.Share))
	case used >= busyShare:
		return withFix(warning("find the clients in pg_stat_activity", "%s", text), engine.FixAgain, "")
	}
	return fine("%s; Throng uses up to %d to send results", text, wanted)
}

// configured returns the maximum number of connections for sending results.
func configured(cfg postgres.Config) int {
	if cfg.Connections > 0 {
		return cfg.Connections
	}
	return sinkConnections
}

func checkIdle(r *postgres.Report, _ error, _ postgres.Config) engine.Check {
	switch {
	case r.MaxConnections <= 0:
		return unknown("%s does not report it", r.Target)
	case r.IdleInTransaction > 0:
		return withFix(warning("find them in pg_stat_activity: each holds a connection, and possibly locks", "%s", plural(int64(r.IdleInTransaction), "client", "clients")),
			engine.FixAgain, "")
	case r.Hidden > 0:
		return unknown("none visible to this user; %s hidden", plural(int64(r.Hidden), "client is", "clients are"))
	}
	return fine("none")
}

func checkSize(r *postgres.Report, _ error, _ postgres.Config) engine.Check {
	if r.SizeBytes == 0 {
		return unknown("%s does not report it", r.Target)
	}
	return fine("%s; SQL cannot report the free disk space", engine.FormatBytes(r.SizeBytes))
}

// checkSink opens the connections for sending results.
func checkSink(ctx context.Context, r *postgres.Report, cfg postgres.Config) engine.Check {
	wanted := configured(cfg)
	if r.Share > 0 {
		wanted = min(wanted, r.Share)
	}
	t := clients.TryPool(ctx, wanted, cfg.Connect)
	if t.Opened < t.Wanted {
		c := warning("", "opened only %d of %s: %v", t.Opened, plural(int64(t.Wanted), "connection", "connections"), t.Err)
		return withFix(c, engine.FixConnections, fmt.Sprint(max(t.Opened, 1)))
	}
	return fine("opened %s in %s", plural(int64(t.Opened), "connection", "connections"), engine.FormatDuration(t.Took))
}
