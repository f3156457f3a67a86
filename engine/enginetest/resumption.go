package enginetest

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
	"github.com/throng-sim/throng/engine/retrieval"
)

// last returns the last take of each session, ordered by cycle and agent.
func last(rows []engine.SessionRow) []engine.SessionRow {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b engine.SessionRow) int {
		return cmp.Or(a.Cycle-b.Cycle, a.Agent-b.Agent, a.Take-b.Take)
	})
	var out []engine.SessionRow
	for i := range rows {
		if n := len(out); n > 0 && out[n-1].Cycle == rows[i].Cycle && out[n-1].Agent == rows[i].Agent {
			out[n-1] = rows[i]
			continue
		}
		out = append(out, rows[i])
	}
	return out
}

// Resumption computes the state from which a run resumes: a simple and slow reference implementation.
func (j *Journal) Resumption() *engine.Resumption {
	res := &engine.Resumption{
		Deltas: map[int]engine.Delta{}, Memory: map[int]*engine.Memory{}, Prefixes: map[int]engine.Prefix{},
		Takes: map[int]int{}, Bad: map[int]engine.SessionEnd{},
	}
	checkpoint := -1 // cycle of the last
	var peaks engine.Peaks
	for _, row := range j.Rows() {
		switch r := row.(type) {
		case engine.BarrierRow:
			res.Cycle = max(res.Cycle, r.Cycle+1)
			peaks.Cycle, peaks.Worked, peaks.Open = max(peaks.Cycle, r.Took), peaks.Worked+r.Took, 0
		case engine.CheckpointRow:
			res.Checkpoints++
			res.Checkpoint, checkpoint = r.At, max(checkpoint, r.Cycle)
			r.State.Totals.Peaks.Cycle = max(r.State.Totals.Peaks.Cycle, peaks.Cycle)
			res.State.Limit, peaks = r.State.Limit, r.State.Totals.Peaks
		case engine.ChangeRow:
			if err := res.Apply(&r); err != nil {
				panic(err) // a test's own journal
			}
			res.State.Totals.Inexact = earliest(res.State.Totals.Inexact, r.Inexact)
		case engine.UnconfirmedRow:
			res.State.Totals.Inexact = earliest(res.State.Totals.Inexact, r.Inexact())
		case engine.EndRow:
			p := &r.Totals.Peaks
			p.Worked, p.Interrupted, p.Open = peaks.Worked, peaks.Interrupted, peaks.Open // nothing of the open cycle is kept
			peaks = r.Totals.Peaks
		}
	}
	inexact := res.State.Totals.Inexact
	res.State.Totals = j.count(res, math.MaxInt)
	res.AtBarrier = j.count(res, res.Cycle)
	res.State.Totals.Inexact = earliest(res.State.Totals.Inexact, inexact)
	sessions := last(j.Sessions())
	changed := map[int]bool{}
	for i := range sessions {
		s := &sessions[i]
		if s.Cycle < res.Cycle || res.Superseded(s.Place) {
			continue
		}
		res.Done = append(res.Done, s.Agent)
		switch {
		case s.Outcome == engine.Failed || s.Outcome == engine.TimedOut:
			res.Bad[s.Agent] = engine.EndOf(s)
		case s.Outcome.Commits() && !s.Delta.Empty():
			res.Deltas[s.Agent] = s.Delta
		}
	}
	for p, take := range res.Requeued {
		if p.Cycle == res.Cycle && !slices.Contains(res.Done, p.Agent) {
			res.Takes[p.Agent] = take
		}
	}
	res.Memory = j.commit(sessions, res.Cycle, func(cycle, agent int) {
		if cycle >= checkpoint {
			changed[agent] = true
		}
	})
	res.Changed = slices.Sorted(maps.Keys(changed))
	res.State.Totals.Peaks, res.AtBarrier.Peaks = peaks, peaks
	for _, row := range Of[engine.SharedRow](j) {
		res.Shared.Add(&row)
	}
	res.State.Totals.Shared = j.sharedFigures()
	res.AtBarrier.Shared = res.State.Totals.Shared
	j.prefixes(res)
	return res
}

// prefixes collects the requests of the agents without a session row.
func (j *Journal) prefixes(res *engine.Resumption) {
	at := map[[2]any]engine.Entry{}
	keep := func(p engine.Place, e engine.Entry) {
		if p.Cycle == res.Cycle && p.Take == res.Takes[p.Agent] && !slices.Contains(res.Done, p.Agent) {
			at[[2]any{p.Agent, e.Path}] = e
		}
	}
	for _, row := range j.Rows() {
		switch r := row.(type) {
		case engine.IntentRow:
			for _, e := range r.Earlier {
				keep(r.Place, e)
			}
			keep(r.Place, engine.Entry{Path: r.Path, Hash: r.Hash, Spent: r.Spent})
		case engine.AnswerRow:
			keep(r.Place, r.Entry)
		}
	}
	for key, e := range at {
		agent := key[0].(int)
		res.Prefixes[agent] = append(res.Prefixes[agent], e)
	}
}

// Restored returns the memory that checkpoint number n (from 1) restores, and its cycle: the content of all checkpoints up to it, the
// newest first.
func (j *Journal) Restored(n int) (memory map[int]*engine.Memory, cycle int) {
	memory = map[int]*engine.Memory{}
	for _, c := range Of[engine.CheckpointRow](j)[:n] {
		maps.Copy(memory, c.Memory)
		cycle = c.Cycle
	}
	return memory, cycle
}

// MemoryAt replays the sessions' memory up to the start of a cycle.
func (j *Journal) MemoryAt(cycle int) map[int]*engine.Memory {
	return j.commit(last(j.Sessions()), cycle, func(int, int) {})
}

// commit processes the barriers before a cycle and returns the resulting memory. It calls changed for every change.
func (j *Journal) commit(sessions []engine.SessionRow, before int, changed func(cycle, agent int)) map[int]*engine.Memory {
	memory := map[int]*engine.Memory{}
	for cycle := range before {
		deltas := map[int]engine.Delta{}
		for i := range sessions {
			if s := &sessions[i]; s.Cycle == cycle && s.Outcome.Commits() && !s.Delta.Empty() {
				deltas[s.Agent] = s.Delta
			}
		}
		touched, _ := memories.CommitCycle(&j.Settings, memories.Map(memory), memories.Of(deltas), cycle)
		for _, agent := range touched {
			changed(cycle, agent)
		}
	}
	return memory
}

// sharedFigures adds up the requests of the run itself.
func (j *Journal) sharedFigures() (a engine.RequestCounts) {
	for _, row := range Of[engine.SharedRow](j) {
		if row.Record != nil {
			a.Add(row.Record)
		}
	}
	return a
}

// Recount adds up the durable sessions and the requests of the run itself.
func (j *Journal) Recount() engine.Totals {
	var res engine.Resumption
	for _, c := range Of[engine.ChangeRow](j) {
		if err := res.Apply(&c); err != nil {
			panic(err) // a test's own journal
		}
	}
	t := j.count(&res, math.MaxInt)
	for _, c := range Of[engine.ChangeRow](j) {
		t.Inexact = earliest(t.Inexact, c.Inexact)
	}
	for _, u := range Of[engine.UnconfirmedRow](j) {
		t.Inexact = earliest(t.Inexact, u.Inexact())
	}
	t.Shared = j.sharedFigures()
	return t
}

// count adds up the sessions of the cycles before one, in order. It skips the outcomes of requeued sessions.
func (j *Journal) count(res *engine.Resumption, before int) (t engine.Totals) {
	rows := j.Sessions()
	slices.SortStableFunc(rows, func(a, b engine.SessionRow) int { return a.Cycle - b.Cycle })
	var then engine.Totals // at the start of the session's cycle
	for i := range rows {
		if rows[i].Cycle >= before {
			break
		}
		if i > 0 && rows[i].Cycle != rows[i-1].Cycle {
			then = t.Clone()
		}
		res.Count(&t, &rows[i], &then)
	}
	return t
}

// earliest returns the earlier of two causes of inexactness; either may be nil.
func earliest(a, b *engine.Inexact) *engine.Inexact {
	if a == nil || b != nil && (b.Cycle < a.Cycle || b.Cycle == a.Cycle && b.Agent < a.Agent) {
		return b
	}
	return a
}

// Results returns the sessions as text, without anything that depends on time: one line per session and event, ordered by cycle, agent
// and sequence.
func Results(rows []engine.SessionRow) string {
	var b strings.Builder
	for _, r := range last(rows) {
		fmt.Fprintf(&b, "%d %d %v %v %q %q acted=%v", r.Cycle, r.Agent, r.Outcome, r.Class, r.Path, r.Because, r.Acted)
		for _, s := range r.Steps {
			fmt.Fprintf(&b, " %s:%v:%v", s.Path, s.Status, s.Class)
		}
		if r.Outcome.Commits() {
			for _, f := range r.Delta.Set {
				fmt.Fprintf(&b, " %s=%s", f.Name, f.Value)
			}
			fmt.Fprintf(&b, " %q%s", r.Delta.Notes, showKept(r.Delta.Kept))
		}
		b.WriteByte('\n')
		for i, e := range r.Events {
			fmt.Fprintf(&b, "  %d %s %s %s\n", i, e.Path, e.Name, e.Data)
		}
	}
	return b.String()
}

// ShowMemory returns memory as text, by agent.
func ShowMemory(memory map[int]*engine.Memory) string {
	var lines []string
	for agent, m := range memory {
		if m == nil {
			continue
		}
		var line strings.Builder
		fmt.Fprintf(&line, "%06d", agent)
		for _, f := range m.Fields {
			fmt.Fprintf(&line, " %s=%s", f.Name, f.Value)
		}
		lines = append(lines, fmt.Sprintf("%s %q%s\n", line.String(), m.Notes, showKept(m.Kept)))
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// showKept returns what is kept with notes as text.
func showKept(all []retrieval.Kept) string {
	var b strings.Builder
	for _, k := range all {
		fmt.Fprintf(&b, " %x:%d:%d:%x", k.Note, k.Cycle, k.Used, k.Vector)
	}
	return b.String()
}
