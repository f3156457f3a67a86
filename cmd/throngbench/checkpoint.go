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

// Each agent remembers rememberedNotes of about 100 bytes; of them one changes, of one agent in a hundred a cycle.
const (
	rememberingAgents = 100_000
	rememberedNotes   = 30
	checkpointCycles  = 6
)

func checkpointRow() row {
	return row{
		name: "8",
		what: "A checkpoint of 100,000 agents with 3 KB of memory each, of which 1 % changed",
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
		note: "In a run at gate 50, one session in ten of which waits for an intent to be durable: medians of " + fmt.Sprint(checkpointCycles) +
			" checkpoints, from the order to being durable. How long the run stalled is the longest time in which no session ended while a checkpoint " +
			"was made; the usual one is that of the eighth of a cycle before. The whole state is written, and synced, from what a run would have to hold still for.",
	}
}

// remembering is a program of agents that remember.
type remembering struct {
	gaps gaps
	due  chan struct{} // a cycle has come to where a checkpoint is taken
}

// Session journals an intent for one agent in ten.
func (p *remembering) Session(s *engine.Session) {
	if s.Agent%100 == s.Cycle {
		s.Row.Delta = engine.Delta{Notes: notes(rand.New(rand.NewPCG(uint64(s.Cycle), uint64(s.Agent))), 1), Keep: rememberedNotes}
	}
	if s.Agent%10 == 0 {
		clock := s.Clock()
		clock.Hold()
		err := s.Intend(clock.Context(), "pay", uint64(s.Agent), engine.Outlay{}, engine.Outlay{})
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

// take returns the longest since the last take, in milliseconds, with the one that is still open.
func (g *gaps) take() float64 {
	open := int64(time.Since(gapsFrom)) - g.last.Load()
	return float64(max(open, g.longest.Swap(0))) / 1e6
}

// checkpoints has a run go on whose agents remember, and takes a checkpoint in each cycle but the first.
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
		return nil, fmt.Errorf("of the sessions %d ended well", result.Totals.Outcomes[engine.OK])
	}
	if err := errors.Join(journal.Close(ctx), store.Close()); err != nil {
		return nil, err
	}
	return figures{
		"ms": spreadOf(took).median, "ms to a session's end": spreadOf(stalled).median, "usual ms to a session's end": spreadOf(usual).median,
		"ms when all changed": all.Seconds() * 1e3, "peak MB": ownPeak(),
	}, nil
}

// remembered is the memory of an agent for the peer.
type remembered struct {
	Agent int      `json:"agent"`
	Notes []string `json:"notes"`
}

// wholeState writes the same memory of all agents as JSON, for a run that holds still meanwhile.
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
