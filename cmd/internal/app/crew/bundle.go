// Package crew executes the sessions of a run in other processes: it starts the fleet of a coordinator, with workers on this machine or
// others, and it is the worker.
package crew

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/about"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/fleet"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/service"
	"github.com/throng-sim/throng/engine/service/admission"
	"github.com/throng-sim/throng/engine/service/lending"
)

// bundle is what a worker needs to execute sessions of a run.
type bundle struct {
	app.Work
	Machine string            // of the coordinator, see thisMachine
	Shared  map[string]string // secrets by name that the coordinator shares
}

func (b *bundle) encode() []byte { return codec.AppendWire(nil, b) }

// system is the operating system and the architecture of this process.
func system() string { return runtime.GOOS + "/" + runtime.GOARCH }

// check returns why a worker cannot be exact, or nil.
func check(of fleet.Info) error {
	_, architecture, _ := strings.Cut(of.System, "/")
	switch {
	case of.Version != about.Version():
		return fmt.Errorf("it is Throng %s, the coordinator is %s; results may differ between versions", cmp.Or(of.Version, "of an unknown version"), about.Version())
	case architecture != runtime.GOARCH:
		return fmt.Errorf("its processor is of the kind %s, the coordinator's is %s; they round differently", cmp.Or(architecture, "unknown"), runtime.GOARCH)
	}
	return nil
}

// preparer makes the sessions of a run executable on this machine.
type preparer struct {
	say     func(text string) // receives the start and the end of runs
	witness service.Witness
}

// prepare implements [fleet.WorkerConfig.Prepare].
func (p preparer) prepare(_ context.Context, data []byte, from *lending.Borrower, part fleet.Part) (*fleet.Prepared, error) {
	var b bundle
	if err := codec.Unmarshal(data, &b); err != nil {
		return nil, fmt.Errorf("the coordinator's message cannot be read: %w", err)
	}
	s, err := scenario.Restore(b.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario is not the same here: %w", err)
	}
	s.Source.Path = b.Path
	find := secrets.Finder{
		Env:     func(name string) string { return cmp.Or(b.Shared[name], os.Getenv(name)) },
		Further: func(name string) string { return "start the run with --share-secrets " + name },
	}
	borrow := func(service string) admission.Admitter { return from.Service(service) }
	l := app.Permits{Services: app.Services{Scenario: s, Settings: b.Settings, Secrets: find, Reach: b.Reach, Borrow: borrow, Witness: p.witness}, Allow: b.Allowed}
	job, services, err := l.Connect(b.Machine != thisMachine())
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	if err := divide(services, part); err != nil {
		return nil, errors.Join(err, job.Close())
	}
	p.say(fmt.Sprintf("run %s: %s", b.Run, s.Title))
	end := func() error {
		p.say(fmt.Sprintf("run %s: no longer here", b.Run))
		return job.Close()
	}
	return &fleet.Prepared{Program: s.Program(b.Settings.Seed), Services: services, Close: end}, nil
}

// divide limits the clients of databases to a part of their connections.
func divide(all []engine.Service, part fleet.Part) error {
	for _, s := range all {
		if d, ok := s.(interface{ Divide(index, parts int) error }); ok && part.Of > 0 {
			if err := d.Divide(part.Index, part.Of); err != nil {
				return err
			}
		}
	}
	return nil
}

// thisMachine identifies the machine, or the container, whose loopback addresses this process reaches.
func thisMachine() string {
	host, _ := os.Hostname() // without a name, the rest identifies it
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	network, _ := os.Readlink("/proc/self/ns/net")
	return strings.Join([]string{host, string(bytes.TrimSpace(boot)), network}, " ")
}
