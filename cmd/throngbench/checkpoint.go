package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

// Each agent has rememberedNotes notes of about 100 bytes. In a cycle, one note of 1% of agents changes.
const (
	rememberingAgents = 100_000
	rememberedNotes   = 30
	checkpointCycles  = 6
)

func checkpointRow() row {
	return row{
		name: "8",
		what: "A checkpoint of 100,000 agents with 3 KB of memory each, 1% of it changed",
		sides: []side{
			{name: "Throng", run: checkpoints},
			{name: "whole state as JSON", run: wholeState},
		},
		shown: []string{"ms", "ms to a session's end", "usual ms to a session's end", "ms when all changed", "peak MB"},
		ratios: []ratio{
			{name: "ms", must: 250, less: true, of: plain("ms")},
			{name: "ms to a session's end", must: 10, less: true, of: plain("ms to a session's end")},
			{name: "of the usual ms to a session's end", less: true, of: over(0, "ms to a session's end", 0, "usual ms to a session's end")},
			{name: "times as fast as the whole state", of: over(1, "ms", 0, "ms")},
		},
		note: "In a run with limit 50, in which 10% of sessions wait until an intent is durable: medians of " + fmt.Sprint(checkpointCycles) +
			" checkpoints, from the order until it is durable. The stall is the longest time without the end of a session while a checkpoint " +
			"is taken; the usual one is that of the eighth of a cycle before. The whole state is written and synced while the run would stand still.",
	}
}

// remembering is a program whose agents have memory.
type remembering struct {
	gaps gaps
	due  chan struct{} // a cycle has reached the point for a checkpoint
}

// Session journals an intent for one agent in ten.
func (p *remembering) Session(s *engine.Session) {
	if s.Agent%100 == s.Cycle {
		s.Row.Delta = engine.Delta{Notes: notes(rand.New(rand.NewPCG(uint64(s.Cycle), uint64(s.Agent))), 1), Keep: rememberedNotes}
	}
	if s.Agent%10 == 0 {
		clock := s.Clock()
		clock.Hold()
		err := s.Intend(clock.Context(), "pay", uint64(s.Agent), &engine.Outlay{}, &engine.Outlay{})
		clock.Release()
		if err != nil {
			s.Row.Fail("pay", err)
			return
		}
	}
	switch s.Agent {
	case rememberingAgents / 8:
		p.gaps.take()
	case rememberingAgents / 4:
		p.due <- struct{}{}
	}
	s.Row.Outcome = engine.OK
	p.gaps.end()
}

func notes(r *rand.Rand, n int) [][]byte {
	all := make([][]byte, n)
	for i := range all {
		all[i] = fmt.Appendf(nil, `"bought product %d from shop %d for %d, in the order %016x of customer %08x with coupon %d"`,
			r.IntN(5000), r.IntN(500), r.IntN(90000), r.Uint64(), r.Uint32(), r.IntN(1e9))
	}
	return all
}

// gaps measures the longest time between the ends of sessions.
type gaps struct{ last, longest atomic.Int64 }

var gapsFrom = time.Now()

func (g *gaps) end() {
	now := int64(time.Since(gapsFrom))
	gap := now - g.last.Swap(now)
	for {
		longest := g.longest.Load()
		if gap <= longest || g.longest.CompareAndSwap(longest, gap) {
			return
		}
	}
}

// take returns the longest gap since the last call, in milliseconds, including the current one.
func (g *gaps) take() float64 {
	open := int64(time.Since(gapsFrom)) - g.last.Load()
	return float64(max(open, g.longest.Swap(0))) / 1e6
}

// checkpoints executes a run whose agents have memory, and takes a checkpoint in each cycle except the first.
func checkpoints(ctx context.Context, e env) (figures, error) {
	settings := engine.DefaultSettings()
	settings.Limit, settings.Cycles = 50, 1+checkpointCycles
	store, journal, err := newRun(ctx, e.dir, settings)
	if err != nil {
		return nil, err
	}
	memory := make(map[int]*engine.Memory, rememberingAgents)
	for agent := range rememberingAgents {
		memory[agent] = &engine.Memory{Notes: notes(rand.New(rand.NewPCG(1, uint64(agent))), rememberedNotes)}
	}
	began := time.Now()
	if err := journal.Commit(ctx, engine.CheckpointRow{At: began, Memory: memory}); err != nil {
		return nil, err
	}
	all := time.Since(began)
	p := &remembering{due: make(chan struct{}, 1)}
	r, err := run.Start(ctx, run.Config{
		ID: benchRun, Program: p, Agents: rememberingAgents, Clock: engine.Clock{Cycle: time.Hour}, Settings: settings, Journal: journal,
		Resume: &engine.Resumption{Memory: memory, Checkpoints: 1, Checkpoint: began},
	})
	if err != nil {
		return nil, err
	}
	var took, usual, stalled []float64
	for cycle := range settings.Cycles {
		<-p.due
		if cycle == 0 { // nothing has changed
			continue
		}
		usual = append(usual, p.gaps.take())
		began := time.Now()
		if err := r.Checkpoint(ctx, "measured"); err != nil {
			return nil, err
		}
		took = append(took, time.Since(began).Seconds()*1e3)
		stalled = append(stalled, p.gaps.take())
	}
	if result := r.Wait(); result.Totals.Outcomes[engine.OK] != int64(settings.Cycles)*rememberingAgents {
		return nil, fmt.Errorf("%d sessions succeeded", result.Totals.Outcomes[engine.OK])
	}
	if err := errors.Join(journal.Close(ctx), store.Close()); err != nil {
		return nil, err
	}
	return figures{
		"ms": spreadOf(took).median, "ms to a session's end": spreadOf(stalled).median, "usual ms to a session's end": spreadOf(usual).median,
		"ms when all changed": all.Seconds() * 1e3, "peak MB": ownPeak(),
	}, nil
}

// remembered returns the memory of an agent for the peer.
type remembered struct {
	Agent int      `json:"agent"`
	Notes []string `json:"notes"`
}

// wholeState writes the memory of all agents as JSON, as for a run that stands still.
func wholeState(_ context.Context, e env) (figures, error) {
	all := make([]remembered, rememberingAgents)
	for i := range all {
		all[i].Agent = i
		for _, n := range notes(rand.New(rand.NewPCG(1, uint64(i))), rememberedNotes) {
			var text string
			if err := json.Unmarshal(n, &text); err != nil {
				return nil, err
			}
			all[i].Notes = append(all[i].Notes, text)
		}
	}
	began := time.Now()
	path := filepath.Join(e.dir, "state.json")
	file, err := os.Create(path + ".part")
	if err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	if err := errors.Join(json.NewEncoder(w).Encode(all), w.Flush(), file.Sync(), file.Close(), os.Rename(path+".part", path)); err != nil {
		return nil, err
	}
	ms := time.Since(began).Seconds() * 1e3
	return figures{"ms": ms, "ms to a session's end": ms, "peak MB": ownPeak()}, nil
}
