package main

import (
	"context"
	"fmt"
	"time"

	"github.com/throng-sim/throng/assets"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/retrieval"
	"github.com/throng-sim/throng/engine/service/pricing"
)

const (
	recalledNotes = 200
	recallCycles  = 10 // after the first
	// pricedAs is the model whose price the mock's embeddings are counted at.
	pricedAs = "text-embedding-3-small"
)

// recallingWorld is a street whose people remember 200 notes each and gain one in each cycle. The step is what embeds them.
const recallingWorld = `
title: A world that remembers
clock: {start: 2026-05-04T15:00:00Z, cycle: 1h, cycles: 1}
population: {count: %d, id: "person-${agent.index + 1}"}
services: {model: {kind: llm, provider: mock}}
functions: |
  WORDS = "baker council street car bicycle noise shop school crossing petition doctor night bus tree bench market tax lamp music law".split(" ")
  FEELINGS = ["content", "curious", "worried", "angry", "amused"]
  def word(agent, i):
      return WORDS[(agent.index * 7 + i * 13 + i // 20) %% len(WORDS)]
  def heard(agent, i):
      return "At %%d o'clock person-%%d told me about the %%s and the %%s, and that the town decides soon. I was %%s." %% (
          i %% 24, (agent.index + i) %% 2000 + 1, word(agent, i), word(agent, i + 3), FEELINGS[(agent.index + i) %% 5])
chain live:
  step start: {kind: remember, when: session.cycle == 0, keep: "${[heard(agent, -i) for i in range(%d)]}"}
  step note: {kind: remember, note: "${heard(agent, session.cycle)}", keep: %d}
  %s
`

// recallRow measures memory that is searched.
func recallRow() row {
	of := func(agents int, name, step string) side {
		return side{name: figure(float64(agents)) + " agents, " + name, run: func(ctx context.Context, e env) (figures, error) { return recallWorld(ctx, e, agents, step) }}
	}
	const query = `"What do I know about the ${word(agent, session.cycle)}?"`
	recall := func(numbers int) string {
		return fmt.Sprintf("step recall: {kind: recall, service: model, query: %s, top: 5, dimensions: %d}", query, numbers)
	}
	const used = "CPU µs/session"
	return row{
		name: "S18", scale: true,
		what: "A world of 2,000 agents with 200 notes each, whose sessions recall five",
		sides: []side{
			of(2000, "recall, 256 numbers", recall(256)), of(200, "recall, 1536 numbers", recall(1536)),
			of(2000, "the same embeddings, not used", `step ask: {kind: embed, service: model, dimensions: 256, input: ["${heard(agent, session.cycle)}", `+query+`]}`),
			of(2000, "no embeddings", `step ask: {kind: python, call: "word(agent, session.cycle)"}`),
		},
		shown: []string{used, "ms for the first cycle", "bytes/agent", "bytes of vectors/agent", "KB/session in the store", "peak MB", "$/million sessions", "$/thousand agents at first"},
		ratios: []ratio{
			{name: used, less: true, of: plain(used)},
			{name: "of it for embeddings", of: over(2, used, 0, used)},
			{name: "bytes/agent", less: true, of: plain("bytes/agent")},
			{name: "bytes/agent without embeddings", less: true, of: func(all []figures) (float64, bool) { v, ok := all[3]["bytes/agent"]; return v, ok }},
			{name: "$/million sessions", less: true, of: plain("$/million sessions")},
		},
		note: "With the mock model in the same process, journaled. The first cycle embeds the 200 notes of each agent, in one request; later " +
			"ones embed a note and a query. Dollars are those of " + pricedAs + ".",
	}
}

// recallWorld runs a world with a step that embeds or not.
func recallWorld(ctx context.Context, e env, agents int, step string) (figures, error) {
	t := trial{
		dir: e.dir, cycles: 1 + recallCycles, text: fmt.Sprintf(recallingWorld, agents, recalledNotes, recalledNotes, step),
		with: func(s *engine.Settings) { s.KeepContent, s.CheckpointEvery = 0, 0 },
	}
	prices, err := pricing.ReadPrices(assets.Prices())
	if err != nil {
		return nil, err
	}
	price, _ := prices.Price(pricedAs)
	began := time.Now()
	job, err := t.start(ctx)
	if err != nil {
		return nil, err
	}
	if err := until(job.Run, func(s *engine.Snapshot) bool { return s.Ended >= int64(agents) }); err != nil {
		return nil, err
	}
	f := figures{"ms for the first cycle": time.Since(began).Seconds() * 1e3}
	first, used := job.Run.Snapshot(), ownTime()
	job.Run.Wait()
	last := job.Run.Snapshot()
	sessions := agents * (1 + recallCycles)
	f["CPU µs/session"] = (ownTime() - used).Seconds() * 1e6 / float64(last.Ended-first.Ended)
	f["$/thousand agents at first"] = float64(first.Usage.Input) * price.Input / float64(agents) * 1e3
	f["$/million sessions"] = float64(last.Usage.Input-first.Usage.Input) * price.Input / float64(last.Ended-first.Ended) * 1e6
	memory, err := t.store.Memory(ctx, t.run)
	if err != nil {
		return nil, err
	}
	for _, m := range memory {
		f["bytes/agent"] += float64(m.Size()) / float64(agents)
		f["bytes of vectors/agent"] += float64(retrieval.Size(m.Kept)) / float64(agents)
	}
	if err := t.finish(job, int64(sessions)); err != nil {
		return nil, err
	}
	f["peak MB"] = ownPeak()
	bytes, err := t.bytes(ctx)
	f["KB/session in the store"] = bytes / float64(sessions) / 1e3
	return f, err
}
