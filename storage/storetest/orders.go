package storetest

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/storage"
)

// order applies manual changes. The totals are counted again, from all rows.
func (m *model) order(c *engine.ChangeRow) {
	if err := m.orders.Apply(c); err != nil {
		panic(err) // the row is valid
	}
	shared := m.totals.Shared
	m.totals = engine.Totals{Shared: shared}
	var then engine.Totals
	for i := range m.rows {
		if i > 0 && m.rows[i].Cycle != m.rows[i-1].Cycle {
			then = m.totals.Clone()
		}
		m.orders.Count(&m.totals, &m.rows[i], &then)
	}
}

// ordered returns the manual changes in a resumption.
func (m *model) ordered(r *engine.Resumption) {
	r.Retired, r.Requeued, r.Tuned = m.orders.Retired, m.orders.Requeued, m.orders.Tuned
	for p, take := range m.orders.Requeued {
		if s, ended := m.last[p.Agent]; ended && p.Cycle == m.cycle && take > s.Take {
			r.Takes[p.Agent] = take
		}
	}
}

// requeue retries a failed session of the current cycle.
func (h *historian) requeue() {
	for _, agent := range slices.Sorted(maps.Keys(h.model.last)) {
		s := h.model.last[agent]
		if h.model.orders.Superseded(s.Place) || s.Outcome != engine.Failed && s.Outcome != engine.TimedOut || !rapid.Bool().Draw(h.T, "this") {
			continue
		}
		h.append(requeued(s.Cycle, agent, s.Take+1))
		return
	}
}

func (h *historian) retire() {
	h.append(retired(h.model.cycle+1, rapid.IntRange(0, crowd-1).Draw(h.T, "agent")))
}

func requeued(cycle, agent, take int) engine.ChangeRow {
	return engine.ChangeRow{At: epoch, Cycle: cycle, What: engine.RequeueChange, New: fmt.Sprintf(`{"cycle":%d,"agent":%d,"take":%d}`, cycle, agent, take)}
}

func retired(from, agent int) engine.ChangeRow {
	return engine.ChangeRow{At: epoch, Cycle: from - 1, What: engine.RetireChange, New: fmt.Sprintf(`{"cycle":%d,"agent":%d}`, from, agent)}
}

func set(name, value string) engine.ChangeRow {
	return engine.ChangeRow{At: epoch, What: name, Old: "?", New: value, Who: "a person"}
}

// testOrders checks that manual changes of agents and services are restored from the rows and, in a fork, from the
// checkpoint.
func testOrders(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	bad := session(0, 1, engine.Failed)
	f.commit(engine.StartRow{At: at(0)}, engine.SessionRows{bad, session(0, 2, engine.Failed), session(0, 3, engine.OK)}, set("model.rate", "20"),
		retired(1, 7), requeued(0, 2, 1), set("model.rate", "16"))
	r := f.resume()
	if !reflect.DeepEqual(r.Done, []int{1, 3}) || !reflect.DeepEqual(r.Takes, map[int]int{2: 1}) || !reflect.DeepEqual(r.Bad, map[int]engine.SessionEnd{1: engine.EndOf(&bad)}) {
		t.Errorf("got done %v, takes %v, bad %+v", r.Done, r.Takes, r.Bad)
	}
	if tt := &r.State.Totals; tt.Ended() != 2 || tt.Bad() != 1 || tt.Requests != 9 || tt.Total.Count() != 3 || tt.Events != 4 {
		t.Errorf("got %d ended, %d failed, %d requests, %d events: a retried session counts its requests, not its outcome", tt.Ended(), tt.Bad(), tt.Requests, tt.Events)
	}
	again := session(0, 2, engine.OK)
	again.Take = 1
	f.commit(engine.SessionRows{again}, engine.BarrierRow{Cycle: 0, At: at(3)})
	f.commit(
		engine.CheckpointRow{At: at(4), Cycle: 1, State: engine.State{Limit: 9, Retired: map[int]int{7: 1}, Totals: f.resume().State.Totals}},
		retired(2, 8))
	f.reopen()
	r = f.resume()
	if tt := &r.State.Totals; tt.Ended() != 3 || tt.Bad() != 1 || len(r.Takes) != 0 {
		t.Errorf("retried: %d ended, %d failed, takes %v", tt.Ended(), tt.Bad(), r.Takes)
	}
	if !reflect.DeepEqual(r.Retired, map[int]int{7: 1, 8: 2}) || !slices.Contains(r.Tuned, engine.Tunable{Name: "model.rate", Value: "16"}) {
		t.Errorf("got retired %v, tuned %v", r.Retired, r.Tuned)
	}
	must(t, f.Fork(t.Context(), childOf("r", 1), storage.Fork{Checkpoint: 1}))
	fork, err := f.Resume(t.Context(), "child")
	must(t, err)
	if !reflect.DeepEqual(fork.Retired, map[int]int{7: 1}) {
		t.Errorf("a fork has retired %v", fork.Retired)
	}
}

// testTuned checks that settings which were changed during a run are those that it resumes with.
func testTuned(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	f.commit(engine.StartRow{At: at(0)}, set("governor", "latency"), set("floor", "200"), set("ceiling", "150"), set("ceiling", "400"), set("budget", "2.5"),
		set("session-timeout", "1m0s"), set(engine.LimitSetting, "210"), set(engine.LimitSetting, "0"), set(engine.LimitChange, "44"), set("stall-warning", "never"), set("model.rate", "3"), set("phase", "paused"))
	f.reopen()
	got, err := f.Run(t.Context(), f.run)
	must(t, err)
	want := record("r").Settings
	want.Governor, want.Floor, want.Ceiling, want.Budget.Dollars, want.SessionTimeout, want.Manual = "latency", 200, 400, 2.5, time.Minute, true
	if !reflect.DeepEqual(got.Settings, want) || got.Limit != 210 {
		t.Errorf("got limit %d, settings %+v\nwant %+v", got.Limit, got.Settings, want)
	}
	f.commit(set(engine.LimitSetting, engine.Automatic), set(engine.LimitChange, "77"))
	if got, err = f.Run(t.Context(), f.run); err != nil || got.Settings.Manual || got.Limit != 77 {
		t.Errorf("returned to automatic, %v: limit %d, manual %t", err, got.Limit, got.Settings.Manual)
	}
	f.commit(engine.StartRow{At: at(1), Resumed: true}, set("floor", "5"))
	if got, err = f.Run(t.Context(), f.run); err != nil || got.Settings.Floor != 5 || got.Settings.Ceiling != want.Ceiling-300 || got.Settings.Governor != "adaptive" {
		t.Errorf("resumed again, %v: %+v; want the settings at the start, with later changes", err, got.Settings)
	}
}

// testSlept checks that time for which the machine slept does not count.
func testSlept(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	sleep := func(s int, long string) engine.ChangeRow {
		return engine.ChangeRow{At: at(s), What: engine.SleepChange, New: long, Who: "clock"}
	}
	f.commit(engine.StartRow{At: at(0)}, sleep(70, "1m0s"), sleep(80, "5s"))
	if got := f.resume().State.Totals.Peaks.Elapsed; got != 15*time.Second {
		t.Errorf("it took %v, want 15s of 80", got)
	}
	state := engine.State{Totals: engine.Totals{Peaks: engine.Peaks{Elapsed: 15 * time.Second}}}
	f.commit(engine.CheckpointRow{At: at(80), State: state}, sleep(120, "30s"))
	if got := f.resume().State.Totals.Peaks.Elapsed; got != 25*time.Second {
		t.Errorf("with a checkpoint it took %v, want 25s", got)
	}
}
