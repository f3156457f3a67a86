package app

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/mocks"
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script/value"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Parent is a run at one of its checkpoints. A fork begins there, at the start of the checkpoint's cycle.
type Parent struct {
	Record   engine.RunRecord // with the limit that was in force at the checkpoint
	Scenario *scenario.Scenario
	Point    engine.CheckpointRecord
	defaults engine.Settings // of a fork
	data     string
	all      []engine.CheckpointRecord // of the run, newest first
}

// FindParent finds a checkpoint of a run by its number; 0 is the newest one that a cycle follows. If there is no such
// checkpoint, the error is a *engine.FieldError that lists the checkpoints of the run.
func FindParent(ctx context.Context, store *sqlite.Store, data string, run engine.RunID, number int) (*Parent, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	if record.Source.Alone() != "" {
		return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("%s ran a single chain once", record.ID), Hint: "fork a run with several cycles"}
	}
	all, err := store.Checkpoints(ctx, record.ID)
	if err != nil {
		return nil, err
	}
	p := &Parent{Record: record, all: all, data: data}
	i := slices.IndexFunc(all, func(c engine.CheckpointRecord) bool { return c.Number == number })
	if number == 0 {
		i = slices.IndexFunc(all, func(c engine.CheckpointRecord) bool { return record.Cycles == 0 || c.Cycle < record.Cycles })
	}
	switch {
	case len(all) == 0:
		return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("%s has no checkpoint", record.ID), Hint: "throngctl checkpoint takes one of a run in progress; for a short run, use a shorter --checkpoint-interval"}
	case number == 0 && i < 0: // all are at its end; the fork needs more cycles, which checkFork requires
		i = 0
	case i < 0:
		return nil, &engine.FieldError{Field: "checkpoint", Problem: fmt.Sprintf("%s has no checkpoint %d", record.ID, number), Hint: "there " + p.checkpoints()}
	}
	p.Point = all[i]
	state, err := store.State(ctx, record.ID, p.Point.Number)
	if err != nil {
		return nil, err
	}
	if state.Limit > 0 {
		p.Record.Settings.Limit, p.Record.Settings.Manual = state.Limit, state.Manual
		if !state.Manual {
			p.Record.Settings.Ceiling = max(p.Record.Settings.Ceiling, state.Limit)
		}
	}
	p.defaults = liveSettings(ctx, store, p.Record.Settings)
	p.Scenario, err = scenario.Restore(record.Source)
	if err != nil {
		return nil, storedScenarioError(record.ID, err)
	}
	return p, nil
}

// storedScenarioError says that the scenario stored with a run cannot be read.
func storedScenarioError(run engine.RunID, err error) error {
	return fmt.Errorf("the scenario stored with run %s: %w", run, err)
}

// liveSettings returns settings that send requests instead of recording or replaying them. A fork cannot be replayed, and a
// recording has no answers to changed requests. A fork of a replay pays for its requests, so it gets the budget of the
// recorded run.
func liveSettings(ctx context.Context, store *sqlite.Store, s engine.Settings) engine.Settings {
	if s.Replay != "" {
		if of, err := store.Run(ctx, s.Replay); err == nil { // else it was deleted; Warnings says that the fork pays
			s.Remote, s.TimeScale = of.Settings.Remote, of.Settings.TimeScale
			if s.Budget == (engine.Budget{}) {
				s.Budget = of.Settings.Budget
			}
		}
	}
	s.Record, s.Replay = false, ""
	return s
}

// live returns the run that sent the requests: the parent, or the recorded run that the parent replays.
func (p *Parent) live() engine.RunID { return cmp.Or(p.Record.Settings.Replay, p.Record.ID) }

// checkpoints lists the checkpoints of the run, oldest first.
func (p *Parent) checkpoints() string {
	var all []string
	for _, c := range slices.Backward(p.all) {
		all = append(all, fmt.Sprintf("%d (cycle %d)", c.Number, c.Cycle))
	}
	if len(all) == 1 {
		return "is " + all[0]
	}
	return "are " + strings.Join(all, ", ")
}

// String describes where the fork begins.
func (p *Parent) String() string {
	return fmt.Sprintf("fork of %s at the start of cycle %d (checkpoint %d)", p.Record.ID, p.Point.Cycle, p.Point.Number)
}

// Given returns the parent's parameters that differ from the defaults of its scenario, as texts for a command line.
func (p *Parent) Given() map[string]string {
	given := map[string]string{}
	for i := range p.Scenario.Parameters {
		q := &p.Scenario.Parameters[i]
		text, err1 := value.Text(q.Value)
		usual, err2 := value.Text(q.Default)
		if err1 == nil && (err2 != nil || text != usual) {
			given[q.Name] = text
		}
	}
	return given
}

// Read reads the scenario of a fork from a file; "" is the scenario stored with the parent. The given parameters replace
// those of the parent. Parameters of the parent that the file does not define are left out.
func (p *Parent) Read(path string, given map[string]string) (*scenario.Scenario, error) {
	all := p.Given()
	if path == "" {
		maps.Copy(all, given)
		s, err := scenario.Reread(p.Record.Source, all)
		if err == nil {
			secrets.TakeGiven(s)
		}
		return s, err
	}
	connectors, err := authoring.Connectors(p.data)
	if err != nil {
		return nil, err
	}
	x := scenario.Extras{Connectors: connectors, Payload: payloadOf(&p.Record.Source)}
	s, err := authoring.LoadWith(path, x) // to learn its parameters
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(all, func(name, _ string) bool {
		return !slices.ContainsFunc(s.Parameters, func(q scenario.Parameter) bool { return q.Name == name })
	})
	maps.Copy(all, given)
	x.Parameters = all
	return authoring.LoadWith(path, x)
}

// payloadOf returns the payload that the chains of a run read as input; nil if there is none.
func payloadOf(src *engine.Source) *scenario.Payload {
	for name, text := range src.Files {
		if base, ok := strings.CutPrefix(name, engine.PayloadFiles); ok {
			return &scenario.Payload{Name: base, Text: text}
		}
	}
	return nil
}

// Settings resolves the settings of a fork with a scenario. They are the parent's, without recording and replay, changed by
// flags, by the environment, and by settings of the scenario that differ from the parent's scenario. Its errors are joined
// *engine.FieldError values.
func (p *Parent) Settings(s *scenario.Scenario, flags map[string]string, env func(string) string) (engine.Settings, error) {
	was, now := p.Scenario.Settings(), s.Settings()
	given := map[string]string{}
	for name, text := range now {
		if was[name] != text {
			given[name] = text
		}
	}
	if flags["cycles"] != "" || flags["hours"] != "" {
		delete(given, "cycles")
	}
	maps.Copy(given, flags)
	settings, _, err := config.Layers{Flags: given, Env: env, Run: &p.defaults}.Resolve()
	return settings, err
}

// first returns the first cycle of the launch.
func (l *Launch) first() int {
	if l.Fork == nil {
		return 0
	}
	return l.Fork.Point.Cycle
}

// shopFolder returns the folder of the mock shop's log.
func (l Services) shopFolder() string { return cmp.Or(l.Scratch, l.Data) }

// checkFork checks that at least one cycle follows the checkpoint of a fork.
func (l *Launch) checkFork() error {
	if l.Fork == nil || l.Settings.Cycles == 0 || l.first() < l.Settings.Cycles {
		return nil
	}
	hint := fmt.Sprintf("choose more than %d cycles", l.first())
	if slices.ContainsFunc(l.Fork.all, func(c engine.CheckpointRecord) bool { return c.Cycle < l.Settings.Cycles }) {
		hint += ", or another checkpoint: there " + l.Fork.checkpoints()
	}
	return &engine.FieldError{
		Field: "cycles", Hint: hint,
		Problem: fmt.Sprintf("checkpoint %d of run %s is at the start of cycle %d, and the fork has %d", l.Fork.Point.Number, l.Fork.Record.ID, l.first(), l.Settings.Cycles),
	}
}

// InheritPersonas reuses the personas that a model wrote for the parent of a fork, if the fork would request the same ones.
func (l *Launch) InheritPersonas() error {
	if l.Fork == nil {
		return nil
	}
	// Another seed draws other sessions but needs no other personas. Personas that were paid for are reused.
	seed, src := l.Fork.Record.Settings.Seed, l.Fork.Record.Source
	wanted, kept := l.Scenario.Writing(seed), src.Files[scenario.PersonasName]
	if wanted == nil || kept == nil {
		return nil
	}
	again, err := scenario.Reread(src, l.Fork.Given())
	if err != nil {
		return storedScenarioError(l.Fork.Record.ID, err)
	}
	was := again.Writing(seed)
	if was == nil || was.Count() != wanted.Count() {
		return nil
	}
	anywhere := func(*chain.Service) string { return "" }
	for i := range was.Count() {
		before, err1 := was.Request(i, anywhere)
		now, err2 := wanted.Request(i, anywhere)
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Errorf("the request for persona %d: %w", i+1, err)
		}
		if before != now {
			return nil
		}
	}
	return wanted.Settle(bytes.Split(bytes.TrimSuffix(kept, []byte("\n")), []byte("\n")))
}

// create adds a new run to the store. For a fork, it also copies the log of the parent's mock shop up to the checkpoint; if
// that fails, it adds nothing.
func (l *Launch) create(ctx context.Context, r *engine.RunRecord) (err error) {
	if l.Fork == nil {
		return l.Store.Create(ctx, *r)
	}
	f, err := l.inheritance()
	if err != nil {
		return err
	}
	r.Parent, r.ForkCycle, r.Cycle = l.Fork.Record.ID, l.first(), l.first()
	if r.ForkedAt = l.Fork.Point.At; !view.IsSurvey(r) {
		r.Kept = l.Fork.Record.Kept + l.Fork.Point.Kept
	}
	from, to := config.ShopLog(l.shopFolder(), l.Fork.live()), config.ShopLog(l.shopFolder(), r.ID)
	if l.mocksShop() {
		err := mock.CopyLog(to, from, l.first())
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // without a log, the shop begins empty; Warnings says so
			return fmt.Errorf("copy the mock shop of run %s: %w", l.Fork.live(), err)
		}
	}
	if err := mocks.Copy(l.shopFolder(), l.Fork.live(), r.ID, l.first()); err != nil {
		return err
	}
	if err := l.Store.Fork(ctx, *r, f); err != nil {
		if remove := os.Remove(to); !errors.Is(remove, fs.ErrNotExist) {
			err = errors.Join(err, remove)
		}
		return err
	}
	return nil
}

// services returns the services of the parent.
func (p *Parent) services() Services {
	return Services{Scenario: p.Scenario, Settings: p.Record.Settings}
}

// inheritance returns what a fork inherits from its parent in addition to memory.
func (l *Launch) inheritance() (storage.Fork, error) {
	f := storage.Fork{Checkpoint: l.Fork.Point.Number}
	before := l.Fork.services()
	for _, s := range l.services() {
		was := before.Scenario.Service(s.Name)
		if was == nil {
			continue
		}
		if s.Kind != was.Kind || pacing(s) != pacing(was) {
			f.Untuned = append(f.Untuned, s.Name)
		}
		if s.Kind == "llm" && l.address(s) != before.address(was) {
			f.Unanswered = true
		}
	}
	f.Untuned = append(f.Untuned, l.changedLimits()...)
	var err error
	f.Moved, err = l.moved()
	return f, err
}

// changedLimits names the limits of services that follow from a setting that the fork changes.
func (l *Launch) changedLimits() (names []string) {
	was, now := &l.Fork.Record.Settings, &l.Settings
	if was.MaxLLMCalls != now.MaxLLMCalls {
		names = append(names, "max-llm-calls")
	}
	for _, s := range l.services() {
		if was.Breaker != now.Breaker {
			names = append(names, s.Name+".breaker")
		}
		if s.Kind == "llm" && was.LLMRate != now.LLMRate {
			names = append(names, s.Name+".rate")
		}
	}
	return names
}

// pacing describes the limits of a service in the scenario that users can change during a run.
func pacing(s *chain.Service) string {
	if s.Postgres != nil {
		return fmt.Sprintf("%+v", s.Postgres.Limits)
	}
	limits := s.Limits
	limits.NoBreaker = false
	return fmt.Sprintf("%+v", limits)
}

// moved maps the indexes of the parent's agents to indexes of the fork, by their IDs; nil if no index changes.
func (l *Launch) moved() (map[int]int, error) {
	was, before := l.Fork.Record.Settings.Seed, l.Fork.Scenario
	if l.Settings.Seed == was && l.Scenario.Source.Hash == before.Source.Hash && maps.Equal(l.Scenario.Source.Parameters, before.Source.Parameters) {
		return nil, nil //nolint:nilnil // no agent moved
	}
	old, now := before.Program(was), l.Scenario.Program(l.Settings.Seed)
	places := make(map[string]int, l.Scenario.Agents)
	for i := range l.Scenario.Agents {
		id, err := now.AgentID(i)
		if err != nil {
			return nil, fmt.Errorf("agent %d of the fork: %w", i, err)
		}
		places[id] = i
	}
	moved, same := make(map[int]int, before.Agents), true
	for i := range before.Agents {
		id, err := old.AgentID(i)
		if err != nil {
			return nil, fmt.Errorf("agent %d of run %s: %w", i, l.Fork.Record.ID, err)
		}
		if at, ok := places[id]; ok {
			moved[i] = at
		}
		same = same && moved[i] == i && len(moved) == i+1
	}
	if same {
		return nil, nil //nolint:nilnil // no agent moved
	}
	return moved, nil
}

// mocksShop reports whether a service is the mock shop.
func (l Services) mocksShop() bool {
	return slices.ContainsFunc(l.services(), func(s *chain.Service) bool { return s.Kind == "http" && l.address(s) == mocks.Shop })
}

// lineage returns the runs that a run was forked from, under the IDs that their sessions sent to services. It ends at the
// first run that is no longer in the store.
func lineage(ctx context.Context, store *sqlite.Store, r *engine.RunRecord) (all []engine.RunID) {
	for parent := r.Parent; parent != ""; {
		record, err := store.Run(ctx, parent)
		if err != nil {
			return append(all, parent)
		}
		all = append(all, cmp.Or(record.Settings.Replay, record.ID))
		parent = record.Parent
	}
	return all
}
