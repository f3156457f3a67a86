package database

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

// Check asks the database a question and returns a sentence about the server and its free connections. Its error is a sentence too.
func (d *Server) Check(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, d.Config.ConnConfig.Copy())
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
	if c, err := CountClients(ctx, conn); err == nil { // a pooler may not answer this
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

// Connect opens a connection as steps would. Its error is a sentence.
func (d *Server) Connect(ctx context.Context) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, d.Config.ConnConfig.Copy())
	if err != nil {
		return nil, d.inWords(err)
	}
	return conn, nil
}

// Superuser returns a warning and a hint if statements can have the rights of a superuser, who may read files and start programs on
// the server. Both are "" if they cannot, or if that is not known.
func (d *Server) Superuser(ctx context.Context, conn *pgx.Conn) (text, hint string) {
	var who string
	var super, roleSuper bool
	err := conn.QueryRow(ctx, `SELECT session_user, coalesce((SELECT rolsuper FROM pg_roles WHERE rolname = session_user), false),
		coalesce((SELECT rolsuper FROM pg_roles WHERE rolname = $1), false)`, d.Role).Scan(&who, &super, &roleSuper)
	switch {
	case err != nil:
		return "", ""
	case roleSuper:
		return "statements run as " + d.Role + ", a superuser", "another role, without superuser rights"
	case super && d.Role != "":
		return "statements run as " + d.Role + ", but SQL can return to " + who + ", a superuser", "sign in as a user without superuser rights"
	case super:
		return "statements run as " + who + ", a superuser, who may read files and start programs on the server",
			"sign in as a user without superuser rights, or give the service a role: NAME"
	}
	return "", ""
}

// inWords explains the error of a check.
func (d *Server) inWords(err error) error {
	if said, ok := errors.AsType[*pgconn.PgError](err); ok {
		return errors.New(Hinted(fmt.Sprintf("%s refused: %s (SQLSTATE %s)", d.Target(), said.Message, said.Code), said))
	}
	return errors.New(d.Unreachable(err))
}
