package storetest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/retrieval"
)

// historian generates a history and compares the store with a model.
type historian struct {
	*rapid.T
	outer   *testing.T
	open    Open
	store   Store
	journal Journal
	run     engine.RunID
	dir     string
	keep    int

	durable, pending []engine.Row
	model            *model // of both runs
	cut              atomic.Pointer[cutting]
	clock            int
}

// cutting is a planned power failure: at the n-th commit from now the folder is copied.
type cutting struct {
	n  int
	to string
}

func testHistories(t *testing.T, open Open) {
	rapid.Check(t, func(rt *rapid.T) {
		h := &historian{T: rt, outer: t, open: open, run: "r", keep: rapid.IntRange(1, 3).Draw(rt, "keep checkpoints")}
		h.model = newModel(h.keep)
		h.start(t.TempDir())
		defer func() { must(rt, h.store.Close()) }()
		r := record(h.run)
		r.Settings.KeepCheckpoints = h.keep
		must(rt, h.store.Create(context.Background(), r))
		h.startProcess()
		rt.Repeat(map[string]func(*rapid.T){
			"session":    h.with(h.session),
			"sessions":   h.with(h.sessions),
			"request":    h.with(h.request),
			"shared":     h.with(h.shared),
			"barrier":    h.with(h.barrier),
			"checkpoint": h.with(h.checkpoint),
			"requeue":    h.with(h.requeue),
			"retire":     h.with(h.retire),
			"commit":     h.with(func() { h.commit() }),
			"restart":    h.with(h.restart),
		})
		h.reopen()
	})
}

func (h *historian) with(f func()) func(*rapid.T) {
	return func(rt *rapid.T) {
		h.T = rt
		f()
	}
}

func (h *historian) start(dir string) {
	h.dir = dir
	h.store = h.open(h.outer, dir, Options{Patient: true, OnCommit: func(int64) {
		if c := h.cut.Load(); c != nil {
			if c.n--; c.n == 0 {
				copyDir(h.outer, dir, c.to)
			}
		}
	}})
}

func (h *historian) startProcess() {
	var err error
	h.journal, err = h.store.Journal(h.run)
	must(h, err)
}

func (h *historian) append(row engine.Row) {
	h.journal.Append(row)
	h.pending = append(h.pending, row)
	h.model.apply(row)
}

func (h *historian) commit(rows ...engine.Row) {
	must(h, h.journal.Commit(context.Background(), rows...))
	for _, r := range rows {
		h.model.apply(r)
	}
	h.durable = append(append(h.durable, h.pending...), rows...)
	h.pending = nil
	h.check()
}

// restart ends the process cleanly or not.
func (h *historian) restart() {
	if rapid.Bool().Draw(h.T, "crash") {
		h.crash()
	} else {
		h.reopen()
	}
}

func (h *historian) reopen() {
	must(h, h.journal.Close(context.Background()))
	must(h, h.store.Close())
	h.durable, h.pending = append(h.durable, h.pending...), nil
	h.start(h.dir)
	h.startProcess()
	h.check()
}

// crash simulates a power failure during a commit, and determines what was durable: all earlier commits, and all or nothing
// of this one. A checkpoint may be missing, because it is written last.
func (h *historian) crash() {
	dir := h.outer.TempDir()
	before := slices.Clone(h.durable)
	h.cut.Store(&cutting{n: rapid.IntRange(1, 3).Draw(h.T, "commit"), to: dir})
	switch rapid.IntRange(0, 2).Draw(h.T, "at") {
	case 0:
		h.commit()
	case 1:
		h.barrier()
	case 2:
		h.checkpoint()
	}
	must(h, h.journal.Close(context.Background())) // maintenance continues
	must(h, h.store.Close())
	if h.cut.Swap(nil).n > 0 { // the end came first
		copyDir(h.outer, h.dir, dir)
	}
	after := h.durable
	h.start(dir)
	got, err := h.store.Resume(context.Background(), h.run)
	must(h, err)
	for _, m := range []struct {
		history []engine.Row
		last    bool
	}{{after, true}, {after, false}, {before, true}} {
		h.model = replay(h.keep, m.history, m.last)
		h.durable = m.history
		if !m.last {
			h.durable = slices.DeleteFunc(slices.Clone(m.history), func(r engine.Row) bool {
				c, is := r.(engine.CheckpointRow)
				return is && reflect.DeepEqual(c, m.history[len(m.history)-1])
			})
		}
		if text(got) == text(h.model.resumption()) {
			h.startProcess()
			h.check()
			return
		}
	}
	h.Fatalf("after the crash: got\n%s\nwant one of\n%s\n\n%s", text(got),
		text(replay(h.keep, after, true).resumption()), text(replay(h.keep, before, true).resumption()))
}

// check compares everything that the store returns with the model.
func (h *historian) check() {
	got, err := h.store.Resume(context.Background(), h.run)
	must(h, err)
	if got, want := text(got), text(h.model.resumption()); got != want {
		h.Fatalf("resumption: got\n%s\nwant\n%s", got, want)
	}
	memory, err := h.store.Memory(context.Background(), h.run)
	must(h, err)
	if !reflect.DeepEqual(memory, got.Memory) {
		h.Fatalf("memory: got %v, the resumption has %v", memory, got.Memory)
	}
	r, err := h.store.Run(context.Background(), h.run)
	must(h, err)
	if r.Done != h.model.done || r.Cycle != h.model.cycle || r.Inexact.String() != h.model.totals.Inexact.String() {
		h.Fatalf("run: got done %d, cycle %d, %s, want %d, %d, %s", r.Done, r.Cycle, r.Inexact, h.model.done, h.model.cycle, h.model.totals.Inexact)
	}
	h.checkSessions()
	h.checkAgent(rapid.IntRange(0, crowd-1).Draw(h.T, "looked at"), memory)
	for _, saved := range h.model.saved {
		record, state, memory, err := h.store.Checkpoint(context.Background(), h.run, saved.number)
		must(h, err)
		if record.Cycle != saved.row.Cycle || state.Limit != saved.row.State.Limit || !reflect.DeepEqual(memory, saved.memory) {
			h.Fatalf("checkpoint %d: got cycle %d, memory %v, want %d, %v", saved.number, record.Cycle, memory, saved.row.Cycle, saved.memory)
		}
	}
}

// messages returns the part of a session's delta that stores keep with the session.
func messages(s *engine.SessionRow) (d engine.Delta) {
	if s.Outcome.Commits() {
		d.Said = s.Delta.Said
	}
	return d
}

func (h *historian) checkSessions() {
	var want []engine.SessionRow
	for p, s := range h.model.sessions {
		if _, later := h.model.sessions[place(p.Cycle, p.Agent, p.Take+1)]; !later {
			s.Delta = messages(&s)
			want = append(want, s)
		}
	}
	slices.SortFunc(want, func(a, b engine.SessionRow) int {
		return cmp.Or(cmp.Compare(a.Cycle, b.Cycle), cmp.Compare(a.Agent, b.Agent))
	})
	if got := sessionsOf(h, h.store, h.run, 0, 0); !reflect.DeepEqual(got, want) {
		h.Fatalf("sessions: got\n%+v\nwant\n%+v", got, want)
	}
}

// checkAgent compares the results for one agent with those for all: page by page, all takes, newest first.
func (h *historian) checkAgent(agent int, memory map[int]*engine.Memory) {
	own, err := h.store.MemoryOf(context.Background(), h.run, agent)
	must(h, err)
	if !reflect.DeepEqual(own, memory[agent]) {
		h.Fatalf("memory of %d: got %v, that of all has %v", agent, own, memory[agent])
	}
	var want []engine.SessionRow
	for _, s := range h.model.sessions {
		if s.Agent == agent {
			s.Delta = messages(&s)
			want = append(want, s)
		}
	}
	slices.SortFunc(want, func(a, b engine.SessionRow) int { return cmp.Or(b.Cycle-a.Cycle, b.Take-a.Take) })
	var got []engine.SessionRow
	for next, first := 0, true; first || next > 0; first = false {
		var page []engine.SessionRow
		page, next, err = h.store.Recent(context.Background(), h.run, agent, next, 2)
		must(h, err)
		got = append(got, page...)
	}
	if !reflect.DeepEqual(got, want) {
		h.Fatalf("sessions of %d: got\n%+v\nwant\n%+v", agent, got, want)
	}
}

const crowd = 12

func (h *historian) session() { h.append(engine.SessionRows{h.oneSession()}) }

func (h *historian) sessions() {
	var rows engine.SessionRows
	seen := map[int]bool{}
	for range rapid.IntRange(0, 5).Draw(h.T, "sessions") {
		if s := h.oneSession(); !seen[s.Agent] {
			rows = append(rows, s)
			seen[s.Agent] = true
		}
	}
	h.append(rows)
}

// oneSession ends a session of an agent that is not done, or a further take.
func (h *historian) oneSession() engine.SessionRow {
	h.clock++
	agent := rapid.IntRange(0, crowd-1).Draw(h.T, "agent")
	s := session(h.model.cycle, agent, engine.Outcome(rapid.IntRange(int(engine.OK), int(engine.Canceled)).Draw(h.T, "outcome")))
	if was, done := h.model.last[agent]; done {
		s.Take = was.Take + 1
	}
	s.Started = at(h.clock)
	s.Total = time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(h.T, "total"))
	s.Class = engine.Class(rapid.IntRange(0, len(engine.Classes())).Draw(h.T, "class"))
	if rapid.Bool().Draw(h.T, "bare") {
		s.Steps, s.Events = nil, nil
	}
	if rapid.Bool().Draw(h.T, "remembers") {
		s.Delta = remembers(rapid.SampledFrom([]string{"a", "b"}).Draw(h.T, "field"), fmt.Sprint(h.clock))
		s.Delta.Notes = [][]byte{[]byte(fmt.Sprintf(`"note %d"`, h.clock))}
		s.Delta.Kept = []retrieval.Kept{{Note: retrieval.Key(s.Delta.Notes[0]), Cycle: s.Cycle, Used: s.Cycle, Vector: []byte(s.Delta.Notes[0])}}
		s.Delta.Keep = rapid.IntRange(0, 2).Draw(h.T, "keep notes")
	}
	s.Delta.Read = rapid.Bool().Draw(h.T, "reads")
	for range rapid.IntRange(0, 2).Draw(h.T, "says") {
		to := rapid.SliceOfNDistinct(rapid.IntRange(0, crowd-1), 1, 4, rapid.ID).Draw(h.T, "to")
		s.Delta.Said = append(s.Delta.Said, engine.Message{To: to, Body: []byte(fmt.Sprintf(`"hello %d"`, h.clock))})
	}
	return s
}

func (h *historian) request() {
	agent := rapid.IntRange(0, crowd-1).Draw(h.T, "agent")
	p := place(h.model.cycle, agent, 0)
	if was, done := h.model.last[agent]; done {
		p.Take = was.Take + 1
	}
	path := rapid.SampledFrom([]string{"open", "buy[0]", "buy[1]"}).Draw(h.T, "path")
	row := engine.IntentRow{Place: p, Path: path, Hash: rapid.Uint64().Draw(h.T, "hash")}
	private := rapid.Bool().Draw(h.T, "private")
	spent := engine.Outlay{Requests: rapid.Int64Range(0, 3).Draw(h.T, "requests")}
	spent.Usage.Cost, spent.Usage.Cached = rapid.Int64Range(0, 1e12).Draw(h.T, "cost"), rapid.Int64Range(0, 9).Draw(h.T, "cached")
	if rapid.Bool().Draw(h.T, "claimed") {
		row.Spent = engine.Outlay{Requests: 1, Usage: engine.Usage{Calls: 1, Output: rapid.Int64Range(0, 1e6).Draw(h.T, "claimed tokens")}}
	}
	if rapid.Bool().Draw(h.T, "earlier") {
		row.Earlier = []engine.Entry{{Path: "look", Attempts: 2, Statuses: []int{500, 200}, Output: []byte("seen"), Hash: 9, Private: private, Spent: spent}}
	}
	h.append(row)
	if rapid.Bool().Draw(h.T, "answered") {
		h.append(engine.AnswerRow{Place: p, Entry: engine.Entry{
			Path: path, Status: engine.StepFailed, Class: engine.ServerError, Error: "busy", Attempts: 1, Statuses: []int{503}, Hash: row.Hash, Private: private, Spent: spent,
		}})
	}
}

func (h *historian) barrier() {
	h.clock++
	h.commit(engine.BarrierRow{Cycle: h.model.cycle, At: at(h.clock), Active: len(h.model.last), Sessions: h.model.totals.Ended()})
}

func (h *historian) checkpoint() {
	h.clock++
	row := engine.CheckpointRow{
		At: at(h.clock), Cycle: h.model.cycle, Done: h.model.done, Reason: "by hand", Memory: map[int]*engine.Memory{},
		State: engine.State{Limit: h.clock, Totals: h.model.barrierAt.Clone()},
	}
	for agent := range h.model.changed {
		row.Memory[agent] = h.model.memory[agent]
	}
	h.commit(row)
}
