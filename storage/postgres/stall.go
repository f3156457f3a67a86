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

// A network that stops delivering packets does not close connections. While a batch is being sent, the watcher connects to
// the server again. If the server does not respond, and no byte of the batch was transferred for a while, the batch is
// canceled. Slow batches, and batches that the server is still processing, continue.

// errSilence is the cause of a canceled batch.
var errSilence = fmt.Errorf("silence: %w", os.ErrDeadlineExceeded)

// trackedConn is a connection that records the time of its last transfer.
type trackedConn struct {
	net.Conn
	moved atomic.Int64 // in nanoseconds since 1970
}

func (l *trackedConn) Read(p []byte) (int, error) {
	n, err := l.Conn.Read(p)
	l.note(n)
	return n, err
}

func (l *trackedConn) Write(p []byte) (int, error) {
	n, err := l.Conn.Write(p)
	l.note(n)
	return n, err
}

func (l *trackedConn) note(n int) {
	if n > 0 {
		l.moved.Store(time.Now().UnixNano())
	}
}

// trackTransfers returns a dial function whose connections record transfers.
func trackTransfers(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		l := &trackedConn{Conn: conn}
		l.note(1)
		return l, nil
	}
}

// currentBatch is a batch that is being sent.
type currentBatch struct {
	conn   *pgx.Conn
	giveUp context.CancelCauseFunc
}

// still reports whether nothing was transferred for a while.
func (s *currentBatch) still() bool {
	conn := s.conn.PgConn().Conn()
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn()
	}
	l, ok := conn.(*trackedConn)
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

// suspectServer records that the server did not respond to another goroutine.
func (p *Pusher) suspectServer() {
	p.suspect.Store(true)
	if s := p.sending.Load(); s != nil && s.still() {
		s.giveUp(errSilence)
	}
	p.Nudge()
}
