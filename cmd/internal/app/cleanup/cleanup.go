// Package cleanup plans the removal of the data that the agents of a run created at services.
package cleanup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/cmd/internal/app/services"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/chain/odds"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage"
)

// Plan is a cleanup: a run that removes what the agents of another run created at services.
type Plan struct {
	Run      engine.RunRecord
	Scenario *scenario.Scenario // the cleanup chain; its input is what each agent created
	Settings engine.Settings
	Resume   engine.RunID // the cleanup to resume; "" starts a new one

	Agents   int // with something left to remove
	Sessions int64
	Events   map[string]int64 // events that record what was created, by name
	Requests Requests         // that the cleanup sends
	Hosts    []Host           // that receive requests
	Done     []engine.RunID   // completed cleanups of the run
}

// Requests is the number of requests of a cleanup without retries, as far as the scenario determines it.
type Requests struct {
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	More  bool  `json:"more,omitempty"` // there may be more than Most, depending on answers
}

func (r Requests) String() string {
	switch {
	case r.More:
		return "at least " + engine.Counted(r.Least, "request", "requests") + "; more depend on the answers"
	case r.Least == r.Most:
		return engine.Counted(r.Most, "request", "requests")
	case r.Least == 0:
		return "up to " + engine.Counted(r.Most, "request", "requests")
	}
	return engine.FormatCount(r.Least) + " to " + engine.Counted(r.Most, "request", "requests")
}

// errNoCleanup says that the scenario defines no cleanup.
var errNoCleanup = &engine.FieldError{Field: "cleanup", Problem: "the scenario defines no cleanup", Hint: "add cleanup: CHAIN; see assets/scenarios/README.md"}

// Host is a service that a cleanup may call.
type Host struct{ Service, Address string }

// cleanupStore is the part of a store that a cleanup reads.
type cleanupStore interface {
	storage.Reader
	Runs(ctx context.Context) ([]engine.RunRecord, error)
}

// agentMade is what one agent created, in the form that the cleanup chain reads as input.
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

// New plans the cleanup of what the agents of a run created and no earlier cleanup has removed. src is the scenario with the
// cleanup chain: the run's own, or a newer one with the same services.
func New(ctx context.Context, store cleanupStore, r *engine.RunRecord, src engine.Source) (*Plan, error) {
	c := &Plan{Run: *r, Events: map[string]int64{}}
	switch {
	case r.InProgress:
		return nil, &engine.FieldError{Field: "run", Problem: string(r.ID) + " is in progress", Hint: "stop it, or wait for its end"}
	case r.Settings.Cleanup != "":
		return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("%s is the cleanup of run %s", r.ID, r.Settings.Cleanup), Hint: "throngctl cleanup " + string(r.Settings.Cleanup)}
	}
	own, err := scenario.Restore(r.Source)
	if err != nil {
		return nil, fmt.Errorf("the scenario stored with run %s: %w", r.ID, err)
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
		line, err := json.Marshal(one) // null if the agent created nothing
		if err != nil {
			return nil, fmt.Errorf("the data of agent %d: %w", agent, err)
		}
		rows.Write(append(line, '\n'))
		if rows.Len() > authoring.MaxPayload {
			return nil, &engine.FieldError{Field: "cleanup", Problem: fmt.Sprintf("the data to clean up exceeds %s", engine.FormatBytes(authoring.MaxPayload)), Hint: "name only the events that you need: cleanup: {chain: …, events: […]}"}
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
	c.expect()
	c.settle()
	return c, nil
}

// hosts notes the hosts that receive requests. They must be hosts of the run.
func (c *Plan) hosts(own, whole *scenario.Scenario) error {
	address := func(s *chain.Service) string { return services.Address(&c.Run.Settings, s) }
	mocked := true
	for _, s := range whole.Services {
		called := own.Service(s.Name)
		if called == nil || address(called) != address(s) {
			return &engine.FieldError{
				Field: "service " + s.Name, Problem: fmt.Sprintf("run %s did not call it at that address", c.Run.ID), Hint: "a cleanup may call only the hosts of its run",
			}
		}
		at := address(s)
		if s.Postgres == nil && strings.HasPrefix(at, scenario.Mock) {
			continue
		}
		mocked = false
		if s.Postgres != nil {
			at = "a database"
		} else if safe := storage.WithoutSecrets(map[string]string{"": at})[""]; safe != "" {
			at = safe
		}
		c.Hosts = append(c.Hosts, Host{s.Name, at})
	}
	if mocked {
		return &engine.FieldError{Field: "cleanup", Problem: fmt.Sprintf("run %s called only mocks, which keep nothing after the run", c.Run.ID)}
	}
	return nil
}

// earlier reads the earlier cleanups of the run. It finds one to resume, or returns what they removed.
func (c *Plan) earlier(ctx context.Context, store cleanupStore) (*removals, error) {
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	done := &removals{agents: map[int]time.Time{}}
	for i := range c.Run.Cleaned {
		m := &c.Run.Cleaned[i]
		i := slices.IndexFunc(runs, func(r engine.RunRecord) bool { return r.ID == m.By && r.Damage == "" })
		if i < 0 && m.Whole() { // that cleanup was deleted; its mark remains
			done.all = m.At
			c.Done = append(c.Done, m.By)
		}
	}
	for i := range runs {
		r := &runs[i]
		switch {
		case r.Settings.Cleanup != c.Run.ID || r.Damage != "":
			continue
		case r.InProgress:
			return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("its cleanup, run %s, is in progress", r.ID), Hint: "wait for its end, or stop it and resume it later"}
		case r.Ending != engine.EndFinished:
			return nil, c.resume(ctx, store, r)
		}
		c.Done = append(c.Done, r.ID)
		for s, err := range store.Sessions(ctx, r.ID, 0, 0) {
			if err != nil {
				return nil, err
			}
			if s.Outcome.Commits() && done.agents[s.Agent].Before(r.Created) {
				done.agents[s.Agent] = r.Created
			}
		}
	}
	return done, nil
}

// removals holds the times of the last removals: for all agents, and by agent.
type removals struct {
	all    time.Time
	agents map[int]time.Time
}

// has reports whether the data of a session was removed. A run may be resumed after its cleanup.
func (r *removals) has(s *engine.SessionRow) bool {
	return s.Started.Before(r.all) || s.Started.Before(r.agents[s.Agent])
}

// resume plans the rest of an unfinished cleanup.
func (c *Plan) resume(ctx context.Context, store cleanupStore, r *engine.RunRecord) error {
	record, err := store.Run(ctx, r.ID) // with its files
	if err != nil {
		return err
	}
	c.Resume, c.Settings = r.ID, r.Settings
	if c.Scenario, err = scenario.Restore(record.Source); err != nil {
		return fmt.Errorf("the scenario stored with run %s: %w", r.ID, err)
	}
	done := map[int]bool{}
	for s, err := range store.Sessions(ctx, r.ID, 0, 0) {
		if err != nil {
			return err
		}
		done[s.Agent] = true
	}
	agent := -1
	for line := range bytes.Lines(record.Source.Files[engine.PayloadFiles+scenario.CleanupName]) {
		var one *agentMade
		if err := json.Unmarshal(line, &one); err != nil {
			return fmt.Errorf("the input stored with run %s: %w", r.ID, err)
		}
		if agent++; one == nil || done[agent] {
			continue
		}
		c.Agents++
		c.Sessions += int64(len(one.Sessions))
		for _, e := range one.Events {
			c.Events[e.Name]++
		}
	}
	c.expect()
	return nil
}

// expect counts the requests of the cleanup chain from the scenario and the created data.
func (c *Plan) expect() {
	var events int64
	for _, n := range c.Events {
		events += n
	}
	passes := map[string]int64{"input.events": events, "input.sessions": c.Sessions}
	agents, known := int64(c.Agents), true
	all := &c.Requests
	for _, r := range c.Scenario.Chain.Expect() {
		known = known && r.Most < odds.Endless && !r.More
		all.Least += r.Least * agents
		all.Most += r.Most * agents
		for _, loop := range r.Loops {
			n, ok := passes[loop.Each]
			if loop.Nested { // the passes of nested loops are unknown
				n, ok = 0, false
			}
			known = known && ok && loop.Most < odds.Endless
			all.Least += loop.Least * n
			all.Most += loop.Most * n
		}
	}
	all.More = !known
	if c.Resume != "" { // interrupted sessions have sent some of their requests
		all.Least = 0
	}
}

// collect reads what the agents of the run created and no cleanup removed.
func (c *Plan) collect(ctx context.Context, store cleanupStore, events []string, removed *removals) (map[int]*agentMade, error) {
	all := map[int]*agentMade{}
	for s, err := range store.Sessions(ctx, c.Run.ID, 0, 0) {
		if err != nil {
			return nil, err
		}
		if removed.has(s) {
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

// settle derives the settings of the cleanup from the run's own, for one cycle.
func (c *Plan) settle() {
	agents := c.Settings.Agents
	s := c.Run.Settings
	s.Cleanup, s.Agents, s.Filter, s.Cycles, s.Hours, s.TimeScale = c.Run.ID, agents, "", 1, 0, 0
	s.WarmUp, s.Sequential, s.Record, s.Replay, s.Remote, s.Batch, s.CycleTimeout, s.Budget = nil, false, false, "", false, 0, 0, engine.Budget{}
	c.Settings = s
}

// Counted lists the created things with their counts, for example "412 order, 3 refund".
func (c *Plan) Counted() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Events)) {
		parts = append(parts, engine.FormatCount(c.Events[name])+" "+name)
	}
	return strings.Join(parts, ", ")
}
