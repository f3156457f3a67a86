package crew

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/fleet/bus"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/lending"
	"github.com/throng-sim/throng/engine/service/merged"
	"github.com/throng-sim/throng/engine/workers"
)

// Config describes the fleet of a coordinator.
type Config struct {
	// Where is local:N for N workers on this machine, or the address on which workers of other machines join, such as :7422. It is "" with
	// a cluster.
	Where string
	// Cluster is the URL of a NATS cluster to use in place of an own server, and Credentials a file with its credentials. Both may be "".
	Cluster, Credentials string
	// Advertise is the name or address in the join line, if workers reach this machine under another one.
	Advertise string
	// Share are names of secrets that are sent to the workers.
	Share   []string
	Workers int // how many are expected; more cannot join a run that calls a database
	Secrets secrets.Finder
	Data    string // the data folder
	// Program is the path of throngctl, which is started with Env in addition to the environment, for workers on this machine.
	Program string
	Env     []string
	// WorkerEnv, if set, returns the environment of a start of such a worker, both counted from 1, that would otherwise have env.
	WorkerEnv func(env []string, worker, start int) []string
	Say       func(text string) // receives what happens; it must not block
	Log       *slog.Logger
}

// Fleet is the fleet of a coordinator. It implements [app.Crew]. Its methods are safe for concurrent use.
type Fleet struct {
	*fleet.Coordinator
	cfg    Config
	join   string
	lock   *flock.Flock
	locals *locals
	busy   sync.WaitGroup

	mu      sync.Mutex
	changed chan struct{} // is closed and replaced after each change of the workers
	closed  bool
}

var _ app.Crew = (*Fleet)(nil)

// localPrefix begins the form of Config.Where for workers on this machine.
const localPrefix = "local:"

// LocalFleet returns the form of Config.Where for a number of workers on this machine.
func LocalFleet(count int) string { return localPrefix + strconv.Itoa(count) }

// mostLocal bounds the workers on this machine.
const mostLocal = 256

// Local returns the number of workers that where starts on this machine; 0 if it is an address.
func Local(where string) (int, error) {
	text, ok := strings.CutPrefix(where, localPrefix)
	if !ok {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > mostLocal {
		return 0, &engine.FieldError{Field: "fleet", Problem: where + " names no number of workers", Hint: fmt.Sprintf("such as local:4, at most %d", mostLocal)}
	}
	return n, nil
}

// Open starts a fleet. Workers can join it from now on; those of this machine are started.
func Open(ctx context.Context, cfg Config) (*Fleet, error) {
	local, err := Local(cfg.Where)
	if err != nil {
		return nil, err
	}
	lock, err := cfg.lock(local > 0)
	if err != nil {
		return nil, err
	}
	server, err := bus.Serve(ctx, cfg.bus(local > 0))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the fleet: %w", err), lock.Unlock())
	}
	f := &Fleet{cfg: cfg, join: server.Join(), lock: lock, changed: make(chan struct{})}
	f.Coordinator = fleet.New(server, fleet.Config{Check: check, Changed: f.change, Machine: machine.ID()})
	f.busy.Go(f.report)
	if local > 0 {
		f.locals = startLocals(&f.cfg, local, f.join, f.change)
	}
	return f, nil
}

// lock keeps other processes of the data folder from using its fleet: they would answer the same workers.
func (c *Config) lock(local bool) (*flock.Flock, error) {
	if local {
		return &flock.Flock{}, nil // each has a fleet of its own
	}
	folder := filepath.Join(c.Data, "fleet")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("start the fleet: %w", err)
	}
	lock := flock.New(filepath.Join(folder, "lock"))
	switch free, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("start the fleet: %w", err)
	case !free:
		return nil, &engine.FieldError{Field: "fleet", Problem: "another program has the workers of this data folder", Hint: "wait for the end of its run, or use --data with another folder"}
	}
	return lock, nil
}

// bus returns how workers reach the coordinator.
func (c *Config) bus(local bool) bus.Config {
	b := bus.Config{Log: c.Log, URL: c.Cluster, Access: bus.Access{Credentials: c.Credentials}}
	switch {
	case local:
	case c.Cluster != "":
		sum := sha256.Sum256([]byte(c.Data + "\n" + thisMachine()))
		b.Fleet = "throng-" + hex.EncodeToString(sum[:8]) // the same after a restart
	default:
		b.Listen, b.Folder, b.Advertise = c.Where, filepath.Join(c.Data, "fleet"), c.Advertise
	}
	return b
}

// JoinLine returns what workers on other machines join with.
func (f *Fleet) JoinLine() string { return f.join }

// Plan sets the names of the secrets that the workers of the next run receive, and how many workers are expected.
func (f *Fleet) Plan(share []string, count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cfg.Share, f.cfg.Workers = share, count
}

// plan returns what Plan or the configuration set.
func (f *Fleet) plan() (share []string, count int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cfg.Share, f.cfg.Workers
}

// where names the workers for a later process, without a password.
func (f *Fleet) where() string {
	if f.cfg.Cluster == "" {
		return f.cfg.Where
	}
	return bus.WithoutSecrets(f.cfg.Cluster)
}

// Locals returns the number of workers that run on this machine.
func (f *Fleet) Locals() int {
	if f.locals == nil {
		return 0
	}
	return f.locals.count
}

// Close ends the fleet, and the workers on this machine. The run has ended before.
func (f *Fleet) Close() error {
	f.locals.close()
	err := f.Coordinator.Close()
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.change()
	f.busy.Wait()
	return errors.Join(err, f.lock.Unlock())
}

// Drain implements [app.Crew].
func (f *Fleet) Drain(name string) error { return mistake(f.Coordinator.Drain(name, true)) }

// Undrain implements [app.Crew].
func (f *Fleet) Undrain(name string) error { return mistake(f.Coordinator.Drain(name, false)) }

// Limit implements [app.Crew].
func (f *Fleet) Limit(name string, most int) error { return mistake(f.Coordinator.Limit(name, most)) }

// Remove implements [app.Crew]. A worker on this machine is not started again.
func (f *Fleet) Remove(name string) error {
	f.locals.remove(name) // first: its process ends as soon as it is removed
	err := f.Coordinator.Remove(name)
	if err != nil {
		f.locals.restore(name)
	}
	return mistake(err)
}

// mistake returns the error of an order as a mistake of the user, if it is one.
func mistake(err error) error {
	unknown, ok := errors.AsType[*fleet.NoWorkerError](err)
	if !ok {
		return err
	}
	hint := "no worker is connected"
	if len(unknown.Known) > 0 {
		hint = "the workers are " + strings.Join(unknown.Known, ", ")
	}
	return &engine.FieldError{Field: "worker", Problem: "there is no worker named " + unknown.Name, Hint: hint}
}

// CheckLaunch returns why a number of workers cannot execute a launch, or nil.
func CheckLaunch(l *app.Launch, count int) error {
	mistakes := []error{l.CheckCrew()}
	for _, s := range l.Scenario.Services {
		if s.Postgres == nil {
			continue
		}
		if n := s.Postgres.Limits.WithDefaults().Connections; n < count {
			mistakes = append(mistakes, &engine.FieldError{
				Field: "fleet", Problem: fmt.Sprintf("%d workers cannot share %s of service %s", count, engine.Counted(int64(n), "connection", "connections"), s.Name),
				Hint: "raise limits.connections, or use fewer workers",
			})
		}
	}
	return errors.Join(mistakes...)
}

// CheckShared returns an error for each name that is not a secret of a service of the launch, or has no value.
func CheckShared(l app.Launch, names []string) error {
	var mistakes []error
	for _, name := range names {
		err := error(&engine.FieldError{Field: "share-secrets", Problem: "no service of the scenario receives the secret " + name, Hint: "leave it out"})
		for _, s := range l.Permits().PlannedServices() {
			for _, secret := range s.Secrets {
				if secret.Name == name {
					err = secret.Err
				}
			}
		}
		mistakes = append(mistakes, err)
	}
	return errors.Join(mistakes...)
}

// Warn says which services of a launch workers of other machines cannot call.
func Warn(l *app.Launch, say func(string)) {
	if why := errors.Join(l.Permits().OnlyHere()...); why != nil {
		say("workers of other machines will be refused: " + strings.ReplaceAll(why.Error(), "\n", "; "))
	}
}

// Pool implements [app.Crew].
func (f *Fleet) Pool(ctx context.Context, w app.Work, own []engine.Service) (pool app.NewPool, shown []engine.Service, err error) {
	b := bundle{Work: w, Machine: thisMachine(), Shared: map[string]string{}}
	share, count := f.plan()
	for _, name := range share {
		value, _, err := f.cfg.Secrets.Find("share-secrets", name)
		if err != nil {
			return nil, nil, err
		}
		b.Shared[name] = value
	}
	if w.Settings.Sequential {
		f.cfg.Say("the sessions of a sequential run depend on each other: one worker at a time executes them")
	}
	more, shown := f.lend(own, count)
	return func(cfg run.PoolConfig) (run.WorkerPool, error) {
		more.Parallel = w.Parallel
		cfg.Note(engine.ChangeRow{What: engine.FleetChange, New: f.where(), Who: "user"})
		more.Lending = lending.New(lending.Config{Services: controls(own), Changed: f.Lent})
		p, err := f.Coordinator.Pool(ctx, b.encode(), more)(cfg)
		if err != nil {
			more.Lending.Close()
			return nil, err
		}
		return p, nil
	}, shown, nil
}

// lend shows the clients of the coordinator and of the workers as one service each. The bound of all models needs no client of a worker.
func (f *Fleet) lend(own []engine.Service, count int) (more fleet.PoolConfig, shown []engine.Service) {
	more.Services = map[string]*merged.Service{}
	for _, s := range own {
		if _, ok := s.(*service.Postgres); ok {
			more.Parts = max(count, 1)
		}
		if _, ok := s.(*service.Bound); !ok {
			m := merged.New(s, merged.Hooks{Tune: f.Tune, Renew: f.Renew})
			more.Services[nameOf(s)], s = m, m
		}
		shown = append(shown, s)
	}
	return more, shown
}

// controls returns the limits of services by name.
func controls(own []engine.Service) map[string]*admission.Controller {
	all := map[string]*admission.Controller{}
	for _, s := range own {
		if c, ok := s.(interface{ Control() *admission.Controller }); ok {
			all[nameOf(s)] = c.Control()
		}
	}
	return all
}

func nameOf(s engine.Service) string { return s.State(time.Now()).Name }

// Await waits until a number of workers are ready. It fails if those on this machine cannot be started.
func (f *Fleet) Await(ctx context.Context, count int) error {
	for {
		f.mu.Lock()
		changed := f.changed
		f.mu.Unlock()
		if f.Ready() >= count {
			return nil
		}
		if err := f.locals.failure(count); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// change wakes what waits for a change of the workers.
func (f *Fleet) change() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changed)
	f.changed = make(chan struct{})
}

// report says what happens to workers, until the fleet is closed.
func (f *Fleet) report() {
	said := map[string]string{}
	for {
		f.mu.Lock()
		changed, closed := f.changed, f.closed
		f.mu.Unlock()
		if closed {
			return
		}
		for _, w := range f.Workers() {
			text := w.Status.String()
			if w.Why != "" {
				text += ": " + w.Why
			}
			if w.Status == workers.Ready {
				text = fmt.Sprintf("joined: %s, %s", w.System, engine.Counted(int64(w.Cores), "core", "cores"))
			}
			if w.System != "" && said[w.Name] != text {
				said[w.Name] = text
				f.cfg.Say("worker " + w.Name + " " + text)
			}
		}
		<-changed
	}
}

// closeTime is how long the end of a fleet waits for the workers on this machine before it kills them.
const closeTime = 5 * time.Second

// errLocal is why a run does not start.
var errLocal = errors.New("no worker could be started on this machine")
