package storetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// sharedKeys are the keys of shared answers in the tests.
var sharedKeys = []engine.SharedKey{{0}, {1, 15: 1}, {2, 15: 255}}

// sharedModel is a simple implementation of the semantics of shared rows.
type sharedModel struct {
	known engine.Shared
	asked engine.RequestCounts
	rows  []engine.SharedRow
}

func (m *sharedModel) apply(r *engine.SharedRow) {
	m.rows = append(m.rows, *r)
	m.known = engine.Shared{Answers: map[engine.SharedKey]engine.Entry{}, Unanswered: map[engine.SharedKey]engine.Unanswered{}}
	m.asked = engine.RequestCounts{}
	for i := len(m.rows) - 1; i >= 0; i-- { // the newest request that ended, and the oldest intent after it
		row := &m.rows[i]
		if row.Record != nil {
			m.count(row.Record)
			if _, later := m.known.Answers[row.Key]; !later && row.Entry.Attempts > 0 {
				m.known.Answers[row.Key] = row.Entry
			}
		}
	}
	ended := map[engine.SharedKey]bool{}
	for i := len(m.rows) - 1; i >= 0; i-- {
		row := &m.rows[i]
		ended[row.Key] = ended[row.Key] || row.Record != nil
		if !ended[row.Key] {
			asked, later := m.known.Unanswered[row.Key]
			if asked.Hash = row.Entry.Hash; !later {
				asked.Spent = row.Entry.Spent // the newest row has precedence
			}
			m.known.Unanswered[row.Key] = asked
		}
	}
}

func (m *sharedModel) count(r *engine.StepRecord) {
	m.asked.Labels[r.Label]++
	m.asked.Requests += int64(r.Attempts)
	m.asked.Retries += int64(r.Attempts - r.Redirects - r.Rounds - 1)
	m.asked.RateLimited++ // see asking
	m.asked.Usage.Calls += r.Usage.Calls
	m.asked.Usage.Cost += r.Usage.Cost
}

// asking returns the end of a request, with one 429.
func asking(n int) *engine.StepRecord {
	return &engine.StepRecord{
		Path: "ask", Label: engine.Label(n % 5), Attempts: 1 + n%3, Statuses: []int{429, 200},
		Usage: &engine.Usage{Calls: int64(n), Cost: 1 << 40},
	}
}

func answered(n int) engine.Entry {
	return engine.Entry{Path: "ask", Attempts: 1, Statuses: []int{200}, Output: fmt.Appendf(nil, `"answer %d"`, n), Hash: uint64(n)}
}

// shared makes the run request a shared answer, or ends a request.
func (h *historian) shared() {
	h.clock++
	row := engine.SharedRow{Key: rapid.SampledFrom(sharedKeys).Draw(h.T, "key"), Cycle: h.model.cycle}
	switch rapid.IntRange(0, 2).Draw(h.T, "asking") {
	case 0:
		row.Entry = engine.Entry{Path: "ask", Hash: rapid.Uint64().Draw(h.T, "hash")}
		row.Entry.Spent.Requests = rapid.Int64Range(0, 3).Draw(h.T, "spent")
	case 1:
		row.Record = asking(h.clock)
	case 2:
		row.Record, row.Entry = asking(h.clock), answered(h.clock)
	}
	if rapid.Bool().Draw(h.T, "waits") {
		h.commit(row)
	} else {
		h.append(row)
	}
}

// testShared checks that a shared answer is available in all later cycles of its run, and counts once.
func testShared(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	first, second, third := sharedKeys[0], sharedKeys[1], sharedKeys[2]
	intent := func(key engine.SharedKey, hash uint64) engine.SharedRow {
		return engine.SharedRow{Key: key, Entry: engine.Entry{Path: "ask", Hash: hash, Spent: engine.Outlay{Requests: int64(hash)}}}
	}
	f.commit(intent(first, 7))
	f.commit(engine.SharedRow{Key: first, Entry: answered(1), Record: asking(1)})
	f.append(engine.SessionRows{session(0, 1, engine.OK)}, intent(second, 8), intent(second, 9), intent(third, 10))
	f.commit(engine.SharedRow{Key: third, Record: asking(2)}, engine.BarrierRow{Cycle: 0, At: at(1)})
	wrong := engine.Totals{Shared: engine.RequestCounts{Requests: 1000}} // a wrong total, which the store must correct
	f.commit(engine.CheckpointRow{At: at(2), Cycle: 1, State: engine.State{Totals: wrong}}, engine.BarrierRow{Cycle: 1, At: at(3)})
	f.commit(engine.EndRow{At: at(4), Ending: engine.EndStopped, Totals: wrong})

	want := engine.RequestCounts{Requests: 5, Retries: 3, RateLimited: 2, Labels: engine.Labels{0, 1, 1}, Usage: engine.Usage{Calls: 3, Cost: 2 << 40}}
	for range 2 {
		r := f.resume()
		if !reflect.DeepEqual(r.Shared, engine.Shared{
			Answers: map[engine.SharedKey]engine.Entry{first: answered(1)}, Unanswered: map[engine.SharedKey]engine.Unanswered{second: {Hash: 8, Spent: engine.Outlay{Requests: 9}}},
		}) {
			t.Errorf("got %+v", r.Shared)
		}
		totals, err := f.Totals(t.Context(), f.run)
		must(t, err)
		if totals.Shared != want || r.State.Totals.Shared != want || r.AtBarrier.Shared != want {
			t.Errorf("got %+v, %+v and %+v, want %+v", totals.Shared, r.State.Totals.Shared, r.AtBarrier.Shared, want)
		}
		f.reopen()
	}

	must(t, f.Fork(t.Context(), childOf("r", 1), storage.Fork{Checkpoint: 1}))
	if r, err := f.Resume(t.Context(), "child"); err != nil || !reflect.DeepEqual(r.Shared.Answers, map[engine.SharedKey]engine.Entry{first: answered(1)}) ||
		len(r.Shared.Unanswered) != 0 || r.State.Totals.Shared != (engine.RequestCounts{}) {
		t.Errorf("a fork has %+v, %+v, %v, want the parent's answer without cost", r.Shared, r.State.Totals.Shared, err)
	}
	before, err := f.Deletion(t.Context(), f.run)
	must(t, err)
	large := make([]byte, 1<<16)
	_, err = rand.NewChaCha8([32]byte{}).Read(large)
	must(t, err)
	f.commit(engine.SharedRow{Key: second, Entry: engine.Entry{Attempts: 1, Output: large}, Record: &engine.StepRecord{}})
	after, err := f.Deletion(t.Context(), f.run)
	must(t, err)
	if after.Bytes < before.Bytes+1<<16-1000 {
		t.Errorf("with another answer it has %d bytes, before %d", after.Bytes, before.Bytes)
	}
	must(t, f.Journal.Close(t.Context()))
	must(t, f.Delete(t.Context(), f.run))
	if _, err := f.Totals(t.Context(), f.run); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("totals of a deleted run: %v", err)
	}
}
