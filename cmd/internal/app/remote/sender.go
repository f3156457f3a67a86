// Package remote sends results to the remote database, and fetches and deletes the data there.
package remote

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/sqlite"
)

// closeTime bounds the wait for the delivery in progress when the program ends.
const closeTime = 2 * time.Second

// Sender sends results to the configured database while the program runs. Its methods are safe for concurrent use.
type Sender struct {
	store  *sqlite.Store
	logger *slog.Logger

	changing sync.Mutex // held while the pusher is replaced

	mu     sync.Mutex
	pusher *postgres.Pusher // nil without a database
	target string
	db     config.Database
	sent   int64 // rows that earlier pushers committed
}

// New returns a sender without a database; see [Sender.Use].
func New(store *sqlite.Store, logger *slog.Logger) *Sender {
	return &Sender{store: store, logger: logger}
}

// Use changes the database, and starts with the rows that earlier processes did not send to it. The zero value stops
// sending. The error is a mistake in db; Use does not wait for the server.
func (r *Sender) Use(db config.Database) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.use(db)
}

func (r *Sender) use(db config.Database) error {
	var next *postgres.Pusher
	if db.URL != "" {
		cfg, err := db.Config()
		if err != nil {
			return err
		}
		host, _ := os.Hostname() // without a name, the machine of a run is unknown
		if next, err = postgres.NewPusher(postgres.PusherConfig{
			Database: cfg, Outbox: r.store, Version: about.Version(), Logger: r.logger, Rows: db.Rows, Every: db.Every,
			Machine: host, Contents: contents{r.store, r.store.Dir()},
			Names: func(ctx context.Context, run engine.RunID) (storage.Names, error) {
				return review.Names(ctx, r.store, run)
			},
		}); err != nil {
			return err
		}
	}
	target := ""
	if next != nil {
		target = next.Target()
		next.Start()
	}
	r.mu.Lock() // briefly: the loop of a run reads the status
	before, sent := r.pusher, int64(0)
	if before != nil {
		sent = before.Status().Sent
	}
	r.pusher, r.target, r.sent, r.db = next, target, r.sent+sent, db
	r.mu.Unlock()
	if before != nil {
		closePusher(before)
		r.mu.Lock()
		r.sent += before.Status().Sent - sent
		r.mu.Unlock()
	}
	return nil
}

// closePusher waits at most closeTime. Unconfirmed rows are sent later.
func closePusher(p *postgres.Pusher) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = p.Close(ctx)
}

// Close stops sending. Unconfirmed rows stay in the outbox.
func (r *Sender) Close() error { return r.Use(config.Database{}) }

func (r *Sender) current() (*postgres.Pusher, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pusher, r.target
}

// Database returns the configured database. Its limits apply even without an address.
func (r *Sender) Database() config.Database {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.db
}

// Target returns the database without user and password; "" if there is none.
func (r *Sender) Target() string {
	_, target := r.current()
	return target
}

// Send starts sending all rows of a run, including later ones, and the contents of its checkpoints if its settings say so.
func (r *Sender) Send(ctx context.Context, run engine.RunID) error {
	pusher, target := r.current()
	if pusher == nil {
		return config.ErrNoDatabase
	}
	record, err := r.store.Run(ctx, run)
	if err != nil {
		return err
	}
	if err := review.CheckHere(&record); err != nil {
		return err
	}
	if err := r.store.Subscribe(ctx, run, target); err != nil {
		return err
	}
	if err := r.store.SubscribeContents(ctx, run, target, record.Settings.RemoteCheckpoints); err != nil {
		return err
	}
	pusher.Nudge()
	return nil
}

// Drain waits until the rows of a run are confirmed. If ctx ends or the server is unreachable, the error says what remains.
func (r *Sender) Drain(ctx context.Context, run engine.RunID) error {
	pusher, _ := r.current()
	if pusher == nil {
		return config.ErrNoDatabase
	}
	return pusher.Drain(ctx, run)
}

// Nudge sends the current batch without waiting for it to fill.
func (r *Sender) Nudge() {
	if pusher, _ := r.current(); pusher != nil {
		pusher.Nudge()
	}
}

// Status returns the state of sending; false without a database. It does not block.
func (r *Sender) Status() (postgres.Status, bool) {
	pusher, _ := r.current()
	if pusher == nil {
		return postgres.Status{}, false
	}
	return pusher.Status(), true
}

// Sent returns how many rows this process sent to all databases. It does not block.
func (r *Sender) Sent() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pusher == nil {
		return r.sent
	}
	return r.sent + r.pusher.Status().Sent
}

// Refused describes the rows that the database rejected in this process; "" if there are none.
func (r *Sender) Refused() string {
	pusher, target := r.current()
	if pusher == nil {
		return ""
	}
	return refusal(pusher.Status(), target)
}

func refusal(s postgres.Status, target string) string {
	if s.SetAside == 0 {
		return ""
	}
	return fmt.Sprintf("%s rejected %s rows, which stay on this machine: %s", target, engine.FormatCount(s.SetAside), s.Refused)
}
