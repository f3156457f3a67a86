package app

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/sqlite"
)

// closeTime is how long the end of the program waits for a delivery that is on its way.
const closeTime = 2 * time.Second

// Remote sends results to the database that is configured, for as long as the program runs. Its methods are safe for
// concurrent use.
type Remote struct {
	store  *sqlite.Store
	logger *slog.Logger

	changing sync.Mutex // held by whoever puts another pusher in place

	mu     sync.Mutex
	pusher *postgres.Pusher // nil without a database
	target string
	db     Database
	sent   int64 // rows that earlier pushers committed
}

// NewRemote sends nothing until [Remote.Use] names a database.
func NewRemote(store *sqlite.Store, logger *slog.Logger) *Remote {
	return &Remote{store: store, logger: logger}
}

// Use sends to another database from now on, beginning with what earlier processes left unsent to it; to none if it
// is the zero value. The error is a mistake in db; whether the server answers shows later.
func (r *Remote) Use(db Database) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.use(db)
}

func (r *Remote) use(db Database) error {
	var next *postgres.Pusher
	if db.URL != "" {
		cfg, err := db.config()
		if err != nil {
			return err
		}
		host, _ := os.Hostname() // without one, where a run was made is not known
		if next, err = postgres.NewPusher(postgres.PusherConfig{
			Database: cfg, Outbox: r.store, Version: Version(), Logger: r.logger, Rows: db.Rows, Every: db.Every,
			Machine: host, Contents: contents{r.store, r.store.Dir()},
			Names: func(ctx context.Context, run engine.RunID) (storage.Names, error) { return Names(ctx, r.store, run) },
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
func (r *Remote) Close() error { return r.Use(Database{}) }

func (r *Remote) current() (*postgres.Pusher, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.pusher, r.target
}

// Database is what is in force; its limits count also where it is none.
func (r *Remote) Database() Database {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.db
}

// Target names the database without user and password; "" if there is none.
func (r *Remote) Target() string {
	_, target := r.current()
	return target
}

// Send has all rows of a run sent, those it has and those to come, and what its checkpoints restore, unless its settings
// say otherwise.
func (r *Remote) Send(ctx context.Context, run engine.RunID) error {
	pusher, target := r.current()
	if pusher == nil {
		return ErrNoDatabase
	}
	record, err := r.store.Run(ctx, run)
	if err != nil {
		return err
	}
	if err := CheckHere(&record); err != nil {
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
func (r *Remote) Drain(ctx context.Context, run engine.RunID) error {
	pusher, _ := r.current()
	if pusher == nil {
		return ErrNoDatabase
	}
	return pusher.Drain(ctx, run)
}

// nudge sends now what waits for a batch to fill.
func (r *Remote) nudge() {
	if pusher, _ := r.current(); pusher != nil {
		pusher.Nudge()
	}
}

// Status is how sending does; false without a database. It does not wait.
func (r *Remote) Status() (postgres.Status, bool) {
	pusher, _ := r.current()
	if pusher == nil {
		return postgres.Status{}, false
	}
	return pusher.Status(), true
}

// Sent is how many rows this process committed, to whatever database. It does not wait.
func (r *Remote) Sent() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pusher == nil {
		return r.sent
	}
	return r.sent + r.pusher.Status().Sent
}

// Refused says which rows the database does not take, of all that this process sent; "" if it took them all.
func (r *Remote) Refused() string {
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
