// Package remote sends results to the remote database, and fetches and deletes what is there.
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

// closeTime is how long the end of the program waits for a delivery that is on its way.
const closeTime = 2 * time.Second

// Sender sends results to the database that is configured, for as long as the program runs. Its methods are safe for
// concurrent use.
type Sender struct {
	store  *sqlite.Store
	logger *slog.Logger

	changing sync.Mutex // held by whoever puts another pusher in place

	mu     sync.Mutex
	pusher *postgres.Pusher // nil without a database
	target string
	db     config.Database
	sent   int64 // rows that earlier pushers committed
}

// New sends nothing until [Remote.Use] names a database.
func New(store *sqlite.Store, logger *slog.Logger) *Sender {
	return &Sender{store: store, logger: logger}
}

// Use sends to another database from now on, beginning with what earlier processes left unsent to it; to none if it
// is the zero value. The error is a mistake in db; whether the server answers shows later.
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
		host, _ := os.Hostname() // without one, where a run was made is not known
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
	r.mu.Lock() // shortly: a run's loop asks for the status
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

// closePusher gives up after closeTime, which is no error: what was not confirmed is sent later.
func closePusher(p *postgres.Pusher) {
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	_ = p.Close(ctx)
}

// Close ends sending. What is not confirmed stays in the outbox.
func (r *Sender) Close() error { return r.Use(config.Database{}) }

func (r *Sender) current() (*postgres.Pusher, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pusher, r.target
}

// Database is what is in force; its limits count also where it is none.
func (r *Sender) Database() config.Database {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.db
}

// Target names the database without user and password; "" if there is none.
func (r *Sender) Target() string {
	_, target := r.current()
	return target
}

// Send has all rows of a run sent, those it has and those to come, and what its checkpoints restore, unless its settings
// say otherwise.
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

// Drain waits until the rows of a run are confirmed, ctx ends, or the server cannot be reached; it says what was kept.
func (r *Sender) Drain(ctx context.Context, run engine.RunID) error {
	pusher, _ := r.current()
	if pusher == nil {
		return config.ErrNoDatabase
	}
	return pusher.Drain(ctx, run)
}

// Nudge sends now what waits for a batch to fill.
func (r *Sender) Nudge() {
	if pusher, _ := r.current(); pusher != nil {
		pusher.Nudge()
	}
}

// Status is how sending does; false without a database. It does not wait.
func (r *Sender) Status() (postgres.Status, bool) {
	pusher, _ := r.current()
	if pusher == nil {
		return postgres.Status{}, false
	}
	return pusher.Status(), true
}

// Sent is how many rows this process committed, to whatever database. It does not wait.
func (r *Sender) Sent() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pusher == nil {
		return r.sent
	}
	return r.sent + r.pusher.Status().Sent
}

// Refused says which rows the database does not take, of all that this process sent; "" if it took them all.
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
	return fmt.Sprintf("%s refused %s rows, which stay here: %s", target, engine.FormatCount(s.SetAside), s.Refused)
}
