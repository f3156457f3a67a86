package machines

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/crew"
	"github.com/throng-sim/throng/cmd/throngctl/internal/orders"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Terminal is what the commands need of the program.
type Terminal struct {
	orders.Terminal
	Signals     <-chan os.Signal
	Log         *slog.Logger
	Hooks       crew.Hooks
	Interrupted error // of a command that a second signal ended
	// With calls f with a run by its name; without one, with the newest.
	With func(ctx context.Context, run string, f func(*sqlite.Store, engine.RunRecord) error) error
}

// WorkerCmd is a worker of a fleet.
type WorkerCmd struct {
	Join      string `placeholder:"LINE" env:"${env_join}" help:"Join line that throngctl run --fleet prints. Other users of this machine do not see it in the environment variable."`
	Cores     int    `placeholder:"N" help:"Cores to use (default: all)."`
	Memory    string `placeholder:"SIZE" help:"Memory that this process should stay below, such as 1500MB (default: no bound)."`
	Name      string `placeholder:"NAME" help:"Name of the worker (default: that of this machine)."`
	Once      bool   `help:"End after the first run."`
	NATSCreds string `name:"nats-creds" placeholder:"FILE" help:"File with the credentials for a NATS cluster."`
}

// Run is called by kong.
func (c *WorkerCmd) Run(ctx context.Context, t *Terminal) error {
	cfg, err := c.config(t)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	done := make(chan error, 1)
	go func() { done <- crew.Work(ctx, cfg) }()
	var loose chan struct{}
	leash := os.Getenv(about.LeashEnv) != ""
	if leash {
		loose = make(chan struct{})
		go func() {
			_, _ = io.Copy(io.Discard, os.Stdin) // any end is one
			close(loose)
		}()
	}
	for {
		select {
		case err := <-done:
			return err
		case <-loose: // nothing takes the results of sessions in flight
			return nil
		case sig := <-t.Signals:
			switch {
			case leash && sig == os.Interrupt:
			case ctx.Err() != nil:
				return t.Interrupted
			default:
				cfg.Say("ending after the sessions in flight")
				end()
			}
		}
	}
}

// config returns what the flags say.
func (c *WorkerCmd) config(t *Terminal) (crew.WorkerConfig, error) {
	cfg := crew.WorkerConfig{Join: strings.TrimSpace(c.Join), Credentials: c.NATSCreds, Name: c.Name, Cores: c.Cores, Once: c.Once, Data: t.Data, Log: t.Log, Hooks: t.Hooks}
	cfg.Say = func(text string) { fmt.Fprintln(t.Out, time.Now().Format(time.TimeOnly), text) }
	var mistakes []error
	if cfg.Join == "" {
		mistakes = append(mistakes, &engine.FieldError{
			Field: "join", Problem: "there is no join line", Hint: "throngctl run SCENARIO --fleet :7422 prints it on the machine of the coordinator",
		})
	}
	if c.Cores < 0 || c.Cores > runtime.NumCPU() {
		mistakes = append(mistakes, &engine.FieldError{
			Field: "cores", Problem: fmt.Sprintf("this machine has %s", engine.Counted(int64(runtime.NumCPU()), "core", "cores")), Hint: "a smaller number, or leave it out",
		})
	}
	if c.Memory != "" {
		limit, err := engine.ParseMemory(c.Memory)
		if field, ok := errors.AsType[*engine.FieldError](err); ok {
			field.Field = "memory"
		}
		mistakes = append(mistakes, err)
		cfg.Memory = limit.Of(total())
	}
	return cfg, errors.Join(mistakes...)
}
