package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine"
)

// removeRows is the number of rows that one statement deletes. Short statements delay other clients less.
const removeRows = 10_000

// Weight is the size of a run in a database.
type Weight struct {
	Sessions, Events int64
	Rows             int64 // of all tables
}

// Weigh counts the rows of a run in a database. Its errors are explained for users.
func Weigh(ctx context.Context, c Config, run engine.RunID) (w Weight, err error) {
	err = c.alone(ctx, func(conn *pgx.Conn) error {
		tables, err := runTables(ctx, conn)
		if err != nil {
			return err
		}
		for _, t := range tables {
			var n int64
			if err := conn.QueryRow(ctx, `SELECT count(*) FROM `+t.name+` WHERE `+t.column+` = $1`, string(run)).Scan(&n); err != nil {
				return err
			}
			w.Rows += n
			switch t.name {
			case "throng.sessions":
				w.Sessions = n
			case "throng.events":
				w.Events = n
			}
		}
		return nil
	})
	return w, err
}

// Remove deletes the rows of a run from a database in many statements, and returns how many it deleted. The row of the run
// is deleted last, so that the run can be found after an error. No process should send the run in the meantime. Errors are
// explained for users.
func Remove(ctx context.Context, c Config, run engine.RunID) (rows int64, err error) {
	err = c.alone(ctx, func(conn *pgx.Conn) error {
		tables, err := runTables(ctx, conn)
		if err != nil {
			return err
		}
		for _, t := range tables {
			query := fmt.Sprintf(`DELETE FROM %[1]s WHERE ctid = ANY (ARRAY(SELECT ctid FROM %[1]s WHERE %[2]s = $1 LIMIT %[3]d))`, t.name, t.column, removeRows)
			for {
				tag, err := conn.Exec(ctx, query, string(run))
				if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == "42501" {
					user := conn.Config().User
					return &fault{"user " + user + " may not delete rows: GRANT DELETE ON ALL TABLES IN SCHEMA throng TO " + quote(user), err}
				}
				if err != nil {
					return err
				}
				rows += tag.RowsAffected()
				if tag.RowsAffected() < removeRows {
					break
				}
			}
		}
		return nil
	})
	return rows, err
}

// runTable is a table with rows of runs, and its column with the ID of the run.
type runTable struct{ name, column string }

// runTables returns the tables that exist in this version of the schema. The table of runs is last.
func runTables(ctx context.Context, conn *pgx.Conn) ([]runTable, error) {
	if _, err := schemaVersion(ctx, conn); err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, `SELECT quote_ident(n.nspname) || '.' || quote_ident(c.relname), quote_ident(a.attname)
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
		WHERE n.nspname = 'throng' AND c.relkind IN ('r', 'p') AND a.attname = CASE c.relname WHEN 'runs' THEN 'id' ELSE 'run' END
		ORDER BY c.relname = 'runs', c.relname`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (t runTable, err error) {
		err = row.Scan(&t.name, &t.column)
		return t, err
	})
}
