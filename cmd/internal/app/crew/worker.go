package crew

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/fleet/bus"
	"github.com/throng-sim/throng/engine/machine"
	"github.com/throng-sim/throng/engine/service"
)

// WorkerConfig describes a worker.
type WorkerConfig struct {
	Join        string // the join line
	Credentials string // file with the credentials for a NATS cluster; may be ""
	Name        string // "" is the name of the machine
	Cores       int    // that it may use; 0 is all
	Memory      int64  // bytes that the process should stay below; 0 means no bound
	Once        bool   // end after the first run
	Data        string // folder whose disk is watched
	Say         func(text string)
	Log         *slog.Logger
	Hooks       Hooks
}

// Hooks let another program watch a worker. Their functions are called concurrently, may block, and may be nil.
type Hooks struct {
	Witness service.Witness // of the requests to services
	Message func()          // is called before a message is sent to the coordinator
}

// watched is a link whose messages are watched.
type watched struct {
	fleet.Link
	before func()
}

// Request implements [fleet.Link].
func (w watched) Request(ctx context.Context, request []byte) ([]byte, error) {
	if w.before != nil {
		w.before()
	}
	return w.Link.Request(ctx, request)
}

// base is roughly the memory of a worker without sessions.
const base = 256 << 20

// Work is a worker: it joins a fleet and executes sessions until ctx ends. Then it ends its sessions in flight.
func Work(ctx context.Context, cfg WorkerConfig) (err error) {
	if cfg.Cores > 0 {
		runtime.GOMAXPROCS(cfg.Cores)
	}
	info := fleet.Info{Version: about.Version(), System: system(), Cores: runtime.GOMAXPROCS(0), Machine: machine.ID()}
	if cfg.Memory > 0 {
		info.Memory = max(cfg.Memory-base, cfg.Memory/2) / 3 * 2
		if os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(cfg.Memory)
		}
	}
	address, err := bus.Address(cfg.Join)
	if err != nil {
		return &engine.FieldError{Field: "join", Problem: err.Error(), Hint: "copy the line that throngctl run --fleet prints"}
	}
	cfg.Say("connecting to " + address)
	link, err := bus.Join(ctx, cfg.Join, bus.WorkerConfig{Name: cfg.Name, Access: bus.Access{Credentials: cfg.Credentials}, Log: cfg.Log})
	switch {
	case err != nil && ctx.Err() != nil: // it was asked to end
		return nil
	case err != nil:
		return fmt.Errorf("join the fleet: %w", err)
	}
	defer func() { err = errors.Join(err, link.Close()) }()
	defer machine.TuneHeap()()
	err = fleet.Work(ctx, fleet.WorkerConfig{
		Link: watched{link, cfg.Hooks.Message}, Info: info, Prepare: preparer{cfg.Say, cfg.Hooks.Witness}.prepare, Host: machine.Host(cfg.Data), Once: cfg.Once, Say: cfg.Say,
	})
	if err != nil {
		return fmt.Errorf("work for the coordinator: %w", err)
	}
	return nil
}
