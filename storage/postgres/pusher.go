package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

const (
	defaultEvery = 5 * time.Second
	defaultRows  = 500
)

// Outbox is the local store's list of rows that the database lacks. Its reads do not block writers.
type Outbox interface {
	// Outbox returns the runs with unsent rows, newest first.
	Outbox(ctx context.Context, target string) ([]engine.RunID, error)
	// Delivery returns the next rows of a run after the cursor; ErrNotFound if the run was deleted.
	Delivery(ctx context.Context, run engine.RunID, target string, after storage.Cursor, rows int) (*storage.Delivery, error)
	// Sent confirms a delivery.
	Sent(ctx context.Context, run engine.RunID, target string, to storage.Cursor) error
	// Resend marks everything as unsent, because target lost its rows.
	Resend(ctx context.Context, target string) error
	// Unsent returns the number of unconfirmed sessions and metrics of a run.
	Unsent(ctx context.Context, run engine.RunID, target string) (int64, error)
}

// PusherConfig configures a pusher. Database, Outbox and Names are required.
type PusherConfig struct {
	Database Config
	Outbox   Outbox
	// Names returns the names of a run's agents and sessions. It is called by one goroutine at a time.
	Names   func(ctx context.Context, run engine.RunID) (storage.Names, error)
	Version string // of Throng
	Machine string // name of this machine, shown in the list of runs of other machines
	// Contents are the checkpoint contents; nil sends none.
	Contents Contents
	// Rows are sent when they have waited for Every, or when there are Rows of them; 0 is 5 s and 500.
	Every time.Duration
	Rows  int
	// Logger receives outages and rejected rows; nil is [slog.Default].
	Logger *slog.Logger
}

// Pusher sends the rows of an outbox to a database. One goroutine sends; another one watches the outbox and the server. The
// journal does not wait for them. A Pusher is safe for concurrent use.
type Pusher struct {
	config PusherConfig
	target string
	limits Limits
	server *pgx.ConnConfig

	nudged  chan struct{} // holds a token when rows should be sent immediately
	urgent  chan struct{} // like nudged, also during the wait after an error
	ended   chan struct{} // closed when the sender has ended
	started atomic.Bool
	working sync.WaitGroup
	status  board
	pool    atomic.Pointer[pgxpool.Pool] // set and closed by the sender; nil while there is no connection
	suspect atomic.Bool                  // another goroutine got an error from the pool
	sending atomic.Pointer[currentBatch] // nil while no batch is being sent
	waiting atomic.Int64                 // callers that wait for a connection of the pool

	ctx    context.Context    // ends all work immediately
	cancel context.CancelFunc // of ctx
	open   context.Context    // ends when no new connection should be opened; a child of ctx
	close  context.CancelFunc // of open

	rounds rounds

	// Owned by the sender.
	rows   int  // maximum number of rows in a batch
	staged bool // rows of the next batch may already be in the database
	down   bool // the last attempt failed
	names  map[engine.RunID]storage.Names
	spare  []*batch
}

// NewPusher returns a pusher that is not started. Its error is a *engine.FieldError.
func NewPusher(c PusherConfig) (*Pusher, error) {
	parsed, err := c.Database.parse()
	if err != nil {
		return nil, err
	}
	c.Every, c.Rows = cmp.Or(c.Every, defaultEvery), cmp.Or(c.Rows, defaultRows)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	p := &Pusher{
		config: c, target: target(parsed.ConnConfig), limits: c.Database.withDefaults(), server: parsed.ConnConfig,
		rounds: rounds{next: newRound()}, rows: mostRows, names: map[engine.RunID]storage.Names{},
		nudged: make(chan struct{}, 1), urgent: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.open, p.close = context.WithCancel(p.ctx)
	p.status.set(func(s *Status) { s.Pool, s.Clients, s.MaxConnections = p.none(), -1, -1 })
	return p, nil
}

// Target returns the name of the database.
func (p *Pusher) Target() string { return p.target }

// Start starts to connect and to send. It does not wait.
func (p *Pusher) Start() {
	if p.started.Swap(true) {
		return
	}
	p.working.Go(func() { p.send(p.ctx) })
	p.working.Go(func() { p.watch(p.ctx) })
}

// Nudge sends rows immediately, at the end of a cycle or a run. It does not wait.
func (p *Pusher) Nudge() { rouse(p.nudged) }

func rouse(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Close sends the remaining rows until ctx ends, if the database is reachable, and ends the pusher. Unsent rows stay in the
// outbox.
func (p *Pusher) Close(ctx context.Context) error {
	if !p.started.Load() {
		p.cancel()
		return nil
	}
	p.close()
	var err error
	select {
	case <-p.ended:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.cancel()
	p.working.Wait()
	return err
}

var errPusherClosed = errors.New("the connection to the remote database was closed")

// Drain waits until all rows of a run that has ended are confirmed. If the database is unreachable, or ctx ends, the error
// says how many rows stay in the outbox.
func (p *Pusher) Drain(ctx context.Context, run engine.RunID) error {
	err := p.drain(ctx, run)
	if err == nil {
		return nil
	}
	left, unknown := p.config.Outbox.Unsent(context.WithoutCancel(ctx), run, p.target)
	if unknown != nil {
		return errors.Join(err, unknown)
	}
	if left == 0 && errors.As(err, new(*contentsError)) {
		return fmt.Errorf("all rows of run %s are in the remote database, but not its checkpoint contents: %w", run, err)
	}
	return fmt.Errorf("%d rows of run %s are not in the remote database yet; they are kept and sent later: %w", left, run, err)
}

func (p *Pusher) drain(ctx context.Context, run engine.RunID) error {
	defer p.rounds.want(run)()
	for {
		r := p.rounds.upcoming()
		rouse(p.urgent)
		var failed error
		select {
		case <-r.done:
			failed = cmp.Or(r.err, r.failed[run])
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.ended:
			failed = errPusherClosed
		}
		rows, err := p.config.Outbox.Outbox(ctx, p.target)
		if err != nil {
			return err
		}
		runs, err := p.incomplete(ctx)
		if err != nil || !slices.Contains(rows, run) && !slices.Contains(runs, run) {
			return err
		}
		if failed != nil {
			return failed
		}
	}
}
