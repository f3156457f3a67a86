package storetest

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

func testCheckpoints(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	memory := map[int]*engine.Memory{}
	var want []map[int]*engine.Memory
	for number := range 8 {
		changed := map[int]*engine.Memory{}
		for agent := range 40 {
			if number == 0 || agent%(number+2) == 0 {
				delta := remembers("visits", fmt.Sprint(number, agent))
				memory[agent] = memory[agent].Apply(&delta)
				changed[agent] = memory[agent]
			}
		}
		want = append(want, maps.Clone(memory))
		f.append(engine.BarrierRow{Cycle: number, At: at(number)})
		f.commit(engine.CheckpointRow{At: at(number), Cycle: number + 1, Done: int64(number), Total: 99, Reason: "by hand", State: engine.State{Limit: number}, Memory: changed})
		clear(changed) // the caller may reuse the map
	}
	f.reopen()
	all, err := f.Checkpoints(t.Context(), f.run)
	must(t, err)
	if len(all) != 3 || all[0].Number != 8 || !all[0].Newest || all[1].Newest {
		t.Fatalf("got checkpoints %+v, want 8, 7, 6", all)
	}
	for _, c := range all {
		got, state, restored, err := f.Checkpoint(t.Context(), f.run, c.Number)
		must(t, err)
		if got != c || state.Limit != c.Number-1 || c.Cycle != c.Number || c.SizeBytes == 0 || c.Total != 99 {
			t.Errorf("checkpoint %d: got %+v, limit %d", c.Number, got, state.Limit)
		}
		if !reflect.DeepEqual(restored, want[c.Number-1]) {
			t.Errorf("checkpoint %d: memory differs", c.Number)
		}
	}
	if _, _, _, err := f.Checkpoint(t.Context(), f.run, 5); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("pruned checkpoint: got %v, want ErrNotFound", err)
	}
	r, err := f.Run(t.Context(), f.run)
	must(t, err)
	if r.SizeBytes <= 0 || r.Total != 99 {
		t.Errorf("got %d bytes of checkpoints, total %d", r.SizeBytes, r.Total)
	}
}

func testGrowth(t *testing.T, open Open) {
	keep := func(share float64) map[engine.Outcome]int {
		r := record("r")
		r.Settings.KeepShare = share
		f := newFixture(t, open, r)
		outcomes := []engine.Outcome{engine.OK, engine.Failed, engine.TimedOut, engine.Stopped}
		const agents = 400
		for a := range agents {
			s := session(0, a, outcomes[a%len(outcomes)])
			f.append(
				engine.IntentRow{Place: s.Place, Path: "buy", Hash: 7, Earlier: []engine.Entry{{Path: "open", Attempts: 1, Output: []byte("page")}}},
				engine.AnswerRow{Place: s.Place, Entry: engine.Entry{Path: "buy", Attempts: 1, Statuses: []int{201}, Output: []byte("bought"), Hash: 7}},
				engine.SessionRows{s})
		}
		f.append(engine.BarrierRow{Cycle: 0, At: at(1)})
		open := place(1, 0, 0)
		f.commit(engine.IntentRow{Place: open, Path: "buy"})
		f.reopen()
		kept := map[engine.Outcome]int{}
		for a := range agents {
			got := f.requests(place(0, a, 0))
			if len(got) == 0 {
				continue
			}
			kept[outcomes[a%len(outcomes)]]++
			want := []storage.Request{
				{Place: place(0, a, 0), Entry: engine.Entry{Path: "open", Attempts: 1, Output: []byte("page")}, Answered: true},
				{Place: place(0, a, 0), Entry: engine.Entry{Path: "buy", Attempts: 1, Statuses: []int{201}, Output: []byte("bought"), Hash: 7}, Answered: true},
			}
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("agent %d: got %+v, want %+v", a, got, want)
			}
		}
		if got, err := f.Requests(t.Context(), f.run, 1, 0); err != nil || len(got) != 1 || got[0].Answered {
			t.Errorf("of the current cycle: got %+v, %v", got, err)
		}
		return kept
	}
	for _, c := range []struct {
		share    float64
		low, top int // stored requests of 100 successful sessions
	}{{0, 0, 0}, {0.3, 10, 50}, {1, 100, 100}} {
		kept := keep(c.share)
		for _, o := range []engine.Outcome{engine.OK, engine.Stopped} {
			if kept[o] < c.low || kept[o] > c.top {
				t.Errorf("share %v: kept %d sessions that ended %s, want %d to %d", c.share, kept[o], o, c.low, c.top)
			}
		}
		if kept[engine.Failed] != 100 || kept[engine.TimedOut] != 100 {
			t.Errorf("share %v: kept %d failed and %d timed out, want all 100", c.share, kept[engine.Failed], kept[engine.TimedOut])
		}
	}
}

// requests returns the stored requests of a session. Both ways to read them must return the same.
func (f *fixture) requests(p engine.Place) []storage.Request {
	f.t.Helper()
	all, err := f.Requests(f.t.Context(), f.run, p.Cycle, p.Agent)
	must(f.t, err)
	near, err := f.RequestsOf(f.t.Context(), f.run, p, func(found []storage.Request) bool { return len(found) == len(all) })
	must(f.t, err)
	if !reflect.DeepEqual(near, all) {
		f.t.Errorf("%v: near its end there is %+v, in its cycle %+v", p, near, all)
	}
	return all
}

// testPrivate checks that a private answer is only available to a resumption while its cycle is the current one.
func testPrivate(t *testing.T, open Open) {
	r := record("r")
	r.Settings.KeepShare = 1
	f := newFixture(t, open, r)
	entry := func(path string) engine.Entry {
		return engine.Entry{Path: path, Attempts: 2, Statuses: []int{500, 201}, Output: []byte("hunter2"), Hash: 7, Private: true}
	}
	concealed := func(path string) engine.Entry {
		e := entry(path)
		e.Output = nil
		return e
	}
	ask := func(s engine.SessionRow) {
		open := engine.Entry{Path: "open", Attempts: 1, Output: []byte("page")}
		f.append(
			engine.IntentRow{Place: s.Place, Path: "buy", Hash: 7, Earlier: []engine.Entry{open, entry("read")}},
			engine.AnswerRow{Place: s.Place, Entry: entry("buy")})
	}
	want := func(p engine.Place) []storage.Request {
		return []storage.Request{
			{Place: p, Entry: engine.Entry{Path: "open", Attempts: 1, Output: []byte("page")}, Answered: true},
			{Place: p, Entry: concealed("read"), Answered: true},
			{Place: p, Entry: concealed("buy"), Answered: true},
		}
	}
	check := func(s engine.SessionRow) {
		t.Helper()
		got := f.requests(s.Place)
		if !reflect.DeepEqual(got, want(s.Place)) {
			t.Errorf("got %+v, want %+v", got, want(s.Place))
		}
	}
	sessions := []engine.SessionRow{session(0, 0, engine.OK), session(0, 1, engine.Failed)}
	for _, s := range sessions {
		ask(s)
	}
	f.commit()
	for _, s := range sessions {
		check(s)
	}
	prefix := f.resume().Prefixes[1]
	if len(prefix) != 3 || !reflect.DeepEqual(prefix[0], entry("buy")) || !reflect.DeepEqual(prefix[2], entry("read")) {
		t.Errorf("the resumption gets %+v", prefix)
	}
	f.append(engine.SessionRows(sessions), engine.BarrierRow{Cycle: 0, At: at(1)})
	f.commit()
	f.reopen()
	for _, s := range sessions {
		check(s)
	}
}

func testDelete(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	must(t, f.Create(t.Context(), record("other")))
	delta := remembers("a", "1")
	for cycle := range 3 {
		for a := range 50 {
			s := session(cycle, a, engine.Failed)
			f.append(engine.IntentRow{Place: s.Place, Path: "buy"}, engine.SessionRows{s})
		}
		f.append(engine.MetricsRow{At: at(cycle)}, engine.ChangeRow{At: at(cycle), What: engine.LimitSetting}, engine.BarrierRow{Cycle: cycle})
		f.commit(engine.CheckpointRow{At: at(cycle), Cycle: cycle + 1, Memory: map[int]*engine.Memory{1: (*engine.Memory)(nil).Apply(&delta)}})
	}
	must(t, f.Journal.Close(t.Context()))
	doomed, err := f.Deletion(t.Context(), f.run)
	must(t, err)
	if doomed.Sessions != 150 || doomed.Events != 300 || doomed.Checkpoints != 3 || doomed.Bytes <= 0 {
		t.Errorf("got %+v doomed", doomed)
	}

	release, err := f.Claim(t.Context(), f.run)
	must(t, err)
	if _, err := f.Claim(t.Context(), f.run); !errors.Is(err, engine.ErrInUse) || !strings.Contains(err.Error(), "run r ") {
		t.Errorf("claimed twice: got %v, want ErrInUse and run r", err)
	}
	other, err := f.Claim(t.Context(), "other")
	must(t, err)
	for _, id := range []engine.RunID{f.run, "other"} {
		if r, err := f.Run(t.Context(), id); err != nil || !r.InProgress {
			t.Errorf("run %s is claimed, but not in progress: %v", id, err)
		}
	}
	if runs, err := f.Runs(t.Context()); err != nil || !runs[0].InProgress || !runs[1].InProgress {
		t.Errorf("got %+v, %v, want two runs in progress", runs, err)
	}
	other()
	if r, err := f.Run(t.Context(), "other"); err != nil || r.InProgress {
		t.Errorf("released, but in progress: %v", err)
	}
	if err := f.Delete(t.Context(), f.run); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("delete a run in progress: got %v, want ErrInUse", err)
	}
	if r, err := f.Run(t.Context(), f.run); err != nil || r.Done != 150 {
		t.Errorf("after a refused deletion the run is incomplete: %v", err)
	}
	release()
	release() // a second call does nothing
	if r, err := f.Run(t.Context(), f.run); err != nil || r.InProgress {
		t.Errorf("released, but in progress: %v", err)
	}
	must(t, f.Delete(t.Context(), f.run))
	if _, err := f.Run(t.Context(), f.run); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("deleted: got %v, want ErrNotFound", err)
	}
	if _, err := f.Claim(t.Context(), f.run); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("claim a deleted run: got %v, want ErrNotFound", err)
	}
	runs, err := f.Runs(t.Context())
	must(t, err)
	if len(runs) != 1 || runs[0].ID != "other" {
		t.Errorf("got runs %+v, want the other", runs)
	}
}
