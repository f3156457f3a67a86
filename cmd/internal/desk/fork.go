package desk

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/ui/setup"
)

// begun is a scenario for a launch, and the parent if it is a fork.
type begun struct {
	*scenario.Scenario
	parent *app.Parent
	fork   setup.Fork
}

// load reads a scenario with the connectors of the settings, or that of a fork with the parameters of its parent.
func (d setupDesk) load(ctx context.Context, name string, fork setup.Fork, given map[string]string) (b begun, err error) {
	if fork == (setup.Fork{}) {
		b.Scenario, err = authoring.Open(d.data, name, given)
		return b, err
	}
	b.fork = fork
	if b.parent, err = app.FindParent(ctx, d.store, d.data, fork.Run, fork.Checkpoint); err != nil {
		return b, err
	}
	b.Scenario, err = b.read(given)
	return b, err
}

// read reads the scenario of a fork.
func (b *begun) read(given map[string]string) (*scenario.Scenario, error) {
	path := ""
	if b.fork.Renewed {
		path = b.parent.Record.Source.Path
	}
	return b.parent.Read(path, given)
}

// settings returns the initial settings of the form.
func (d setupDesk) settings(b *begun) (engine.Settings, error) {
	if b.parent != nil {
		return b.parent.Settings(b.Scenario, nil, os.Getenv)
	}
	settings, _, err := config.Resolve(d.data, b.Scenario, nil, os.Getenv)
	settings.Remote = d.remote.Target() != ""
	return settings, err
}

// describe adds the start of a fork, and makes the parent's parameters the defaults.
func (b *begun) describe(out *setup.Scenario) error {
	if b.parent == nil {
		return nil
	}
	out.Fork = &setup.Forked{Fork: b.fork, Cycle: b.parent.Point.Cycle}
	out.Fork.Run, out.Fork.Checkpoint = b.parent.Record.ID, b.parent.Point.Number
	path := b.parent.Record.Source.Path
	if name, builtIn := strings.CutPrefix(path, engine.BuiltIn); builtIn {
		out.Fork.Origin = strings.TrimSuffix(name, filepath.Ext(name))
	} else if path != "" && !missing(path) {
		out.Fork.Origin = path
	}
	usual, err := b.read(nil)
	if err != nil {
		return err
	}
	for i := range out.Parameters {
		if text, err := value.Text(usual.Parameters[i].Value); err == nil {
			out.Parameters[i].Default = text
		}
	}
	return nil
}
