package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
	"github.com/throng-sim/throng/storage/sqlite"
)

// pushedCycles are as many of the shoppers as make 100,000 sessions with three events each.
const pushedCycles = 269

func pushRow() row {
	return row{
		name: "9",
		what: "100,000 sessions and their 300,000 events sent to Postgres",
		sides: []side{
			{name: "Throng", prepare: postgresServer, run: func(ctx context.Context, e env) (figures, error) { return withPushed(ctx, e, pushed) }},
			{name: "bare pgx CopyFrom", prepare: postgresServer, run: func(ctx context.Context, e env) (figures, error) { return withPushed(ctx, e, copied) }},
		},
		shown:  []string{"rows/s", "peak MB"},
		ratios: []ratio{{name: "rows/s, of those of CopyFrom", must: 0.7, aim: 0.9, of: over(0, "rows/s", 1, "rows/s")}},
		note: "Both into empty tables of the same schema, on a server of their own on this machine. Throng reads its rows from the local store " +
			"and confirms there what has arrived; CopyFrom has them in memory.",
	}
}

// postgresServer tells whether there is one to be started, and its version.
func postgresServer(ctx context.Context, _ env) (version string, err error) {
	server, err := pgtest.Start(pgtest.Options{})
	if errors.Is(err, pgtest.ErrMissing) {
		return "", missingError("PostgreSQL's server programs are not installed")
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	conn, err := pgx.Connect(ctx, server.URL(pgtest.User, "postgres"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return "PostgreSQL " + conn.PgConn().ParameterStatus("server_version"), nil
}

// withPushed pushes a run to a server, as both sides need, and returns how long that took.
func withPushed(ctx context.Context, e env, measure func(p *pushing, took time.Duration) (figures, error)) (f figures, err error) {
	server, err := pgtest.Start(pgtest.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	store, err := openStore(e.dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	p := &pushing{ctx, server, store}
	took, err := p.push()
	if err != nil {
		return nil, err
	}
	return measure(p, took)
}

// pushing is a server and a store with a run.
type pushing struct {
	ctx    context.Context
	server *pgtest.Server
	store  *sqlite.Store
}

// empty makes a database with Throng's schema and no rows, and returns its pusher.
func (p *pushing) empty(name string) (*postgres.Pusher, error) {
	conn, err := pgx.Connect(p.ctx, p.server.URL(pgtest.User, "postgres"))
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(p.ctx, "CREATE DATABASE "+name)
	if err := errors.Join(err, conn.Close(p.ctx)); err != nil {
		return nil, err
	}
	pusher, err := postgres.NewPusher(postgres.PusherConfig{
		Database: postgres.Config{URL: p.server.URL(pgtest.User, name)}, Outbox: p.store, Logger: slog.New(slog.DiscardHandler),
		Names: func(context.Context, engine.RunID) (storage.Names, error) { return pushedNames, nil },
	})
	if err != nil {
		return nil, err
	}
	pusher.Start()
	return pusher, pusher.Drain(p.ctx, middleRun) // nothing is subscribed: it has only connected
}

var pushedNames = storage.Names{
	Agent:   func(index int) (string, error) { return fmt.Sprintf("shopper-%d", index+1), nil },
	Session: func(cycle, agent int) string { return engine.SeedUUID(1, cycle, agent) },
}

// push sends a run to the database "pushed".
func (p *pushing) push() (took time.Duration, err error) {
	if err := journalShoppers(p.ctx, p.store, middleRun, pushedCycles); err != nil {
		return 0, err
	}
	pusher, err := p.empty("pushed")
	if err != nil {
		return 0, err
	}
	if err := p.store.Subscribe(p.ctx, middleRun, pusher.Target()); err != nil {
		return 0, err
	}
	began := time.Now()
	if err := pusher.Drain(p.ctx, middleRun); err != nil {
		return 0, err
	}
	took = time.Since(began)
	return took, pusher.Close(p.ctx)
}

// pushed is the figures of that.
func pushed(p *pushing, took time.Duration) (figures, error) {
	conn, err := pgx.Connect(p.ctx, p.server.URL(pgtest.User, "pushed"))
	if err != nil {
		return nil, err
	}
	var rows int
	err = conn.QueryRow(p.ctx, `SELECT (SELECT count(*) FROM throng.sessions) + (SELECT count(*) FROM throng.events)`).Scan(&rows)
	if err := errors.Join(err, conn.Close(p.ctx)); err != nil {
		return nil, err
	}
	if want := pushedCycles * shoppers * 4; rows != want {
		return nil, fmt.Errorf("%d rows arrived, not %d", rows, want)
	}
	return figures{"rows/s": float64(rows) / took.Seconds(), "peak MB": ownPeak()}, nil
}

// copied reads the rows that have arrived and copies them into empty tables with nothing but pgx.
func copied(p *pushing, _ time.Duration) (figures, error) {
	from, err := pgx.Connect(p.ctx, p.server.URL(pgtest.User, "pushed"))
	if err != nil {
		return nil, err
	}
	pusher, err := p.empty("copied")
	if err != nil {
		return nil, err
	}
	to, err := pgx.Connect(p.ctx, p.server.URL(pgtest.User, "copied"))
	if err != nil {
		return nil, err
	}
	rows, took := 0, time.Duration(0)
	for _, table := range []string{"sessions", "events"} {
		columns, values, err := readRows(p.ctx, from, table)
		if err != nil {
			return nil, err
		}
		began := time.Now()
		n, err := to.CopyFrom(p.ctx, pgx.Identifier{"throng", table}, columns, pgx.CopyFromRows(values))
		if err != nil {
			return nil, err
		}
		rows, took = rows+int(n), took+time.Since(began)
	}
	f := figures{"rows/s": float64(rows) / took.Seconds(), "peak MB": ownPeak()}
	return f, errors.Join(pusher.Close(p.ctx), from.Close(p.ctx), to.Close(p.ctx))
}

// readRows reads a table in the order in which it was filled. JSON stays the text that it is.
func readRows(ctx context.Context, conn *pgx.Conn, table string) (columns []string, all [][]any, err error) {
	rows, err := conn.Query(ctx, "SELECT * FROM throng."+table+" ORDER BY ctid")
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		values, err := rows.Values()
		if err != nil {
			return nil, nil, err
		}
		for i, c := range rows.FieldDescriptions() {
			if c.DataTypeOID == pgtype.JSONOID && values[i] != nil {
				values[i] = string(rows.RawValues()[i])
			}
		}
		all = append(all, values)
	}
	for _, c := range rows.FieldDescriptions() {
		columns = append(columns, c.Name)
	}
	return columns, all, rows.Err()
}
