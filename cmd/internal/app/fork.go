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
	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/mock"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/storage"
	"github.com/throng-sim/throng/storage/sqlite"
)

// Parent is a run with one of its checkpoints: a fork begins where that stands, at the start of its cycle.
type Parent struct {
	Record   engine.RunRecord // with the limit that was in force at the checkpoint
	Scenario *scenario.Scenario
	Point    engine.CheckpointRecord
	begins   engine.Settings // what a fork has where nobody says otherwise
	data     string
	others   []engine.CheckpointRecord // all that there are, newest first
}

// FindParent finds the checkpoint of a run; number 0 is the newest that a cycle follows. A number that is none of the
// run's is an *engine.FieldError that names those that are.
func FindParent(ctx context.Context, store *sqlite.Store, data string, run engine.RunID, number int) (*Parent, error) {
	record, err := store.Run(ctx, run)
	if err != nil {
		return nil, err
	}
	if record.Source.Alone() != "" {
		return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("%s is a chain that was run alone, once", record.ID), Hint: "there is no later cycle to begin at"}
	}
	all, err := store.Checkpoints(ctx, record.ID)
	if err != nil {
		return nil, err
	}
	p := &Parent{Record: record, others: all, data: data}
	i := slices.IndexFunc(all, func(c engine.CheckpointRecord) bool { return c.Number == number })
	if number == 0 {
		i = slices.IndexFunc(all, func(c engine.CheckpointRecord) bool { return record.Cycles == 0 || c.Cycle < record.Cycles })
	}
	switch {
	case len(all) == 0:
		return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("%s keeps no checkpoint", record.ID), Hint: "throngctl checkpoint takes one of a run in progress, a shorter --checkpoint-interval some of a short one"}
	case number == 0 && i < 0: // all stand at its end: that is refused, or it becomes longer
		i = 0
	case i < 0:
		return nil, &engine.FieldError{Field: "checkpoint", Problem: fmt.Sprintf("%s keeps no checkpoint %d", record.ID, number), Hint: "there " + p.checkpoints()}
	}
	p.Point = all[i]
	state, err := store.State(ctx, record.ID, p.Point.Number)
	if err != nil {
		return nil, err
	}
	if state.Limit > 0 {
		p.Record.Settings.Limit = state.Limit
		p.Record.Settings.Ceiling = max(p.Record.Settings.Ceiling, state.Limit)
	}
	p.begins = asking(ctx, store, p.Record.Settings)
	p.Scenario, err = scenario.Restore(record.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario kept with run %s: %w", record.ID, err)
	}
	return p, nil
}

// asking are settings of a run without those of recordings: nobody can replay a fork, and no recording answers what a fork
// has otherwise. One of a replay is paid again, so that what bounded the recorded run bounds it too.
func asking(ctx context.Context, store *sqlite.Store, s engine.Settings) engine.Settings {
	if s.Replay != "" {
		if of, err := store.Run(ctx, s.Replay); err == nil { // else it was deleted; Warnings tells that the fork pays
			s.Remote, s.TimeScale = of.Settings.Remote, of.Settings.TimeScale
			if s.Budget == (engine.Budget{}) {
				s.Budget = of.Settings.Budget
			}
		}
	}
	s.Record, s.Replay = false, ""
	return s
}

// asked names the run that asked the services: the parent, or the one that it was answered from.
func (p *Parent) asked() engine.RunID { return cmp.Or(p.Record.Settings.Replay, p.Record.ID) }

// checkpoints names those that there are.
func (p *Parent) checkpoints() string {
	var all []string
	for _, c := range slices.Backward(p.others) {
		all = append(all, fmt.Sprintf("%d (cycle %d)", c.Number, c.Cycle))
	}
	if len(all) == 1 {
		return "is " + all[0]
	}
	return "are " + strings.Join(all, ", ")
}

// String names the place.
func (p *Parent) String() string {
	return fmt.Sprintf("fork of %s at the start of cycle %d (checkpoint %d)", p.Record.ID, p.Point.Cycle, p.Point.Number)
}

// Given are the parent's parameters that differ from the defaults of its scenario, as written on a command line.
func (p *Parent) Given() map[string]string {
	given := map[string]string{}
	for i := range p.Scenario.Parameters {
		q := &p.Scenario.Parameters[i]
		value, err1 := script.Text(q.Value)
		usual, err2 := script.Text(q.Default)
		if err1 == nil && (err2 != nil || value != usual) {
			given[q.Name] = value
		}
	}
	return given
}

// Read reads the scenario of a fork, from the file that is named or, with "", as it is kept with the parent. The
// parameters that are given come on top of the parent's; those of it that another file does not know are left out.
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
	s, err := authoring.LoadWith(path, x)
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

// payloadOf is what a run's chains see as input; nil is missing.
func payloadOf(src *engine.Source) *scenario.Payload {
	for name, text := range src.Files {
		if base, ok := strings.CutPrefix(name, engine.PayloadFiles); ok {
			return &scenario.Payload{Name: base, Text: text}
		}
	}
	return nil
}

// Settings are those of a fork with a scenario: the parent's, but for recordings, what flags and the environment say, and for what
// another file says that the parent's said otherwise. Its errors are *engine.FieldError, joined.
func (p *Parent) Settings(s *scenario.Scenario, flags map[string]string, env func(string) string) (engine.Settings, error) {
	was, now := config.FileSettings(p.Scenario), config.FileSettings(s)
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
	settings, _, err := config.Layers{Flags: given, Env: env, Run: &p.begins}.Resolve()
	return settings, err
}

// first is the cycle that a launch begins with.
func (l *Launch) first() int {
	if l.Fork == nil {
		return 0
	}
	return l.Fork.Point.Cycle
}

// shopFolder is where the mock keeps its log.
func (l Services) shopFolder() string { return cmp.Or(l.Scratch, l.Data) }

// checkFork finds out whether any cycle follows the place where a fork begins.
func (l *Launch) checkFork() error {
	if l.Fork == nil || l.Settings.Cycles == 0 || l.first() < l.Settings.Cycles {
		return nil
	}
	hint := fmt.Sprintf("a length of more than %d cycles", l.first())
	if slices.ContainsFunc(l.Fork.others, func(c engine.CheckpointRecord) bool { return c.Cycle < l.Settings.Cycles }) {
		hint += "; or another checkpoint: there " + l.Fork.checkpoints()
	}
	return &engine.FieldError{
		Field: "cycles", Hint: hint,
		Problem: fmt.Sprintf("checkpoint %d of run %s is at the start of cycle %d, and the fork has %d", l.Fork.Point.Number, l.Fork.Record.ID, l.first(), l.Settings.Cycles),
	}
}

// Inherit takes the personas that a model wrote for the parent of a fork over, if the same would be asked for.
func (l *Launch) Inherit() error {
	if l.Fork == nil {
		return nil
	}
	// Another seed draws other sessions, it makes no other persons: what was paid for stays.
	seed, src := l.Fork.Record.Settings.Seed, l.Fork.Record.Source
	wanted, kept := l.Scenario.Writing(seed), src.Files[scenario.PersonasName]
	if wanted == nil || kept == nil {
		return nil
	}
	again, err := scenario.Reread(src, l.Fork.Given())
	if err != nil {
		return fmt.Errorf("the scenario kept with run %s: %w", l.Fork.Record.ID, err)
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
			return fmt.Errorf("what is asked for persona %d: %w", i+1, err)
		}
		if before != now {
			return nil
		}
	}
	return wanted.Settle(bytes.Split(bytes.TrimSuffix(kept, []byte("\n")), []byte("\n")))
}

// create adds a new run to the store; a fork with the log of its parent's mock up to where it begins, or not at all.
func (l *Launch) create(ctx context.Context, r *engine.RunRecord) (err error) {
	if l.Fork == nil {
		return l.Store.Create(ctx, *r)
	}
	f, err := l.takeover()
	if err != nil {
		return err
	}
	r.Parent, r.ForkCycle, r.Cycle = l.Fork.Record.ID, l.first(), l.first()
	from, to := config.ShopLog(l.Services().shopFolder(), l.Fork.asked()), config.ShopLog(l.Services().shopFolder(), r.ID)
	if l.Services().mocksShop() {
		err := mock.CopyLog(to, from, l.first())
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // without one its shop begins empty; Warnings says so
			return fmt.Errorf("take over the mock of run %s: %w", l.Fork.asked(), err)
		}
	}
	if err := l.Store.Fork(ctx, *r, f); err != nil {
		if remove := os.Remove(to); !errors.Is(remove, fs.ErrNotExist) {
			err = errors.Join(err, remove)
		}
		return err
	}
	return nil
}

// takeover is what a fork takes over of its parent beside memory.
func (l *Launch) takeover() (storage.Fork, error) {
	f := storage.Fork{Checkpoint: l.Fork.Point.Number}
	before := Launch{Scenario: l.Fork.Scenario, Settings: l.Fork.Record.Settings}
	for _, s := range l.Services().services() {
		i := slices.IndexFunc(before.Scenario.Services, func(was *chain.Service) bool { return was.Name == s.Name })
		if i < 0 {
			continue
		}
		was := before.Scenario.Services[i]
		if s.Kind != was.Kind || pacing(s) != pacing(was) {
			f.Untuned = append(f.Untuned, s.Name)
		}
		if s.Kind == "llm" && l.Services().address(s) != before.Services().address(was) {
			f.Unanswered = true
		}
	}
	f.Untuned = append(f.Untuned, l.resettled()...)
	var err error
	f.Moved, err = l.moved()
	return f, err
}

// resettled names what of services follows from a setting that the fork has otherwise.
func (l *Launch) resettled() (names []string) {
	was, now := &l.Fork.Record.Settings, &l.Settings
	if was.MaxLLMCalls != now.MaxLLMCalls {
		names = append(names, "max-llm-calls")
	}
	for _, s := range l.Services().services() {
		if was.Breaker != now.Breaker {
			names = append(names, s.Name+".breaker")
		}
		if s.Kind == "llm" && was.LLMRate != now.LLMRate {
			names = append(names, s.Name+".rate")
		}
	}
	return names
}

// pacing is what the file says of a service that can be changed by hand.
func pacing(s *chain.Service) string {
	if s.Postgres != nil {
		return fmt.Sprintf("%+v", s.Postgres.Limits)
	}
	limits := s.Limits
	limits.NoBreaker = false
	return fmt.Sprintf("%+v", limits)
}

// moved finds where the parent's agents are now, by their ids; nil if all are where they were.
func (l *Launch) moved() (map[int]int, error) {
	was, before := l.Fork.Record.Settings.Seed, l.Fork.Scenario
	if l.Settings.Seed == was && l.Scenario.Source.Hash == before.Source.Hash && maps.Equal(l.Scenario.Source.Parameters, before.Source.Parameters) {
		return nil, nil //nolint:nilnil // nobody moved
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
		return nil, nil //nolint:nilnil // nobody moved
	}
	return moved, nil
}

// mocksShop reports whether a service is the embedded shop.
func (l Services) mocksShop() bool {
	return slices.ContainsFunc(l.services(), func(s *chain.Service) bool { return s.Kind == "http" && l.mocks(s) })
}

// lineage are the runs that a run was forked from, by the names that their sessions had at services: as far as they are
// still in the store.
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
