package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A network that has gone silent ends no connection. While a batch is on its way, the watcher asks the server on another
// connection: where that has no answer, and nothing has moved on the batch's own, the batch is given up. A batch that
// the server works on, or that moves slowly, goes on.

// errSilence is the cause of a batch that was given up.
var errSilence = fmt.Errorf("silence: %w", os.ErrDeadlineExceeded)

// line is a connection that knows when something last moved on it.
type line struct {
	net.Conn
	moved atomic.Int64 // in nanoseconds since 1970
}

func (l *line) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.note(n)
	return n, err
}

func (l *line) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	l.note(n)
	return n, err
}

func (l *line) note(n int) {
	if n > 0 {
		l.moved.Store(time.Now().UnixNano())
	}
}

// overLines has a server's connections note when something moves.
func overLines(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l := &line{Conn: conn}
		l.note(1)
		return l, nil
	}
}

// packing is a batch that is on its way.
type packing struct {
	conn   *pgx.Conn
	giveUp context.CancelCauseFunc
}

// still reports whether nothing has moved for a while.
func (s *packing) still() bool {
	conn := s.conn.PgConn().Conn()
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	l, ok := conn.(*line)
	return ok && time.Since(time.Unix(0, l.moved.Load())) > stepTime/2
}

// answers reports whether a server responds on a new connection.
func answers(ctx context.Context, server *pgx.ConnConfig) bool {
	conn, err := pgx.ConnectConfig(ctx, server.Copy())
	if err == nil {
		_ = conn.Close(ctx)
	}
	_, said := errors.AsType[*pgconn.PgError](err)
	return err == nil || said
}

// heardNothing says that the server did not answer somebody else.
func (p *Pusher) heardNothing() {
	p.suspect.Store(true)
	if s := p.sending.Load(); s != nil && s.still() {
		s.giveUp(errSilence)
	}
	p.Nudge()
}
