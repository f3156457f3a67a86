package run_test

import (
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"
	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

func drawRow(t *rapid.T) engine.SessionRow {
	duration := rapid.Custom(func(t *rapid.T) time.Duration {
		return time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "ns"))
	})
	class := rapid.SampledFrom(append(engine.Classes(), engine.NoError))
	r := engine.SessionRow{
		Place:   engine.Place{Cycle: rapid.IntRange(0, 5).Draw(t, "cycle"), Agent: rapid.IntRange(0, 200).Draw(t, "agent")},
		Outcome: rapid.SampledFrom([]engine.Outcome{engine.OK, engine.Stopped, engine.Failed, engine.TimedOut, engine.Canceled}).Draw(t, "outcome"),
		Class:   class.Draw(t, "class"),
		Total:   duration.Draw(t, "total"), Service: duration.Draw(t, "service"), Throttled: duration.Draw(t, "held"), Queue: duration.Draw(t, "queue"),
		Acted: rapid.Bool().Draw(t, "acted"),
	}
	r.Steps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) engine.StepRecord {
		return engine.StepRecord{
			Path:     rapid.SampledFrom([]string{"step", "loop[0].step", "loop[1].step", "loop", "other"}).Draw(t, "path"),
			Status:   rapid.SampledFrom([]engine.StepStatus{engine.StepOK, engine.StepFailed, engine.StepTimedOut, engine.StepSkipped, engine.StepCanceled}).Draw(t, "status"),
			Class:    class.Draw(t, "step class"),
			Label:    engine.Label(rapid.IntRange(0, 3).Draw(t, "label")),
			Attempts: rapid.IntRange(0, 3).Draw(t, "attempts"),
			Service:  duration.Draw(t, "step service"),
			Parallel: rapid.Bool().Draw(t, "concurrent"),
			Statuses: rapid.SliceOfN(rapid.SampledFrom([]int{200, 429, 500}), 0, 4).Draw(t, "statuses"),
			Usage:    rapid.SampledFrom([]*engine.Usage{nil, {Calls: 1, Input: 90, Output: 12, Cost: 21_300}, {Calls: 2, Unpriced: 1, Hits: 1}}).Draw(t, "usage"),
			Waits:    rapid.SampledFrom([]*engine.Waits{nil, {engine.ThrottledByRate: time.Second}, {time.Millisecond, time.Minute}}).Draw(t, "waits"),
		}
	}), 0, 4).Draw(t, "steps")
	r.Events = make([]engine.Event, rapid.IntRange(0, 3).Draw(t, "events"))
	return r
}

// unique keeps one row per session.
func unique(rows []engine.SessionRow) []engine.SessionRow {
	seen := map[engine.Place]bool{}
	var out []engine.SessionRow
	for _, r := range rows {
		if !seen[r.Place] {
			seen[r.Place] = true
			out = append(out, r)
		}
	}
	return out
}

// TestTotalsDoNotDependOnOrder checks that an audit that reads the journal by cycle and agent finds the same totals as the
// run, which counts sessions as they end.
func TestTotalsDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := unique(rapid.SliceOfN(rapid.Custom(drawRow), 0, 20).Draw(t, "rows"))
		order := rapid.Permutation(rows).Draw(t, "order")
		var a, b engine.Totals
		for i := range rows {
			a.Add(&rows[i])
			b.Add(&order[i])
		}
		if got, want := show(&b), show(&a); got != want {
			t.Fatalf("in another order:\n%s\nwant\n%s", got, want)
		}
		if a.Ended() != int64(len(rows)) {
			t.Fatalf("%d ended, %d were added", a.Ended(), len(rows))
		}
	})
}

func TestTotalsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 0, 20).Draw(t, "rows")
		s := engine.State{Limit: 3}
		for i := range rows {
			s.Totals.Add(&rows[i])
		}
		data, err := cbor.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var got engine.State
		if err := cbor.Unmarshal(data, &got); err != nil {
			t.Fatal(err)
		}
		if g, w := show(&got.Totals), show(&s.Totals); g != w || got.Limit != 3 {
			t.Fatalf("came back as\n%s\nwant\n%s", g, w)
		}
	})
}

func TestTotalsCloneSharesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 1, 10).Draw(t, "rows")
		var a engine.Totals
		for i := range rows {
			a.Add(&rows[i])
		}
		was, c := show(&a), a.Clone()
		if show(&c) != was {
			t.Fatalf("the clone is\n%s\nwant\n%s", show(&c), was)
		}
		for i := range rows {
			c.Add(&rows[i])
		}
		if now := show(&a); now != was {
			t.Fatalf("adding to the clone changed the original from\n%s\nto\n%s", was, now)
		}
	})
}

func TestInexactCauses(t *testing.T) {
	step := func(status engine.StepStatus, class engine.Class, attempts int) []engine.StepRecord {
		return []engine.StepRecord{{Path: "call", Status: status, Class: class, Attempts: attempts}}
	}
	at := engine.Place{Cycle: 2, Agent: 9}
	for _, c := range []struct {
		name string
		row  engine.SessionRow
		want string
	}{
		{"a good session", engine.SessionRow{Outcome: engine.OK, Steps: step(engine.StepOK, engine.NoError, 3)}, "exact"},
		{"a failure by the script", engine.SessionRow{Outcome: engine.Failed, Class: engine.Script}, "exact"},
		{"a refusal", engine.SessionRow{Outcome: engine.Failed, Class: engine.ClientError, Steps: step(engine.StepFailed, engine.ClientError, 1)}, "exact"},
		{"a timeout", engine.SessionRow{Outcome: engine.TimedOut, Class: engine.Timeout, Path: "call"}, "inexact since cycle 2, agent 9, step call: timed out"},
		{"retries used up", engine.SessionRow{Outcome: engine.Failed, Class: engine.ServerError, Path: "call"}, "inexact since cycle 2, agent 9, step call: gave up after its retries: server_error"},
		{
			"a step that gave up and was ignored",
			engine.SessionRow{Outcome: engine.OK, Steps: step(engine.StepFailed, engine.Network, 5)},
			"inexact since cycle 2, agent 9, step call: a step gave up: network",
		},
		{
			"an ignored failure before the session failed by its script",
			engine.SessionRow{Outcome: engine.Failed, Class: engine.Script, Steps: step(engine.StepTimedOut, engine.Timeout, 1)},
			"inexact since cycle 2, agent 9, step call: a step gave up: timeout",
		},
		{
			"a step without requests that timed out",
			engine.SessionRow{Outcome: engine.OK, Steps: step(engine.StepTimedOut, engine.Timeout, 0)},
			"inexact since cycle 2, agent 9, step call: a step gave up: timeout",
		},
		{
			"a step that gave up and used a fallback",
			engine.SessionRow{Outcome: engine.OK, Steps: step(engine.StepOK, engine.ServerError, 5)},
			"inexact since cycle 2, agent 9, step call: a step gave up: server_error",
		},
		{"a step below a failed one", engine.SessionRow{Outcome: engine.Failed, Class: engine.Script, Steps: step(engine.StepCanceled, engine.Timeout, 2)}, "exact"},
	} {
		c.row.Place = at
		var totals engine.Totals
		totals.Add(&c.row)
		if got := totals.Inexact.String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestRateLimitsCountWithoutAnAttempt(t *testing.T) {
	var totals engine.Totals
	totals.Add(&engine.SessionRow{Outcome: engine.Failed, Class: engine.RateLimited, Steps: []engine.StepRecord{{Statuses: []int{429, 429}, Status: engine.StepFailed}}})
	if totals.RateLimited != 2 || totals.Requests != 0 || totals.Retries != 0 {
		t.Errorf("%d 429s, %d requests, %d retries; want 2, 0, 0", totals.RateLimited, totals.Requests, totals.Retries)
	}
}
