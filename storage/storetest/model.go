package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
)

// model is a simple implementation of the semantics of a journal: it replays the complete history.
type model struct {
	keep      int // number of kept checkpoints
	cycle     int // the current cycle
	memory    map[int]*engine.Memory
	changed   map[int]bool
	last      map[int]engine.SessionRow // of the current cycle
	sessions  map[engine.Place]engine.SessionRow
	requests  map[engine.Place]map[string]engine.Entry // of the current cycle
	totals    engine.Totals
	done      int64
	saved     []savedCheckpoint
	taken     int
	barrierAt engine.Totals
	shared    sharedModel
	rows      []engine.SessionRow
	orders    engine.Resumption // manual changes
}

type savedCheckpoint struct {
	row    engine.CheckpointRow
	number int
	memory map[int]*engine.Memory
}

func newModel(keep int) *model {
	return &model{
		keep: keep, memory: map[int]*engine.Memory{}, changed: map[int]bool{}, last: map[int]engine.SessionRow{},
		sessions: map[engine.Place]engine.SessionRow{}, requests: map[engine.Place]map[string]engine.Entry{},
	}
}

// replay applies a history; withLast says whether its last checkpoint exists.
func replay(keep int, history []engine.Row, withLast bool) *model {
	m := newModel(keep)
	for i, row := range history {
		if _, is := row.(engine.CheckpointRow); is && i == len(history)-1 && !withLast {
			continue
		}
		m.apply(row)
	}
	return m
}

func (m *model) apply(row engine.Row) {
	switch r := row.(type) {
	case engine.SessionRows:
		for _, s := range r {
			m.session(s)
		}
	case engine.IntentRow:
		for _, e := range r.Earlier {
			m.request(r.Place, e)
		}
		if was, known := m.requests[r.Place][r.Path]; !known || was.Attempts == 0 {
			m.request(r.Place, engine.Entry{Path: r.Path, Hash: r.Hash, Spent: r.Spent})
		}
	case engine.AnswerRow:
		m.request(r.Place, r.Entry)
	case engine.SharedRow:
		m.shared.apply(&r)
	case engine.ChangeRow:
		m.order(&r)
	case engine.BarrierRow:
		m.barrier()
	case engine.CheckpointRow:
		m.taken++
		m.saved = append(m.saved, savedCheckpoint{r, m.taken, maps.Clone(m.memory)})
		if n := len(m.saved); n > m.keep {
			m.saved = m.saved[n-m.keep:]
		}
		clear(m.changed)
	}
}

func (m *model) session(s engine.SessionRow) {
	m.sessions[s.Place] = s
	m.rows = append(m.rows, s)
	m.totals.Add(&s)
	if s.Take == 0 {
		m.done++
	}
	if was, ok := m.last[s.Agent]; !ok || s.Take >= was.Take {
		m.last[s.Agent] = s
	}
}

func (m *model) request(p engine.Place, e engine.Entry) {
	if m.requests[p] == nil {
		m.requests[p] = map[string]engine.Entry{}
	}
	m.requests[p][e.Path] = e
}

func (m *model) barrier() {
	deltas := map[int]engine.Delta{}
	for agent, s := range m.last {
		if s.Outcome.Commits() && !s.Delta.Empty() {
			deltas[agent] = s.Delta
		}
	}
	changed, _ := memories.CommitCycle(&engine.Settings{}, memories.Map(m.memory), memories.Of(deltas), m.cycle)
	for _, agent := range changed {
		m.changed[agent] = true
	}
	clear(m.last)
	clear(m.requests)
	m.cycle++
	m.barrierAt = m.totals.Clone()
}

// resumption returns what the store must return.
func (m *model) resumption() *engine.Resumption {
	r := &engine.Resumption{
		Cycle: m.cycle, Memory: m.memory, Deltas: map[int]engine.Delta{}, Prefixes: map[int]engine.Prefix{}, Takes: map[int]int{},
		Bad: map[int]engine.SessionEnd{}, Checkpoints: m.taken, Changed: slices.Sorted(maps.Keys(m.changed)),
	}
	r.State.Totals, r.AtBarrier = m.totals, m.barrierAt
	r.Shared, r.State.Totals.Shared, r.AtBarrier.Shared = m.shared.known, m.shared.asked, m.shared.asked
	if n := len(m.saved); n > 0 {
		r.State.Limit, r.Checkpoint = m.saved[n-1].row.State.Limit, m.saved[n-1].row.At
	}
	for p, entries := range m.requests {
		if s, ended := m.last[p.Agent]; ended && p.Take <= s.Take || p.Take < r.Takes[p.Agent] {
			continue
		}
		if p.Take > 0 {
			r.Takes[p.Agent] = p.Take
		}
		r.Prefixes[p.Agent] = slices.Collect(maps.Values(entries))
	}
	m.ordered(r)
	for agent, s := range m.last {
		if _, resumes := r.Takes[agent]; resumes {
			continue
		}
		r.Done, r.Outcomes = append(r.Done, agent), append(r.Outcomes, s.Outcome)
		if s.Outcome == engine.Failed || s.Outcome == engine.TimedOut {
			r.Bad[agent] = engine.EndOf(&s)
		}
		if s.Outcome.Commits() && !s.Delta.Empty() {
			r.Deltas[agent] = s.Delta
		}
	}
	return r
}

// text formats a resumption without details that stores may choose.
func text(r *engine.Resumption) string {
	done := map[int]engine.Outcome{}
	for i, agent := range r.Done {
		done[agent] = r.Outcomes[i]
	}
	var out strings.Builder
	fmt.Fprintf(&out, "cycle %d, done %v, changed %v, checkpoints %d (%s, limit %d)\nprefixes\n",
		r.Cycle, done, r.Changed, r.Checkpoints, r.Checkpoint.UTC(), r.State.Limit)
	for _, agent := range slices.Sorted(maps.Keys(r.Prefixes)) {
		p := r.Prefixes[agent]
		slices.SortFunc(p, func(a, b engine.Entry) int { return cmp.Compare(a.Path, b.Path) })
		fmt.Fprintf(&out, "  %d (take %d): %+v\n", agent, r.Takes[agent], p)
	}
	fmt.Fprintf(&out, "retired %v, requeued %v, tuned %v, failed %v, takes %v\n", r.Retired, r.Requeued, r.Tuned, r.Bad, r.Takes)
	out.WriteString("memory\n")
	for _, agent := range slices.Sorted(maps.Keys(r.Memory)) {
		fmt.Fprintf(&out, "  %d: %+v\n", agent, *r.Memory[agent])
	}
	for _, key := range sharedKeys {
		asked, open := r.Shared.Unanswered[key]
		fmt.Fprintf(&out, "answer %x: %+v, asked %+v, %v\n", key, r.Shared.Answers[key], asked, open)
	}
	out.WriteString("deltas\n")
	for _, agent := range slices.Sorted(maps.Keys(r.Deltas)) {
		fmt.Fprintf(&out, "  %d: %+v\n", agent, r.Deltas[agent])
	}
	fmt.Fprintf(&out, "totals %s\nat barrier %s", figures(&r.State.Totals), figures(&r.AtBarrier))
	return out.String()
}

// figures formats the totals that must be equal when they are recomputed: everything except the peaks.
func figures(t *engine.Totals) string {
	c := t.Clone()
	c.Peaks = engine.Peaks{}
	if len(c.FailedAgents) == 0 {
		c.FailedAgents = nil
	}
	data, err := cbor.Marshal(&c)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%v %v %s %x", c.Outcomes, c.Errors, c.Inexact, data)
}
