// Package cleanup removes at services what the agents of a run made there.
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

// Plan is what removes at services what the agents of a run made there.
type Plan struct {
	Run      engine.RunRecord
	Scenario *scenario.Scenario // its chain, and what each agent made as its input
	Settings engine.Settings
	Resume   engine.RunID // the cleanup to resume; "" begins one

	Agents   int // with something left to remove
	Sessions int64
	Events   map[string]int64 // that say what was made, by name
	Requests Requests         // that it sends
	Hosts    []Host           // where requests go
	Done     []engine.RunID   // the cleanups that were carried out before
}

// Requests is how many requests a cleanup sends, without retries: as far as the file says it.
type Requests struct {
	Least int64 `json:"least"`
	Most  int64 `json:"most"`
	More  bool  `json:"more,omitempty"` // it may be more than Most: that depends on answers
}

func (r Requests) String() string {
	switch {
	case r.More:
		return "at least " + engine.Counted(r.Least, "request", "requests") + "; how many more depends on the answers"
	case r.Least == r.Most:
		return engine.Counted(r.Most, "request", "requests")
	case r.Least == 0:
		return "up to " + engine.Counted(r.Most, "request", "requests")
	}
	return engine.FormatCount(r.Least) + " to " + engine.Counted(r.Most, "request", "requests")
}

// errNoCleanup is that the scenario does not say how to remove what its agents made.
var errNoCleanup = &engine.FieldError{Field: "cleanup", Problem: "the scenario names no cleanup", Hint: "cleanup: CHAIN, see assets/scenarios/README.md"}

// Host is a service that a cleanup may ask.
type Host struct{ Service, Address string }

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

// New finds out what the agents of a run made that no earlier cleanup has removed. src is the scenario to go by;
// that of the run, or a newer one with the same services.
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
		if rows.Len() > authoring.MaxPayload {
			return nil, &engine.FieldError{Field: "cleanup", Problem: fmt.Sprintf("what the agents made takes more than %s", engine.FormatBytes(authoring.MaxPayload)), Hint: "name the events that matter: cleanup: {chain: …, events: […]}"}
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

// hosts notes where requests go: where the run's went, and nowhere else.
func (c *Plan) hosts(own, whole *scenario.Scenario) error {
	address := func(s *chain.Service) string { return services.Address(&c.Run.Settings, s) }
	mocked := true
	for _, s := range whole.Services {
		i := slices.IndexFunc(own.Services, func(o *chain.Service) bool { return o.Name == s.Name })
		if i < 0 || address(own.Services[i]) != address(s) {
			return &engine.FieldError{
				Field: "service " + s.Name, Problem: fmt.Sprintf("run %s did not ask it at that address", c.Run.ID), Hint: "a cleanup goes to the hosts of its run only",
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
		return &engine.FieldError{Field: "cleanup", Problem: fmt.Sprintf("run %s asked only the mocks, which keep nothing after their run", c.Run.ID)}
	}
	return nil
}

// earlier finds the cleanups of the run: one to resume, and else when the things of which agents were removed last.
func (c *Plan) earlier(ctx context.Context, store cleanupStore) (*removals, error) {
	runs, err := store.Runs(ctx)
	if err != nil {
		return nil, err
	}
	done := &removals{agents: map[int]time.Time{}}
	for i := range c.Run.Cleaned {
		m := &c.Run.Cleaned[i]
		i := slices.IndexFunc(runs, func(r engine.RunRecord) bool { return r.ID == m.By && r.Damage == "" })
		if i < 0 && m.Whole() { // it was deleted since; the mark stays
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
			return nil, &engine.FieldError{Field: "run", Problem: fmt.Sprintf("its cleanup, run %s, is in progress", r.ID), Hint: "wait for its end, or stop it: it can be resumed"}
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

// removals says whose things were removed, and when.
type removals struct {
	all    time.Time
	agents map[int]time.Time
}

// has reports whether what a session made was removed: a run may be resumed after its cleanup.
func (r *removals) has(s *engine.SessionRow) bool {
	return s.Started.Before(r.all) || s.Started.Before(r.agents[s.Agent])
}

// resume makes the rest of a cleanup that did not finish the plan.
func (c *Plan) resume(ctx context.Context, store cleanupStore, r *engine.RunRecord) error {
	record, err := store.Run(ctx, r.ID) // with its files
	if err != nil {
		return err
	}
	c.Resume, c.Settings = r.ID, r.Settings
	if c.Scenario, err = scenario.Restore(record.Source); err != nil {
		return fmt.Errorf("the scenario kept with run %s: %w", r.ID, err)
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
			return fmt.Errorf("what is kept with run %s: %w", r.ID, err)
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

// expect counts the requests that its chain sends, by the file and by what was made.
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
			if loop.Nested { // how often its loop runs is not counted
				n, ok = 0, false
			}
			known = known && ok && loop.Most < odds.Endless
			all.Least += loop.Least * n
			all.Most += loop.Most * n
		}
	}
	all.More = !known
	if c.Resume != "" { // a session that was interrupted has sent some of its own
		all.Least = 0
	}
}

// collect reads what the agents of the run made, but for those whose was removed.
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

// settle makes the settings of the cleanup: the run's own, for one pass.
func (c *Plan) settle() {
	agents := c.Settings.Agents
	s := c.Run.Settings
	s.Cleanup, s.Agents, s.Filter, s.Cycles, s.Hours, s.TimeScale = c.Run.ID, agents, "", 1, 0, 0
	s.WarmUp, s.Sequential, s.Record, s.Replay, s.Remote, s.Batch, s.CycleTimeout, s.Budget = nil, false, false, "", false, 0, 0, engine.Budget{}
	c.Settings = s
}

// Counted says how many of what were made, such as "412 order, 3 refund".
func (c *Plan) Counted() string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(c.Events)) {
		parts = append(parts, engine.FormatCount(c.Events[name])+" "+name)
	}
	return strings.Join(parts, ", ")
}
