package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/throng-sim/throng/engine"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock that protects migrations: "throng" in ASCII.
const migrationLock = 0x7468726f6e67

type migration struct {
	version int
	name    string
	text    string
}

// allMigrations returns the migrations in ascending order of their versions, which may have gaps.
func allMigrations() []migration {
	files, err := migrations.ReadDir("migrations")
	if err != nil {
		panic(err) // embedded
	}
	all := make([]migration, len(files))
	for i, f := range files {
		text, err := migrations.ReadFile("migrations/" + f.Name())
		number, name, _ := strings.Cut(strings.TrimSuffix(f.Name(), ".sql"), "_")
		version, notNumber := strconv.Atoi(number)
		if err := errors.Join(err, notNumber); err != nil || i > 0 && version <= all[i-1].version {
			panic(fmt.Sprintf("migration %s: %v", f.Name(), err))
		}
		all[i] = migration{version, name, string(text)}
	}
	return all
}

// newestSchema returns the version of the schema that this program needs.
func newestSchema() int {
	all := allMigrations()
	return all[len(all)-1].version
}

// migrate migrates the schema in one transaction. If the schema is newer than this program, it returns ErrNewer and changes
// nothing. The lock belongs to the transaction, not to the session as in goose's locker: behind a transaction pooler the
// next statement may run in another session.
func migrate(ctx context.Context, conn *pgx.Conn) error {
	all := allMigrations()
	version, err := schemaVersion(ctx, conn)
	if err != nil || version == newestSchema() { // without a lock, which users who may only read and write do not need
		return err
	}
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, migrationLock); err != nil {
			return err
		}
		version, err := schemaVersion(ctx, tx)
		if err != nil {
			return err
		}
		for _, m := range all {
			if m.version <= version {
				continue
			}
			if _, err := tx.Exec(ctx, m.text, pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("migrate the schema to version %d: %w", m.version, err)
			}
			if _, err := tx.Exec(ctx, `INSERT INTO throng.migrations (version, name) VALUES ($1, $2)`, m.version, m.name); err != nil {
				return fmt.Errorf("migrate the schema to version %d: %w", m.version, err)
			}
		}
		return nil
	})
}

type querier interface {
	QueryRow(ctx context.Context, query string, args ...any) pgx.Row
}

// schemaVersion returns the version of the schema, or 0 if there is none. It returns ErrNewer with a version that this
// program does not know.
func schemaVersion(ctx context.Context, q querier) (version int, err error) {
	var there bool
	// Reading the catalog requires no right on the schema.
	err = q.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'throng' AND c.relname = 'migrations')`).Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	if err := q.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM throng.migrations`).Scan(&version); err != nil {
		return 0, err
	}
	if newest := newestSchema(); version > newest {
		return version, fmt.Errorf("%w: the database's schema is version %d, this Throng knows %d; use the newer one, or another database", engine.ErrNewer, version, newest)
	}
	return version, nil
}
