package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/memories"
	"github.com/throng-sim/throng/engine/workers"
)

func testRuns(t *testing.T, open Open) {
	s := open(t, t.TempDir(), Options{})
	defer func() { must(t, s.Close()) }()
	if _, err := s.Newest(t.Context()); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("newest run of an empty store: got %v, want ErrNotFound", err)
	}
	for i, id := range []engine.RunID{"b", "c", "a"} {
		r := record(id)
		r.Created = at(i)
		must(t, s.Create(t.Context(), r))
	}
	if err := s.Create(t.Context(), record("a")); err == nil {
		t.Error("a second run with the same ID was created")
	}
	runs, err := s.Runs(t.Context())
	must(t, err)
	var ids strings.Builder
	for _, r := range runs {
		ids.WriteString(string(r.ID))
	}
	if ids.String() != "acb" {
		t.Errorf("got runs in the order %s, want acb", &ids)
	}
	got, err := s.Newest(t.Context())
	must(t, err)
	want := record("a")
	want.Created, want.Limit = at(2), want.Settings.Limit
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func testPrefix(t *testing.T, open Open) {
	s := open(t, t.TempDir(), Options{})
	defer func() { must(t, s.Close()) }()
	for _, id := range []engine.RunID{"run-1", "run-12", "other"} {
		must(t, s.Create(t.Context(), record(id)))
	}
	for _, c := range []struct{ ask, want engine.RunID }{{"run-1", "run-1"}, {"run-12", "run-12"}, {"oth", "other"}, {"run", ""}, {"x", ""}, {"", ""}} {
		got, err := s.Run(t.Context(), c.ask)
		if got.ID != c.want || (c.want == "") != errors.Is(err, engine.ErrNotFound) {
			t.Errorf("run %q: got %q, %v, want %q", c.ask, got.ID, err, c.want)
		}
	}
}

// testCommitOrder appends and commits from several goroutines: everything that a goroutine appended before a Commit is
// durable when it returns.
func testCommitOrder(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	const workers, each = 8, 20
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := range each {
				agent := w*each + i
				f.append(engine.SessionRows{session(0, agent, engine.OK)})
				if err := f.Journal.Commit(t.Context(), engine.IntentRow{Place: place(1, agent, 0), Path: "buy"}); err != nil {
					t.Error(err)
					return
				}
				seen := false
				for s, err := range f.Sessions(t.Context(), f.run, 0, 0) {
					if err != nil {
						t.Error(err)
						return
					}
					seen = seen || s.Agent == agent
				}
				if !seen {
					t.Errorf("agent %d was appended before a commit and is not there", agent)
				}
			}
		})
	}
	wg.Wait()
	if got := len(f.sessions(0, 0)); got != workers*each {
		t.Errorf("got %d sessions, want %d", got, workers*each)
	}
	r, err := f.Run(t.Context(), f.run)
	must(t, err)
	if r.Done != workers*each {
		t.Errorf("got %d done, want %d", r.Done, workers*each)
	}
}

func testAppend(t *testing.T, open Open) {
	committed := make(chan int64, 1024)
	dir := t.TempDir()
	s := open(t, dir, Options{OnCommit: func(n int64) { committed <- n }})
	defer func() { must(t, s.Close()) }()
	must(t, s.Create(t.Context(), record("r")))
	j, err := s.Journal("r")
	must(t, err)
	j.Append(engine.SessionRows{session(0, 1, engine.OK)})
	for n := 0; n == 0; {
		<-committed
		n = len(sessionsOf(t, s, "r", 0, 0))
	}
}

func testReopen(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	want := []engine.SessionRow{session(0, 1, engine.OK), session(0, 2, engine.Failed), session(0, 3, engine.Stopped)}
	change := engine.ChangeRow{At: at(1), What: engine.LimitSetting, Old: "50", New: "30", Who: "a person", Why: "too hot", Inexact: &engine.Inexact{Cycle: 0, Agent: 1, Path: "x", Why: "by hand"}}
	barrier := engine.BarrierRow{Cycle: 0, At: at(5), Active: 3, Took: time.Second, Lag: time.Millisecond, Sessions: 3, Work: engine.CycleWork{OK: 2, TimedOut: 1, Busy: time.Minute, Flow: engine.Flow{Parallel: 4, Chains: 2}}}
	f.append(engine.StartRow{At: at(0)}, engine.SessionRows(want), change)
	f.commit(barrier)
	f.append(engine.SessionRows{session(1, 1, engine.OK)}) // written by Close
	f.reopen()
	if got := f.sessions(0, 1); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := len(f.sessions(1, 0)); got != 1 {
		t.Errorf("got %d sessions of the current cycle, want 1", got)
	}
	changes, err := f.Changes(t.Context(), f.run)
	must(t, err)
	if !reflect.DeepEqual(changes, []engine.ChangeRow{change}) {
		t.Errorf("got changes %+v", changes)
	}
	barriers, err := f.Barriers(t.Context(), f.run)
	must(t, err)
	if !reflect.DeepEqual(barriers, []engine.BarrierRow{barrier}) {
		t.Errorf("got barriers %+v", barriers)
	}
	r, err := f.Run(t.Context(), f.run)
	must(t, err)
	if r.Done != 4 || r.Cycle != 1 || !reflect.DeepEqual(r.Inexact, change.Inexact) {
		t.Errorf("got done %d, cycle %d, %v", r.Done, r.Cycle, r.Inexact)
	}
	limit := func(want int) {
		t.Helper()
		if r, err := f.Run(t.Context(), f.run); err != nil || r.Limit != want {
			t.Errorf("the limit set last is %d, %v, want %d", r.Limit, err, want)
		}
	}
	limit(30)
	f.commit(engine.ChangeRow{At: at(6), What: engine.LimitSetting, Old: "30", New: "0"})
	limit(30) // not the settings to resume with
	f.commit(engine.StartRow{At: at(7), Cycle: 1, Resumed: true})
	limit(r.Settings.Limit) // as at the start
}

// testTurns compares the memory after closed cycles with the engine's own commits, which depend on the settings.
func testTurns(t *testing.T, open Open) {
	for _, sequential := range []bool{false, true} {
		r := record("r")
		r.Settings.Sequential = sequential
		f := newFixture(t, open, r)
		memory := map[int]*engine.Memory{}
		for cycle := range 3 {
			deltas := map[int]engine.Delta{}
			var rows engine.SessionRows
			for agent := range 6 {
				s := session(cycle, agent, engine.OK)
				s.Delta = engine.Delta{Read: agent%2 == 0, Said: []engine.Message{{To: []int{(agent + 1) % 6, (agent + 3) % 6}, Body: fmt.Appendf(nil, `"%d of %d"`, cycle, agent)}}}
				s.Delta.Notes, s.Delta.Replace = [][]byte{fmt.Append(nil, cycle)}, (cycle+agent)%3 == 2
				if agent == 5 {
					s.Delta = engine.Delta{Replace: true} // without any fields
				}
				rows, deltas[agent] = append(rows, s), s.Delta
			}
			f.append(rows)
			f.commit(engine.BarrierRow{Cycle: cycle, At: at(cycle)})
			memories.CommitCycle(&r.Settings, memories.Map(memory), memories.Of(deltas), cycle)
		}
		f.reopen()
		res, err := f.Resume(t.Context(), f.run)
		must(t, err)
		if !reflect.DeepEqual(res.Memory, memory) {
			t.Errorf("sequential %v: got memory %+v\nwant %+v", sequential, res.Memory, memory)
		}
	}
}

func testSessions(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	retake := session(1, 4, engine.OK)
	retake.Take = 1
	f.append(engine.SessionRows{session(1, 9, engine.OK), session(1, 4, engine.Failed), session(0, 7, engine.OK)})
	f.append(engine.SessionRows{session(0, 2, engine.OK), retake, session(1, 0, engine.OK)})
	f.commit()
	var got strings.Builder
	for _, s := range f.sessions(0, 0) {
		fmt.Fprintf(&got, "%d.%d.%d ", s.Cycle, s.Agent, s.Take)
	}
	if want := "0.2.0 0.7.0 1.0.0 1.4.1 1.9.0 "; got.String() != want {
		t.Errorf("got %s, want %s", &got, want)
	}
	if got := len(f.sessions(1, 2)); got != 3 {
		t.Errorf("got %d sessions of cycle 1, want 3", got)
	}
	if _, err := f.Run(t.Context(), "unknown"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("unknown run: got %v, want ErrNotFound", err)
	}
}

// testOverlap writes overlapping and large batches, as workers do.
func testOverlap(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	const agents, workers = 5000, 7
	for cycle := range 2 {
		var rows [workers]engine.SessionRows
		for a := agents - 1; a >= 0; a-- {
			w := a * a % workers
			rows[w] = append(rows[w], session(cycle, a, engine.OK))
			if len(rows[w]) == 100+w*37 {
				f.append(rows[w])
				rows[w] = nil
			}
		}
		for _, r := range rows {
			f.append(r)
		}
		f.commit(engine.BarrierRow{Cycle: cycle, At: at(cycle)})
	}
	n := 0
	for s, err := range f.Sessions(t.Context(), f.run, 0, 0) {
		must(t, err)
		if s.Cycle != n/agents || s.Agent != n%agents {
			t.Fatalf("session %d: got cycle %d, agent %d", n, s.Cycle, s.Agent)
		}
		n++
	}
	if n != 2*agents {
		t.Errorf("got %d sessions, want %d", n, 2*agents)
	}
}

func testTotals(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	var want, barrier engine.Totals
	add := func(s engine.SessionRow) engine.SessionRows {
		want.Add(&s)
		return engine.SessionRows{s}
	}
	check := func(when string) {
		t.Helper()
		r := f.resume()
		if got := figures(&r.State.Totals); got != figures(&want) {
			t.Errorf("%s: got\n%s\nwant\n%s", when, got, figures(&want))
		}
		if got := figures(&r.AtBarrier); got != figures(&barrier) {
			t.Errorf("%s, at the barrier: got\n%s\nwant\n%s", when, got, figures(&barrier))
		}
		totals, err := f.Totals(t.Context(), f.run)
		must(t, err)
		if got := figures(&totals); got != figures(&want) {
			t.Errorf("%s: the totals differ from those of the resumption", when)
		}
	}
	f.commit(add(session(0, 1, engine.OK)), add(session(0, 2, engine.Failed)))
	check("in the first cycle")
	f.commit(engine.BarrierRow{Cycle: 0, At: at(1)})
	barrier = want.Clone()
	check("after a barrier")
	f.append(add(session(1, 1, engine.TimedOut)))
	// A checkpoint includes the sessions that ended before its cycle.
	f.commit(engine.CheckpointRow{At: at(2), Cycle: 1, State: engine.State{Limit: 9, Totals: barrier.Clone()}}, add(session(1, 70, engine.Stopped)))
	check("after a checkpoint")
	f.commit(engine.BarrierRow{Cycle: 1, At: at(3)}, add(session(2, 1, engine.Canceled)))
	barrier = engine.Totals{}
	for _, s := range f.sessions(0, 2) {
		barrier.Add(&s)
	}
	check("two cycles after")
	f.reopen()
	check("reopened")
	r, err := f.Run(t.Context(), f.run)
	must(t, err)
	if got := r.Inexact.String(); got != want.Inexact.String() {
		t.Errorf("the run is %s, want %s", got, want.Inexact)
	}
}

func testPeaks(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	state := engine.State{Totals: engine.Totals{Peaks: engine.Peaks{Memory: 5, Cycle: time.Second, Elapsed: 10 * time.Second, Connections: 3, Worked: time.Second}}}
	f.commit(engine.StartRow{At: at(0)}, engine.BarrierRow{Cycle: 0, At: at(9), Took: 9 * time.Hour}, // the state has precedence
		engine.CheckpointRow{At: at(10), Cycle: 1, State: state},
		engine.BarrierRow{Cycle: 1, At: at(15), Took: 4 * time.Second, Lag: time.Second},
		engine.StartRow{At: at(100), Cycle: 2, Resumed: true},
		engine.MetricsRow{
			At:          at(107),
			Host:        engine.HostMetrics{Memory: 8},
			DatabaseUse: engine.DatabaseUse{Connections: -1, ServerConnections: 40},
			Counters:    engine.Counters{Overhead: engine.Overhead{Span: 3 * time.Second, Requests: 7}},
			Late:        engine.Late{Tick: time.Millisecond, Core: 4 * time.Millisecond},
		},
		engine.MetricsRow{At: at(107), DatabaseUse: engine.DatabaseUse{Connections: -1, ServerConnections: -1}, Counters: engine.Counters{Overhead: engine.Overhead{Span: 4 * time.Second, Requests: 9}}, Late: engine.Late{Tick: 3 * time.Millisecond}})
	want := engine.Peaks{Memory: 8, Cycle: 4 * time.Second, Elapsed: 22 * time.Second, Connections: 3, ServerConnections: 40, Lag: time.Second, Worked: 5 * time.Second}
	want.Overhead, want.Late = engine.Overhead{Span: 4 * time.Second, Requests: 9}, engine.Late{Tick: 3 * time.Millisecond, Core: 4 * time.Millisecond}
	if got := f.resume().State.Totals.Peaks; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func testTakes(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	failed := session(0, 1, engine.Failed)
	other := session(0, 2, engine.Failed)
	again := session(0, 2, engine.OK)
	again.Take, again.Delta = 1, remembers("mood", `"better"`)
	f.commit(engine.SessionRows{failed, other}, engine.IntentRow{Place: place(0, 1, 1), Path: "buy"}, engine.SessionRows{again})
	r := f.resume()
	if !reflect.DeepEqual(r.Done, []int{2}) || r.Takes[1] != 1 || len(r.Takes) != 1 || len(r.Prefixes[1]) != 1 {
		t.Errorf("got done %v, takes %v, prefixes %v", r.Done, r.Takes, r.Prefixes)
	}
	if !reflect.DeepEqual(r.Deltas, map[int]engine.Delta{2: again.Delta}) {
		t.Errorf("got deltas %+v", r.Deltas)
	}
	// A failed take after a successful one leaves no changes.
	worse := session(0, 2, engine.Failed)
	worse.Take = 2
	f.commit(engine.SessionRows{worse}, engine.BarrierRow{Cycle: 0, At: at(1)})
	if r := f.resume(); len(r.Memory) != 0 || len(r.Deltas) != 0 || len(r.Changed) != 0 {
		t.Errorf("got memory %v, deltas %v, changed %v, want none", r.Memory, r.Deltas, r.Changed)
	}
}

func testEnding(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	var totals engine.Totals
	s := session(0, 1, engine.OK)
	totals.Add(&s)
	totals.Peaks.Memory = 77
	verdict := []engine.Judgment{{Criterion: engine.Criterion{Metric: "error_rate", Op: "<", Bound: 0.05, Text: "error_rate < 5%"}, Value: 0, Shown: "0%", Passed: true}}
	f.commit(engine.StartRow{At: at(0)}, engine.SessionRows{s}, engine.EndRow{At: at(9), Total: 7, Ending: engine.EndStopped, Reason: "by hand", Totals: totals, Verdict: verdict})
	r, err := f.Run(t.Context(), f.run)
	must(t, err)
	if r.Ending != engine.EndStopped || !r.Ended.Equal(at(9)) || r.Reason != "by hand" || r.Total != 7 || !reflect.DeepEqual(r.Verdict, verdict) {
		t.Errorf("got %+v", r)
	}
	got, err := f.Totals(t.Context(), f.run)
	must(t, err)
	if got.Peaks.Memory != 77 || figures(&got) != figures(&totals) {
		t.Errorf("the totals differ from those at the end: %+v", got.Peaks)
	}
	f.commit(engine.StartRow{At: at(20), Cycle: 0, Resumed: true})
	if r, err = f.Run(t.Context(), f.run); err != nil || r.Ending != engine.NotEnded || !r.Ended.IsZero() || r.Verdict != nil {
		t.Errorf("resumed: got %+v, %v", r, err)
	}
}

func testMetrics(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	const rows = 2500
	want := func(i int) engine.MetricsRow {
		return engine.MetricsRow{
			At:          at(i),
			Cycle:       i / 60,
			Phase:       engine.Running,
			Ended:       int64(i),
			Limit:       50,
			DatabaseUse: engine.DatabaseUse{Unsent: -1},
			SecondRates: engine.SecondRates{WritesPerSec: 1.25},
			SecondTimes: engine.SecondTimes{Total: engine.Quantiles{Count: 9, Mean: time.Millisecond, Max: time.Second}, Queue: engine.Quantiles{Count: 9, P95: time.Second}, Speedup: 7.5},
			Host:        engine.HostMetrics{CPU: 12.5, Memory: 1 << 30},
			Counters:    engine.Counters{Flow: engine.Flow{Parallel: int64(i), Sequential: 3, Failed: 2, TimedOut: 1, Chains: 5, Busy: time.Hour, Wall: time.Minute}, TimedOut: 4},
			Workers:     []workers.Sample{{Name: "rack", InFlight: i + 1, PerSecond: 2.5, CPU: 130}, {Name: "desk"}},
		}
	}
	for i := range rows {
		f.append(want(i))
	}
	f.commit()
	for _, c := range []struct {
		after time.Time
		first int
	}{{time.Time{}, 0}, {at(0), 1}, {at(rows - 2), rows - 1}, {at(rows), rows}} {
		n := c.first
		for m, err := range f.Metrics(t.Context(), f.run, c.after) {
			must(t, err)
			if !reflect.DeepEqual(*m, want(n)) {
				t.Fatalf("row %d: got %+v", n, m)
			}
			n++
		}
		if n != rows {
			t.Errorf("after %v: got %d rows, want %d", c.after, n-c.first, rows-c.first)
		}
	}
}

func testClosed(t *testing.T, open Open) {
	f := newFixture(t, open, record("r"))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Journal.Commit(canceled, engine.BarrierRow{}); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("commit with an ended context: got %v", err)
	}
	must(t, f.Journal.Close(t.Context()))
	if err := f.Journal.Commit(t.Context(), engine.BarrierRow{Cycle: 1}); err == nil {
		t.Error("a closed journal accepted rows")
	}
	f.Journal.Append(engine.BarrierRow{Cycle: 1}) // lost, but does not wait forever
	must(t, f.Journal.Close(t.Context()))
	if _, err := f.Store.Journal("unknown"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("journal of an unknown run: got %v, want ErrNotFound", err)
	}
}
