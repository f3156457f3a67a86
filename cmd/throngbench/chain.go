package main

import (
	"context"
	_ "embed"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/run"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/storage/sqlite"
)

//go:embed peers/langgraph.mjs
var langgraphJS string

const (
	langgraphVersion     = "1.7.3"
	langgraphCoreVersion = "1.4.0"
	langgraphZodVersion  = "4.6.7"
)

// graphOf is the work of a row: a scenario and what the step that ends it gives agent i.
type graphOf struct {
	name, steps string
	gives       func(i int) int
}

// graphFunction is what its steps call, as nodes of LangGraph call a function of JavaScript.
const graphFunction = `
functions: |
    def add(x, y = 1):
        return x + y
`

var (
	sequence = graphOf{"sequence", `
    step a: {kind: python, call: add(agent.index)}
    step b: {kind: python, call: add(steps.a)}
    step c: {kind: python, call: add(steps.b)}
    step d: {kind: python, call: add(steps.c)}
    step e: {kind: python, call: add(steps.d)}
`, func(i int) int { return i + 5 }}
	diamond = graphOf{"diamond", `
    step a: {kind: python, call: add(agent.index)}
    step b: {kind: python, call: add(steps.a), parallel: true}
    step c: {kind: python, call: add(steps.a), parallel: true}
    step d: {kind: python, call: "add(steps.b, steps.c)"}
`, func(i int) int { return 2*i + 4 }}
	// nothing is the lightest that a step can be: a value that is known when the file is read.
	nothing = graphOf{"nothing", `
    step a: {kind: python, call: 5}
    step b: {kind: python, call: 5}
    step c: {kind: python, call: 5}
    step d: {kind: python, call: 5}
    step e: {kind: python, call: 5}
`, func(int) int { return 5 }}
)

// chainRows measure chains of steps that compute.
func chainRows() []row {
	const rate, used = "sessions/s", "CPU µs/session"
	row7 := func(name, what string, journaled bool, graphs ...graphOf) row {
		keeps := map[bool]string{true: ", journaled", false: ""}[journaled]
		r := row{
			name: name, what: what, shown: []string{rate, used, "peak MB"},
			note: "LangGraph runs on the one thread that JavaScript has, Throng on all cores; the time of the processor is that of all threads.",
		}
		for i, g := range graphs {
			of := "Throng" + keeps
			if i > 0 {
				of = "Throng, steps that do nothing"
			}
			r.sides = append(r.sides, side{name: of, run: func(ctx context.Context, e env) (figures, error) { return g.run(ctx, e, journaled) }})
		}
		peer := len(r.sides)
		r.sides = append(r.sides, side{
			name: "LangGraph" + map[bool]string{true: ", checkpointer", false: ""}[journaled], prepare: langgraph,
			run: func(ctx context.Context, e env) (figures, error) {
				return script(ctx, "env", "NODE_ENV=production", "LANGSMITH_TRACING=false", "node", "--input-type=module", "-e", langgraphJS,
					e.langgraphDir(), graphs[0].name, fmt.Sprint(journaled), "1000", "4")
			},
		})
		r.ratios = []ratio{
			{name: "times LangGraph's sessions/s", must: 300, aim: 1000, of: over(0, rate, peer, rate)},
			{name: "times less of the processor", of: over(peer, used, 0, used)},
		}
		return r
	}
	return []row{
		row7("7", "Sessions of five steps one after another", false, sequence, nothing),
		row7("7b", "Sessions of a diamond of four steps", false, diamond),
		row7("7c", "Sessions of five steps, journaled, beside the checkpointer in memory", true, sequence),
	}
}

// run executes the graph for very many agents, and counts until all of it is written.
func (g graphOf) run(ctx context.Context, e env, journaled bool) (figures, error) {
	const agents = 400_000
	text := fmt.Sprintf("population: {count: %d}\n%s\nchain c:\n%s", agents, graphFunction, g.steps)
	s, err := scenarioOf(text)
	if err != nil {
		return nil, err
	}
	settings := engine.DefaultSettings()
	settings.Limit = 50
	c := run.Config{ID: "bench", Agents: agents, Clock: s.Clock, Settings: settings}
	if err := g.check(ctx, s, c); err != nil {
		return nil, err
	}
	finish := func() error { return nil }
	if journaled {
		store, err := sqlite.Open(e.dir, sqlite.Options{Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return nil, err
		}
		defer func() { _ = store.Close() }() // all is written by then
		if err := store.Create(ctx, engine.RunRecord{ID: c.ID, Settings: settings, Cycles: 1, Created: time.Now()}); err != nil {
			return nil, err
		}
		journal, err := store.Journal(c.ID)
		if err != nil {
			return nil, err
		}
		c.Journal, finish = journal, func() error { return journal.Close(ctx) }
	}
	c.Program = s.Program(1)
	began, used := time.Now(), ownTime()
	r, err := run.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	result := r.Wait()
	if err := finish(); err != nil {
		return nil, err
	}
	took := time.Since(began)
	if ok := result.Totals.Outcomes[engine.OK]; ok != agents {
		return nil, fmt.Errorf("%d of %d sessions ended well", ok, agents)
	}
	return figures{
		"sessions/s": agents / took.Seconds(), "CPU µs/session": (ownTime() - used).Seconds() * 1e6 / agents,
		"peak MB": ownPeak(),
	}, nil
}

// check looks at what the chain gives some agents.
func (g graphOf) check(ctx context.Context, s *scenario.Scenario, c run.Config) error {
	reports := make(chan *chain.Report, 3)
	p := s.Program(1)
	p.Watch(func(r *chain.Report) { reports <- r })
	c.Agents, c.Program = cap(reports), p
	r, err := run.Start(ctx, c)
	if err != nil {
		return err
	}
	r.Wait()
	close(reports)
	for r := range reports {
		if got, want := string(r.Result), fmt.Sprint(g.gives(r.Agent)); got != want {
			return fmt.Errorf("the %s gives agent %d %s, not %s", g.name, r.Agent, got, want)
		}
	}
	return nil
}

func (e env) langgraphDir() string { return filepath.Join(e.tools, "langgraph-"+langgraphVersion) }

// langgraph installs LangGraph, unless it is there.
func langgraph(ctx context.Context, e env) (string, error) {
	node, err := exec.CommandContext(ctx, "node", "--version").Output()
	if err != nil {
		return "", missingError("node is not installed")
	}
	version := langgraphVersion + ", node " + strings.TrimPrefix(strings.TrimSpace(string(node)), "v")
	dir := e.langgraphDir()
	if _, err := os.Stat(dir); err == nil {
		return version, nil
	}
	if err := os.MkdirAll(e.tools, 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(e.tools, "langgraph-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	out, err := exec.CommandContext(ctx, "npm", "install", "--prefix", temp, "--no-audit", "--no-fund", "--ignore-scripts",
		"@langchain/langgraph@"+langgraphVersion, "@langchain/core@"+langgraphCoreVersion, "zod@"+langgraphZodVersion).CombinedOutput()
	if err != nil {
		last := strings.Split(strings.TrimSpace(string(out)), "\n")
		return "", missingError("npm could not install it: " + last[len(last)-1])
	}
	return version, os.Rename(temp, dir)
}
