package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
)

// Cleanup is what removes at services what the agents of a run made there.
type Cleanup struct {
	Run      engine.RunRecord
	Scenario *scenario.Scenario // its chain, and what each agent made as its input
	Settings engine.Settings
	Resume   engine.RunID // the cleanup to go on with; "" begins one

	Agents   int
	Sessions int64
	Events   map[string]int64 // that say what was made, by name
	Hosts    []CleanupHost    // where requests go
	Done     []engine.RunID   // the cleanups that were carried out before
}

// errNoCleanup is that the scenario does not say how to remove what its agents made.
var errNoCleanup = &engine.FieldError{Field: "cleanup", Problem: "the scenario names no cleanup", Hint: "cleanup: CHAIN, see assets/scenarios/README.md"}

// CleanupHost is a service that a cleanup may ask.
type CleanupHost struct{ Service, Address string }

// cleanupStore is what is read of a store for a cleanup.
type cleanupStore interface {
	storage.Reader
	Runs(ctx context.Context) ([]engine.RunRecord, error)
}

// agentMade is what one agent made, as the chain of a cleanup finds it in input.
type agentMade struct {
	Run      engine.RunID  `json:"run"`
	Sessions []madeSession `json:"sessions"`
	Events   []madeEvent   `json:"events"`
}

type madeSession struct {
	UUID    string `json:"uuid"`
	Cycle   int    `json:"cycle"`
	Outcome string `json:"outcome"`
}

type madeEvent struct {
	Name    string          `json:"name"`
	Cycle   int             `json:"cycle"`
	Session string          `json:"session"`
	Data    json.RawMessage `json:"data"`
}

// NewCleanup finds out what the agents of a run made that no earlier cleanup has removed. src is the scenario to go by;
// that of the run, or a newer one with the same services.
func NewCleanup(ctx context.Context, store cleanupStore, r *engine.RunRecord, src engine.Source) (*Cleanup, error) {
	c := &Cleanup{Run: *r, Events: map[string]int64{}}
	switch {
	case r.InProgress:
		return nil, &engine.FieldError{Field: "run", Problem: string(r.ID) + " is in progress", Hint: "stop it, or wait for its end"}
	case r.Settings.Cleanup != "":
		return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("%s is the cleanup of run %s", r.ID, r.Settings.Cleanup), Hint: "throngctl cleanup " + string(r.Settings.Cleanup)}
	}
	own, err := scenario.Restore(r.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario kept with run %s: %w", r.ID, err)
	}
	whole, err := scenario.ReadKept(src)
	if err != nil {
		return nil, err
	}
	if whole.Cleanup == nil {
		return nil, errNoCleanup
	}
	if err := c.hosts(own, whole); err != nil {
		return nil, err
	}
	removed, err := c.earlier(ctx, store)
	if err != nil || c.Resume != "" {
		return c, err
	}
	all, err := c.collect(ctx, store, whole.Cleanup.Events, removed)
	if err != nil || c.Agents == 0 {
		return c, err
	}
	var rows bytes.Buffer
	program := own.Program(r.Settings.Seed)
	for agent := range own.Agents {
		one := all[agent]
		line, err := json.Marshal(one) // null for those who made nothing
		if err != nil {
			return nil, fmt.Errorf("what agent %d made: %w", agent, err)
		}
		rows.Write(append(line, '\n'))
		if rows.Len() > maxPayload {
			return nil, &engine.FieldError{Field: "cleanup", Problem: fmt.Sprintf("what the agents made takes more than %s", engine.FormatBytes(maxPayload)), Hint: "name the events that matter: cleanup: {chain: …, events: […]}"}
		}
		if one != nil {
			id, err := program.AgentID(agent)
			if err != nil {
				return nil, err
			}
			c.Settings.Agents = append(c.Settings.Agents, id)
		}
	}
	if c.Scenario, err = scenario.ReadCleanup(src, rows.Bytes()); err != nil {
		return nil, err
	}
	c.settle()
	return c, nil
}

// hosts notes where requests go: where the run's went, and nowhere else.
func (c *Cleanup) hosts(own, whole *scenario.Scenario) error {
	l := Launch{Settings: c.Run.Settings}
	mocked := true
	for _, s := range whole.Services {
		i := slices.IndexFunc(own.Services, func(o *chain.Service) bool { return o.Name == s.Name })
		if i < 0 || l.address(own.Services[i]) != l.address(s) {
			return &engine.FieldError{
				Field: "service " + s.Name, Problem: fmt.Sprintf("run %s did not ask it at that address", c.Run.ID), Hint: "a cleanup goes to the hosts of its run only",
			}
		}
		address := l.address(s)
		if s.Postgres == nil && strings.HasPrefix(address, scenario.Rehearsal) {
			continue
		}
		mocked = false
		if s.Postgres != nil {
			address = "a database"
		} else if safe := storage.WithoutSecrets(map[string]string{"": address})[""]; safe != "" {
			address = safe
		}
		c.Hosts = append(c.Hosts, CleanupHost{s.Name, address})
	}
	if mocked {
		return &engine.FieldError{Field: "cleanup", Problem: fmt.Sprintf("run %s asked only the mocks, which keep nothing after their run", c.Run.ID)}
	}
	return nil
}

// earlier finds the cleanups of the run: one to go on with, and else the agents that need none any more.
func (c *Cleanup) earlier(ctx context.Context, store cleanupStore) (removed map[int]bool, err error) {
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	removed = map[int]bool{}
	for i := range runs {
		r := &runs[i]
		switch {
		case r.Settings.Cleanup != c.Run.ID || r.Damage != "":
			continue
		case r.InProgress:
			return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("its cleanup, run %s, is in progress", r.ID)}
		case r.Ending != engine.EndFinished:
			c.Resume, c.Agents, c.Settings = r.ID, len(r.Settings.Agents), r.Settings
			record, err := store.Run(ctx, r.ID)
			if err != nil {
				return nil, err
			}
			c.Scenario, err = scenario.Restore(record.Source)
			return nil, err
		}
		c.Done = append(c.Done, r.ID)
		for s, err := range store.Sessions(ctx, r.ID, 0, 0) {
			if err != nil {
				return nil, err
			}
			if s.Outcome.Commits() {
				removed[s.Agent] = true
			}
		}
	}
	return removed, nil
}

// collect reads what the agents of the run made, but for those whose was removed.
func (c *Cleanup) collect(ctx context.Context, store cleanupStore, events []string, removed map[int]bool) (map[int]*agentMade, error) {
	all := map[int]*agentMade{}
	for s, err := range store.Sessions(ctx, c.Run.ID, 0, 0) {
		if err != nil {
			return nil, err
		}
		if removed[s.Agent] {
			continue
		}
		uuid := engine.SessionUUID(c.Run.ID, s.Cycle, s.Agent)
		var of []madeEvent
		for _, e := range s.Events {
			if len(events) == 0 || slices.Contains(events, e.Name) {
				c.Events[e.Name]++
				data := json.RawMessage(bytes.Clone(e.Data))
				if len(data) == 0 {
					data = json.RawMessage("null")
				}
				of = append(of, madeEvent{e.Name, s.Cycle, uuid, data})
			}
		}
		if len(events) > 0 && len(of) == 0 {
			continue
		}
		one := all[s.Agent]
		if one == nil {
			one = &agentMade{Run: c.Run.ID}
			all[s.Agent] = one
		}
		c.Sessions++
		one.Sessions = append(one.Sessions, madeSession{uuid, s.Cycle, s.Outcome.String()})
		one.Events = append(one.Events, of...)
	}
	c.Agents = len(all)
	return all, nil
}

// settle makes the settings of the cleanup: the run's own, for one pass.
func (c *Cleanup) settle() {
	agents := c.Settings.Agents
	s := c.Run.Settings
	s.Cleanup, s.Agents, s.Filter, s.Cycles, s.Hours, s.TimeScale = c.Run.ID, agents, "", 1, 0, 0
	s.WarmUp, s.Sequential, s.Record, s.Replay, s.Remote, s.Batch, s.CycleTimeout, s.Budget = nil, false, false, "", false, 0, 0, engine.Budget{}
	c.Settings = s
}

// Counted says how many of what were made, such as "412 order, 3 refund".
func (c *Cleanup) Counted() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Events)) {
		parts = append(parts, engine.FormatCount(c.Events[name])+" "+name)
	}
	return strings.Join(parts, ", ")
}
