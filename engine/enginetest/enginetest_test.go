package enginetest

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/run"
)

func session(cycle, agent int, delta ...engine.Field) engine.SessionRows {
	return engine.SessionRows{{Place: engine.Place{Cycle: cycle, Agent: agent}, Outcome: engine.OK, Delta: engine.Delta{Set: delta}}}
}

func TestJournalKeepsCopies(t *testing.T) {
	var j Journal
	rows := session(0, 1)
	rows[0].Steps = []engine.StepRecord{{Path: "a"}}
	j.Append(rows)
	rows[0].Steps[0].Path, rows[0].Agent = "changed", 9
	if got := j.Sessions()[0]; got.Agent != 1 || got.Steps[0].Path != "a" {
		t.Errorf("the journal holds agent %d, step %q after its caller used the row again", got.Agent, got.Steps[0].Path)
	}
}

func TestJournalInTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &Journal{Room: 2}
		j.Break(engine.ErrNoRoom)
		if err := <-j.Trouble(); !errors.Is(err, engine.ErrNoRoom) {
			t.Errorf("trouble = %v", err)
		}
		j.Append(session(0, 0), session(0, 1))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := j.Commit(ctx, session(0, 2)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a commit without room: %v, want the context's cause", err)
		}
		var appended time.Time
		go func() {
			j.Append(session(0, 3))
			appended = time.Now()
		}()
		time.Sleep(time.Minute)
		if n := len(j.Rows()); n != 0 || !appended.IsZero() {
			t.Errorf("%d rows are durable in trouble, appended %v", n, appended)
		}
		j.Heal()
		synctest.Wait()
		if n := len(j.Sessions()); n != 3 || appended.IsZero() {
			t.Errorf("healed, %d rows are durable, want 3", n)
		}
		if err := <-j.Trouble(); err != nil {
			t.Errorf("healed, trouble = %v", err)
		}
	})
}

func TestJournalDies(t *testing.T) {
	j := &Journal{DieAfter: 3}
	rows := append(session(0, 0), append(session(0, 1), append(session(0, 2), session(0, 3)...)...)...)
	j.Append(rows)
	<-j.Died()
	if err := j.Commit(t.Context(), engine.BarrierRow{}); !errors.Is(err, ErrDead) {
		t.Errorf("a commit after death: %v, want ErrDead", err)
	}
	next := j.Reopen()
	next.Append(session(0, 4))
	if n := len(next.Sessions()); n != 4 {
		t.Errorf("the next process finds and adds %d rows, want 3 and 1", n)
	}
}

func TestResumption(t *testing.T) {
	var j Journal
	a, b := engine.Field{Name: "x", Value: []byte("1")}, engine.Field{Name: "x", Value: []byte("2")}
	j.Append(
		engine.StartRow{}, session(0, 0, a), session(0, 1), engine.BarrierRow{Cycle: 0, Took: time.Minute},
		engine.CheckpointRow{Cycle: 1, Memory: map[int]*engine.Memory{0: {Fields: []engine.Field{a}}}},
		session(1, 0, b), session(1, 1, a), engine.BarrierRow{Cycle: 1},
		session(2, 1, b),
		engine.IntentRow{Place: engine.Place{Cycle: 2, Agent: 0}, Path: "pay", Earlier: []engine.Entry{{Path: "look", Attempts: 1}}},
		engine.IntentRow{Place: engine.Place{Cycle: 2, Agent: 1}, Path: "pay"},
		engine.SharedRow{Key: engine.SharedKey{1}, Entry: engine.Entry{Hash: 5}},
		engine.SharedRow{Key: engine.SharedKey{2}, Entry: engine.Entry{Attempts: 1}, Record: &engine.StepRecord{Attempts: 3}},
	)
	res := j.Resumption()
	if res.Cycle != 2 || len(res.Done) != 1 || res.Done[0] != 1 || res.Checkpoints != 1 {
		t.Errorf("cycle %d, done %v, %d checkpoints; want 2, [1], 1", res.Cycle, res.Done, res.Checkpoints)
	}
	if got, want := ShowMemory(res.Memory), "000000 x=2 []\n000001 x=1 []\n"; got != want {
		t.Errorf("memory:\n%s\nwant\n%s", got, want)
	}
	if len(res.Deltas) != 1 || string(res.Deltas[1].Set[0].Value) != "2" {
		t.Errorf("deltas = %v", res.Deltas)
	}
	if len(res.Changed) != 2 || res.State.Totals.Ended() != 5 || res.AtBarrier.Ended() != 4 || res.State.Totals.Peaks.Cycle != time.Minute {
		t.Errorf("changed %v, %d ended, %d at the barrier, longest cycle %v", res.Changed, res.State.Totals.Ended(), res.AtBarrier.Ended(), res.State.Totals.Peaks.Cycle)
	}
	if len(res.Prefixes) != 1 || len(res.Prefixes[0]) != 2 {
		t.Errorf("prefixes = %v, want two entries of agent 0", res.Prefixes)
	}
	if len(res.Shared.Answers) != 1 || res.Shared.Unanswered[engine.SharedKey{1}].Hash != 5 || res.AtBarrier.Shared.Requests != 3 || j.Recount().Shared.Requests != 3 {
		t.Errorf("shared: %+v, %+v", res.Shared, res.AtBarrier.Shared)
	}
	if memory, cycle := j.Restored(1); cycle != 1 || ShowMemory(memory) != "000000 x=1 []\n" {
		t.Errorf("checkpoint 1 restores cycle %d, %q", cycle, ShowMemory(memory))
	}
}

// TestCrowdShares checks that sessions use one of a few answers, each requested once.
func TestCrowdShares(t *testing.T) {
	c, j := &Crowd{Shares: 3}, &Journal{}
	r, err := run.Start(t.Context(), Config(40, c, j))
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Wait(); got.Totals.Outcomes[engine.OK] != 40 || got.Totals.Usage.Hits != 40 || got.Totals.Shared.Requests != 3 || len(c.AllRequests()) != 3 {
		t.Errorf("%+v, shared %+v, asked %v", got.Totals.Outcomes, got.Totals.Shared, c.AllRequests())
	}
	if rows := Of[engine.SharedRow](j); len(rows) != 6 || len(j.Resumption().Shared.Answers) != 3 {
		t.Errorf("the journal holds %+v", rows)
	}
}

// TestPlansVary checks that a crowd uses all of its options, and the same ones each time.
func TestPlansVary(t *testing.T) {
	c := &Crowd{Work: time.Second, Asks: 3, Remember: 0.5, Events: 2, Fail: 0.2, Stop: 0.2, Panic: 0.2, Hang: 0.2}
	seen := map[engine.Outcome]int{}
	for agent := range 1000 {
		p, again := c.Plan(1, 0, agent), c.Plan(1, 0, agent)
		seen[p.Outcome]++
		if len(p.Work) != len(again.Work) || p.Outcome != again.Outcome || p.Events != again.Events {
			t.Fatalf("agent %d has two plans: %+v, %+v", agent, p, again)
		}
	}
	for outcome, want := range map[engine.Outcome]int{engine.OK: 200, engine.Stopped: 200, engine.Failed: 400, engine.TimedOut: 200} {
		if got := seen[outcome]; got < want-60 || got > want+60 {
			t.Errorf("%d of 1000 sessions end %v, want about %d", got, outcome, want)
		}
	}
}
