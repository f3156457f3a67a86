package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/throng-sim/throng/engine/fleet"
)

// Errors of connections, for people. Compare with [errors.Is].
var (
	// ErrRemoved is why a worker is refused: the coordinator has dismissed it.
	ErrRemoved = fmt.Errorf("%w: the coordinator has removed this worker; join again to continue", fleet.ErrClosed)
	// ErrLost is why a connection has ended: it could not be made again for the set time.
	ErrLost = fmt.Errorf("%w: it was lost and could not be restored in time", fleet.ErrClosed)
	// ErrUnreachable is why a process could not connect.
	ErrUnreachable = errors.New("no coordinator can be reached there: check the address, that the coordinator runs, and the firewalls between")
	// ErrToken is why a process could not join.
	ErrToken = errors.New("the coordinator refuses the token, or there were too many attempts: copy the join line again, and wait a minute")
	// ErrCredentials is why a cluster refuses a connection.
	ErrCredentials = errors.New("the NATS cluster refuses these credentials")
	// ErrOverloaded is why a request was not handled: its receiver has too many of them.
	ErrOverloaded = errors.New("the coordinator has too many requests in memory: try again")
)

// Times of connections.
const (
	connectTime   = 5 * time.Second
	reconnectWait = 200 * time.Millisecond
)

// connection is a connection to a server that is restored for a set time, and then ends with a reason.
type connection struct {
	*nats.Conn
	restored func() // is called in a goroutine of the connection, or nil

	mu      sync.Mutex
	giveUp  *time.Timer // runs while the connection is interrupted
	cause   error       // why the connection has ended
	refused error       // what an error of authorization means
	dialed  error       // why the last attempt to connect failed
	ended   chan struct{}
	whole   context.Context // ends when the connection is interrupted: answers that are on their way are lost
	broken  context.CancelFunc
}

// errInterrupted is why a request may be lost. The next one waits until the connection is restored.
var errInterrupted = errors.New("the connection to the coordinator was interrupted")

// connect opens a connection. Refused is the error for a connection that the server does not admit, retry how long a lost
// connection is restored.
func connect(url, name string, refused error, retry time.Duration, log *slog.Logger, restored func(), options ...nats.Option) (*connection, error) {
	c := &connection{restored: restored, refused: refused, ended: make(chan struct{})}
	c.whole, c.broken = context.WithCancel(context.Background())
	all := append([]nats.Option{
		nats.Name(name), nats.Timeout(connectTime), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectWait/2, reconnectWait/2), nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(pingsOut),
		nats.SetCustomDialer(c),
		nats.DisconnectErrHandler(func(*nats.Conn, error) { c.interrupted(retry) }),
		nats.ReconnectHandler(func(*nats.Conn) { c.continued() }),
		nats.ClosedHandler(func(n *nats.Conn) { c.closed(n.LastError()) }),
		nats.ErrorHandler(func(_ *nats.Conn, s *nats.Subscription, err error) { report(log, s, err) }),
	}, options...)
	n, err := nats.Connect(url, all...)
	if err != nil {
		return nil, c.explain(err)
	}
	c.Conn = n
	return c, nil
}

// report logs an error that no caller receives.
func report(log *slog.Logger, s *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrSlowConsumer) && s != nil {
		log.Error("fleet: messages were lost because this process is too slow; their senders try again", "subject", s.Subject)
		return
	}
	log.Warn("fleet: the server reports an error", "error", err)
}

// Dial implements [nats.CustomDialer]: it keeps the reason of a failure, which the client drops.
func (c *connection) Dial(network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), connectTime)
	defer cancel()
	n, err := (&net.Dialer{}).DialContext(ctx, network, address)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dialed = err
	return n, err //nolint:wrapcheck // the client reads it
}

// explain translates an error of connecting.
func (c *connection) explain(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case errors.Is(err, errFingerprint):
		return errFingerprint
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return c.refused
	case errors.Is(err, nats.ErrSecureConnWanted):
		return errors.New("the server at this address does not use TLS, which is required beyond this machine: it is not the coordinator of this join line, or the NATS cluster has to enable TLS")
	case errors.Is(err, nats.ErrNoServers) && c.dialed != nil:
		return fmt.Errorf("%w (%w)", ErrUnreachable, c.dialed)
	}
	return fmt.Errorf("%w (%w)", ErrUnreachable, err)
}

func (c *connection) interrupted(retry time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken()
	if c.cause != nil {
		return
	}
	c.whole, c.broken = context.WithCancel(context.Background())
	if c.giveUp != nil {
		return
	}
	c.giveUp = time.AfterFunc(retry, func() {
		c.end(ErrLost)
		c.Close()
	})
}

func (c *connection) continued() {
	c.mu.Lock()
	if c.giveUp != nil {
		c.giveUp.Stop()
		c.giveUp = nil
	}
	c.mu.Unlock()
	if c.restored != nil {
		c.restored()
	}
}

// end sets why the connection ends; the first reason stays.
func (c *connection) end(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.cause = cause
		close(c.ended)
		c.broken()
	}
	if c.giveUp != nil {
		c.giveUp.Stop()
	}
}

// closed is called when the client gives up by itself, or was closed.
func (c *connection) closed(last error) {
	if errors.Is(last, nats.ErrAuthorization) {
		c.end(c.refused)
		return
	}
	c.end(ErrLost)
}

// err returns why the connection has ended, or nil.
func (c *connection) err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// stop closes the connection.
func (c *connection) stop() {
	c.end(fleet.ErrClosed)
	c.Close()
}

// ask sends a message and waits for its answer, until the timeout or the end of the connection. While the connection is interrupted,
// the message waits for the next one.
func (c *connection) ask(ctx context.Context, subject string, message []byte, timeout time.Duration) (*nats.Msg, error) {
	c.mu.Lock()
	whole, cause := c.whole, c.cause
	c.mu.Unlock()
	if cause != nil {
		return nil, cause
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(whole, cancel)()
	m, err := c.RequestWithContext(limited, subject, message)
	switch {
	case err == nil:
		return m, nil
	case c.err() != nil:
		return nil, c.err()
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case whole.Err() != nil:
		return nil, errInterrupted
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("no answer within %s: %w", timeout, err)
	}
	return nil, fmt.Errorf("ask: %w", err)
}
