package desk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/calibration"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/ui/experiments/designer"
	"github.com/throng-sim/throng/ui/fleet"
	"github.com/throng-sim/throng/ui/setup"
)

// setupDesk serves the Setup screen.
type setupDesk struct{ *Desk }

var _ setup.Desk = setupDesk{}

// Choices lists the scenarios, then new ones that exist as drafts only.
func (d setupDesk) Choices(context.Context) ([]setup.Choice, error) {
	drafts := editorDesk(d).drafts()
	all, err := d.scenarios(drafts)
	for _, name := range assets.Templates {
		if s, err := authoring.Load(name, nil); err == nil && slices.Contains(drafts, name) {
			all = append(all, setup.Choice{Name: name, Title: s.Title, BuiltIn: true, Draft: true, New: true})
		}
	}
	return all, err
}

// scenarios lists the built-in scenarios, then favorite and recent files and those with drafts, if they still exist.
func (d setupDesk) scenarios(drafts []string) ([]setup.Choice, error) {
	var all []setup.Choice
	notes := d.notes.read()
	for _, name := range assets.Gallery {
		s, err := authoring.Load(name, nil)
		if err != nil {
			return nil, err
		}
		c := setup.Choice{Name: strings.TrimSuffix(name, filepath.Ext(name)), Title: s.Title, About: s.About, BuiltIn: true}
		c.Favorite, c.Draft = slices.Contains(notes.Favorites, c.Name), slices.Contains(drafts, c.Name)
		all = append(all, c)
	}
	var gone []string
	files := notes.files()
	for _, path := range drafts {
		if filepath.IsAbs(path) && !slices.Contains(files, path) {
			files = append(files, path)
		}
	}
	for _, path := range files {
		if missing(path) {
			gone = append(gone, path)
			continue
		}
		c := setup.Choice{Name: path, Title: filepath.Base(path), About: filepath.Dir(path), Favorite: slices.Contains(notes.Favorites, path), Draft: slices.Contains(drafts, path)}
		if s, err := authoring.Load(path, nil); err == nil {
			c.Title, c.About = s.Title, s.About
		}
		all = append(all, c)
	}
	return all, d.notes.forget(gone)
}

// forExperiments lists the scenarios for new experiments.
func (d setupDesk) forExperiments(context.Context) (all []designer.Scenario, err error) {
	choices, err := d.scenarios(nil)
	for _, c := range choices {
		all = append(all, designer.Scenario{Name: c.Name, Title: c.Title})
	}
	return all, err
}

// Favor stores whether a scenario is a favorite.
func (d setupDesk) Favor(_ context.Context, name string, favorite bool) error {
	return d.notes.favor(name, favorite)
}

// Scenario reads a scenario.
func (d setupDesk) Scenario(ctx context.Context, name string, given map[string]string) (*setup.Scenario, error) {
	return d.show(ctx, name, setup.Fork{}, given)
}

// ForkFrom reads the scenario of a fork.
func (d setupDesk) ForkFrom(ctx context.Context, f setup.Fork, given map[string]string) (*setup.Scenario, error) {
	return d.show(ctx, fmt.Sprintf("%s#%d", f.Run, f.Checkpoint), f, given)
}

// show reads a scenario, or that of a fork, for the form.
func (d setupDesk) show(ctx context.Context, name string, fork setup.Fork, given map[string]string) (*setup.Scenario, error) {
	s, err := d.load(ctx, name, fork, given)
	if err != nil {
		return nil, inWords(name, err)
	}
	if filepath.IsAbs(name) && s.parent == nil && len(given) == 0 {
		if err := d.notes.opened(name); err != nil {
			slog.Warn("cannot store the recent scenario", "path", name, "error", err)
		}
	}
	settings, err := d.settings(&s)
	if err != nil {
		return nil, err
	}
	out := &setup.Scenario{
		Name: name, Title: s.Title, About: s.About, Agents: s.Agents, Cycle: s.Clock.Cycle, Settings: settings,
		Graph: s.Chain.Graph(),
	}
	out.Arrivals, out.Population = s.Clock.Arrivals.String(), s.Population()
	for i := range s.Parameters {
		out.Parameters = append(out.Parameters, parameter(&s.Parameters[i]))
	}
	for _, sv := range s.Services {
		shown := setup.Service{Name: sv.Name, Kind: sv.Kind, URL: sv.URL}
		switch sv.Kind {
		case "postgres":
			shown.Secret = sv.Postgres.Password
		case "llm":
			shown.Secret, shown.Models = sv.Bearer, strings.Join(sv.Models, ", ")
		}
		out.Services = append(out.Services, shown)
	}
	var warnings strings.Builder
	if err := s.PrintWarnings(&warnings); err != nil {
		return nil, err
	}
	if text := strings.TrimSpace(warnings.String()); text != "" {
		out.Warnings = []string{text}
	}
	return out, s.describe(out)
}

// inWords converts the errors of a file into one text.
func inWords(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) && missing(name) {
		return setup.Unreadable("there is no file " + name)
	}
	mistakes, ok := errors.AsType[*scenario.Mistakes](err)
	if !ok {
		return err
	}
	var text strings.Builder
	if printErr := mistakes.Print(&text); printErr != nil {
		return err
	}
	return setup.Unreadable(strings.TrimSpace(text.String()))
}

func parameter(p *scenario.Parameter) setup.Parameter {
	out := setup.Parameter{ParameterSpec: p.ParameterSpec, Min: p.Min, Max: p.Max, Kind: setup.Text}
	if out.Title == "" {
		out.Title = p.Name
	}
	if text, err := value.Text(p.Default); err == nil {
		out.Default = text
	}
	switch p.Default.Type() {
	case "int":
		out.Kind = setup.Whole
	case "float":
		out.Kind = setup.Number
	case "bool":
		out.Kind = setup.Switch
	}
	if len(p.Choices) > 0 {
		out.Kind = setup.OneOf
	}
	return out
}

// launch turns an order into a launch of app.
func (d setupDesk) launch(ctx context.Context, o setup.Order) (app.Launch, error) {
	s, err := d.load(ctx, o.Scenario, o.Fork, o.Given)
	if err != nil {
		return app.Launch{}, inWords(o.Scenario, err)
	}
	l := app.Launch{Services: app.Services{Scenario: s.Scenario, Settings: o.Settings, Data: d.data}, Allow: o.Allow, Fork: s.parent}
	config.Schedule(&l.Settings, s.Scenario)
	return l, l.InheritPersonas()
}

// Choose counts the active agents.
func (d setupDesk) Choose(ctx context.Context, o setup.Order) (int, error) {
	l, err := d.launch(ctx, o)
	if err != nil {
		return 0, err
	}
	if err := l.Population().TakeKept(); err != nil {
		return 0, inWords(o.Scenario, err)
	}
	chosen, err := l.Scenario.Program(l.Settings.Seed).Choose(ctx, &l.Settings)
	if err != nil || chosen != nil {
		return len(chosen), err
	}
	return l.Scenario.Agents, nil
}

// Unallowed returns the addresses that the file of an order may not call yet.
func (d setupDesk) Unallowed(ctx context.Context, o setup.Order) ([]engine.Destination, error) {
	l, err := d.launch(ctx, o)
	if err != nil {
		return nil, err
	}
	l.Remote = d.remote
	return l.Permits().Unallowed(), nil
}

// Launch starts a run.
func (d setupDesk) Launch(ctx context.Context, o setup.Order, writing func(done, total int)) error {
	l, err := d.launch(ctx, o)
	if err != nil {
		return err
	}
	if err := l.Permits().Consent(); err != nil { // before waiting for the start time
		return err
	}
	if !o.At.IsZero() {
		if err := l.WaitFor(ctx, o.At, o.Start); err != nil {
			return err
		}
	}
	l.Writing = writing
	return d.team.Start(ctx, l, o.Fleet, o.Awaits, func(l app.Launch) error { return d.inTurn(ctx, l, o.Waits) })
}

// Fleet returns what workers of other computers join.
func (d *Desk) Fleet() fleet.Host { return d.team }

// inTurn starts a run when nothing else is in progress, in this window and in others. It calls waits with true while it waits.
func (d setupDesk) inTurn(ctx context.Context, l app.Launch, waits func(bool)) error {
	for {
		err := d.start(ctx, l, waits)
		if !errors.Is(err, errBusy) {
			return err
		}
		if waits != nil {
			waits(true)
		}
		err = d.settle(ctx, &l)
		if waits != nil {
			waits(false)
		}
		if err != nil {
			return err
		}
	}
}

// Preset describes the limits that suit this machine.
func (d setupDesk) Preset(context.Context) (string, error) {
	m := calibration.ThisMachine(d.data)
	return engine.PresetFor(m.Cores, m.MemoryBytes).Suits(m.String()), nil
}

// TestService sends one request to an address. It causes no cost.
func (d setupDesk) TestService(ctx context.Context, o setup.Order, s setup.Service) (string, error) {
	if strings.HasPrefix(s.URL, scenario.Mock) {
		return "starts with the run, on this machine", nil
	}
	l, err := d.launch(ctx, o)
	if err != nil {
		return "", err
	}
	l.Remote = d.remote
	return l.TestService(ctx, s.Name, s.URL)
}
