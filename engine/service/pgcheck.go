package service

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/throng-sim/throng/engine"
)

// Check asks the database something and says in words what it is and how many connections it has free. Its error is in
// words too.
func (d *Database) Check(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, d.config.ConnConfig.Copy())
	if err != nil {
		return "", d.inWords(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	began := time.Now()
	var one int
	if err := conn.QueryRow(ctx, "SELECT 1").Scan(&one); err != nil {
		return "", d.inWords(err)
	}
	took := time.Since(began)
	free := ""
	if c, err := CountClients(ctx, conn); err == nil { // a pooler need not know
		free = fmt.Sprintf(", %d connections free", c.Free())
		if c.Pooled {
			free += " behind a pooler"
		}
	}
	secure := "not encrypted"
	if _, ok := conn.PgConn().Conn().(*tls.Conn); ok {
		secure = "encrypted"
	}
	return fmt.Sprintf("PostgreSQL %s answered in %s%s, %s",
		conn.PgConn().ParameterStatus("server_version"), engine.FormatDuration(took), free, secure), nil
}

// Connect opens one connection, as the steps would. Its error is in words.
func (d *Database) Connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, d.config.ConnConfig.Copy())
	if err != nil {
		return nil, d.inWords(err)
	}
	return conn, nil
}

// inWords explains an error of a check.
func (d *Database) inWords(err error) error {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return errors.New(hinted(fmt.Sprintf("%s refused: %s (SQLSTATE %s)", d.Target(), said.Message, said.Code), said))
	}
	return errors.New(d.unreachable(err))
}
