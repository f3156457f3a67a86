package main

import (
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

//go:embed peers/wealth.py
var wealthPy string

//go:embed peers/epidemic.py
var epidemicPy string

const (
	worldAgents = 100_000
	worldCycles = 100
)

// wealthWorld is the exchange of wealth of Dragulescu and Yakovenko (2000): an agent that has something hands one unit to another.
const wealthWorld = `
title: Boltzmann wealth exchange
population: {count: %[1]d, id: "a${agent.index}"}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
functions: |
  def wealth(agent):
      return get(agent.memory, "wealth", 1) + len(agent.inbox)
chain trade:
  step count: {kind: python, call: wealth(agent)}
  step pay: {kind: say, when: steps.count > 0, to: "a${int(uniform(0, %[1]d))}", text: "1"}
  step keep: {kind: remember, set: {wealth: "${steps.count - (1 if steps.count > 0 else 0)}"}}
`

// epidemicWorld is an epidemic (SIR, Kermack and McKendrick 1927) on a ring with shortcuts, eight friends an agent.
const epidemicWorld = `
title: Epidemic on a network
population:
  count: %[1]d
  id: a${agent.index}
  attributes: {friends: "${[(agent.index + d) %% %[1]d for d in [1, -1, 2, -2, 7, -7, 61, -61]]}"}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
functions: |
  def state(agent):
      now = get(agent.memory, "state", "I" if agent.index %% 100 == 0 else "S")
      return "I" if now == "S" and len(agent.inbox) > 0 else now
chain live:
  step now: {kind: python, call: state(agent)}
  step infect:
    kind: for
    each: "agent.friends if steps.now == 'I' else []"
    as: friend
    do:
      step meet: {kind: say, when: chance(0.05), to: "a${friend}", text: cough}
  step keep: {kind: remember, set: {state: "${'R' if steps.now == 'I' and chance(0.1) else steps.now}"}}
`

// talkingWorld sends ten messages a session, each to another agent.
const talkingWorld = `
title: Messages
population: {count: %[1]d, id: "a${agent.index}"}
clock: {start: 2026-01-02T08:00:00Z, cycle: 1h, cycles: 1}
chain talk:
  step tell:
    kind: for
    each: "[1, 10, 100, 1000, 10000, 20000, 30000, 40000, 50000, 60000]"
    as: away
    do:
      step one: {kind: say, to: "a${(agent.index + away) %% %[1]d}", text: hello}
`

// worldRows measure agents that follow rules.
func worldRows() []row {
	return []row{
		worldRow("14", "Boltzmann wealth exchange", wealthWorld, wealthPy),
		worldRow("14b", "an epidemic (SIR) on a network", epidemicWorld, epidemicPy),
		talkingRow(),
	}
}

// worldRow compares a world with a plain loop in Python.
func worldRow(name, what, world, peer string) row {
	const used = "CPU µs/session"
	text := fmt.Sprintf(world, worldAgents)
	return row{
		name: name, scale: true,
		what: fmt.Sprintf("A world of %d rule agents, %d cycles: %s", worldAgents, worldCycles, what),
		note: "The loop keeps nothing but the last state. Throng keeps each step of each session, on two cores; this is the CPU time of both.",
		sides: []side{
			{name: "Throng, journaled", run: func(ctx context.Context, e env) (figures, error) { return journaledWorld(ctx, e, text, worldCycles) }},
			{name: "Throng, not journaled", run: func(ctx context.Context, e env) (figures, error) { return worldAlone(ctx, e, text, worldCycles) }},
			{name: "Python", prepare: python, run: func(ctx context.Context, _ env) (figures, error) {
				return script(ctx, "python3", "-c", peer, fmt.Sprint(worldAgents), fmt.Sprint(worldCycles))
			}},
		},
		shown: []string{used, "µs/session", "bytes/session", "peak MB"},
		ratios: []ratio{
			{name: "times Python's speed, not journaled", must: 2, aim: 5, of: over(2, used, 1, used)},
			{name: "times Python's speed, journaled", of: over(2, used, 0, used)},
			{name: used + ", journaled", less: true, of: plain(used)},
		},
	}
}

// talkingRow measures messages between agents.
func talkingRow() row {
	const each, cycles = 10, 5
	text := fmt.Sprintf(talkingWorld, worldAgents)
	const used = "CPU µs/delivery"
	return row{
		name: "14c", scale: true,
		what: fmt.Sprintf("%d messages between agents in each of %d cycles, journaled", worldAgents*each, cycles),
		sides: []side{{name: "Throng", run: func(ctx context.Context, e env) (figures, error) {
			f, err := journaledWorld(ctx, e, text, cycles)
			if err == nil {
				f[used], f["bytes/delivery"] = f["CPU µs/session"]/each, f["bytes/session"]/each
			}
			return f, err
		}}},
		shown:  []string{used, "bytes/delivery", "peak MB"},
		ratios: []ratio{{name: used, less: true, of: plain(used)}},
	}
}

// journaledWorld runs a world with its own store.
func journaledWorld(ctx context.Context, e env, text string, cycles int) (figures, error) {
	t := trial{dir: e.dir, cycles: cycles, text: text, with: func(s *engine.Settings) { s.KeepContent, s.CheckpointEvery = 0, 0 }}
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	began, used := time.Now(), ownTime()
	job.Run.Wait()
	const sessions = worldAgents
	f := figures{
		"µs/session":     time.Since(began).Seconds() * 1e6 / float64(sessions*cycles),
		"CPU µs/session": (ownTime() - used).Seconds() * 1e6 / float64(sessions*cycles),
	}
	if err := t.finish(job, int64(sessions*cycles)); err != nil {
		return nil, err
	}
	bytes, err := t.bytes(ctx)
	f["bytes/session"], f["peak MB"] = bytes/float64(sessions*cycles), ownPeak()
	return f, err
}

// worldAlone runs a world without a store.
func worldAlone(ctx context.Context, e env, text string, cycles int) (figures, error) {
	t := trial{dir: e.dir, text: text}
	s, err := t.load()
	if err != nil {
		return nil, err
	}
	settings := engine.DefaultSettings()
	settings.Cycles, settings.Governor = cycles, engine.Manual
	began, used := time.Now(), ownTime()
	r, err := run.Start(ctx, run.Config{ID: "world", Program: s.Program(settings.Seed), Agents: s.Agents, Clock: s.Clock, Settings: settings})
	if err != nil {
		return nil, err
	}
	result := r.Wait()
	sessions := s.Agents * cycles
	if ended := result.Totals.Outcomes[engine.OK]; ended != int64(sessions) {
		return nil, fmt.Errorf("%d of %d sessions ended well: %s", ended, sessions, result.Reason)
	}
	return figures{
		"µs/session":     time.Since(began).Seconds() * 1e6 / float64(sessions),
		"CPU µs/session": (ownTime() - used).Seconds() * 1e6 / float64(sessions), "peak MB": ownPeak(),
	}, nil
}
