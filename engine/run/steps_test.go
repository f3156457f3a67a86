package run_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fxamacker/cbor/v2"
	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

// stepCounts is a plain count of a step's records.
type stepCounts struct {
	statuses                   [5]int64
	requests, retries, limited int64
	took                       []time.Duration
}

// countSteps counts the records of rows by step in the simplest way.
func countSteps(rows []engine.SessionRow) map[string]*stepCounts {
	all := map[string]*stepCounts{}
	for _, row := range rows {
		for _, s := range row.Steps {
			name := engine.StepName(s.Path)
			c := all[name]
			if c == nil {
				c = &stepCounts{}
				all[name] = c
			}
			c.statuses[s.Status]++
			c.requests += int64(s.Attempts)
			c.retries += int64(max(s.Attempts-s.Redirects-1, 0))
			for _, status := range s.Statuses {
				if status == 429 {
					c.limited++
				}
			}
			if ran := s.Status == engine.StepOK || s.Status == engine.StepFailed || s.Status == engine.StepTimedOut; ran && s.Label != engine.Replayed {
				c.took = append(c.took, s.Service)
			}
		}
	}
	return all
}

func compareSteps(t *rapid.T, got []engine.StepFigures, want map[string]*stepCounts) {
	t.Helper()
	if len(got) != len(want) || !slices.IsSortedFunc(got, func(a, b engine.StepFigures) int { return strings.Compare(a.Path, b.Path) }) {
		t.Fatalf("figures of %d steps, want %v in order", len(got), slices.Sorted(maps.Keys(want)))
	}
	for _, f := range got {
		w := want[f.Path]
		if w == nil {
			t.Fatalf("figures of %s, which no session executed", f.Path)
		}
		if f.Statuses != w.statuses || f.Requests != w.requests || f.Retries != w.retries || f.RateLimited != w.limited {
			t.Fatalf("%s: %+v, want %+v", f.Path, f, w)
		}
		if f.Service.Count != int64(len(w.took)) {
			t.Fatalf("%s: %d latencies, want %d", f.Path, f.Service.Count, len(w.took))
		}
		if len(w.took) > 0 {
			if longest := slices.Max(w.took).Truncate(time.Microsecond); f.Service.Max != longest || f.Service.P50 > f.Service.P95 {
				t.Fatalf("%s: latencies %+v, want the longest %v", f.Path, f.Service, longest)
			}
		}
	}
}

// TestStepFigures compares the figures with a plain count, before and after a checkpoint.
func TestStepFigures(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 0, 20).Draw(t, "rows")
		var totals engine.Totals
		cut := rapid.IntRange(0, len(rows)).Draw(t, "checkpoint")
		for i := range rows[:cut] {
			totals.Add(&rows[i])
		}
		data, err := cbor.Marshal(totals)
		if err != nil {
			t.Fatal(err)
		}
		var back engine.Totals
		if err := cbor.Unmarshal(data, &back); err != nil {
			t.Fatal(err)
		}
		for i := range rows[cut:] {
			back.Add(&rows[cut+i])
		}
		compareSteps(t, totals.ByStep.Figures(), countSteps(rows[:cut]))
		compareSteps(t, back.ByStep.Figures(), countSteps(rows))
	})
}

func TestStepNames(t *testing.T) {
	for path, want := range map[string]string{
		"browse":                    "browse",
		"fill_cart[12].add_cart":    "fill_cart.add_cart",
		"a[0].b[1].c":               "a.b.c",
		"checkout.order":            "checkout.order",
		"a[0]":                      "a",
		"":                          "",
		"odd[1":                     "odd[1",
		"rounds[3].talk.turn[0].to": "rounds.talk.turn.to",
	} {
		if got := engine.StepName(path); got != want {
			t.Errorf("%q is the step %q, want %q", path, got, want)
		}
	}
}

func TestStepFiguresAreBounded(t *testing.T) {
	var totals engine.Totals
	row := engine.SessionRow{Outcome: engine.OK}
	for i := range engine.MostSteps + 5 {
		row.Steps = append(row.Steps, engine.StepRecord{Path: fmt.Sprintf("s%05d", i)})
	}
	totals.Add(&row)
	totals.Add(&row)
	all := totals.ByStep.Figures()
	if len(all) != engine.MostSteps || all[0].Ran() != 2 || totals.Steps != 2*(engine.MostSteps+5) {
		t.Errorf("figures of %d steps, %d of the first, %d steps in all", len(all), all[0].Ran(), totals.Steps)
	}
}

// TestSnapshotShowsSteps checks that step figures appear once a second and at the end, including those of an earlier
// process.
func TestSnapshotShowsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		program := programFunc(func(s *engine.Session) {
			<-time.After(100 * time.Millisecond)
			for i := range 2 {
				s.Row.Steps = append(s.Row.Steps, engine.StepRecord{
					Path: fmt.Sprintf("shop[%d].buy", i), Attempts: 2, Statuses: []int{429, 500, 200}, Service: 40 * time.Millisecond,
				})
			}
			s.Row.Steps = append(s.Row.Steps, engine.StepRecord{Path: "leave", Status: engine.StepSkipped})
			s.Row.Outcome = engine.OK
		})
		j := &enginetest.Journal{}
		cfg := enginetest.Config(100, program, j)
		cfg.Settings.Limit = 5
		r := start(t, cfg)
		<-time.After(1050 * time.Millisecond)
		first := r.PublishNow().Steps
		if len(first) != 2 || first[0].Path != "leave" || first[1].Path != "shop.buy" {
			t.Fatalf("after a second: %+v", first)
		}
		do(t, r.Stop("test", ""))
		r.Wait()

		cfg.Resume = j.Resumption()
		end := start(t, cfg)
		end.Wait()
		buy := end.Snapshot().Steps[1]
		if buy.Ran() != 200 || buy.Errors() != 0 || buy.Requests != 400 || buy.Retries != 200 || buy.RateLimited != 200 {
			t.Errorf("at the end: %+v", buy)
		}
		if q := buy.Service; q.Count != 200 || q.Mean != 40*time.Millisecond || q.Max != 40*time.Millisecond {
			t.Errorf("latencies: %+v", q)
		}
		if first[1].Ran() >= 200 {
			t.Error("an older snapshot has changed")
		}
	})
}

// BenchmarkTotals measures the cost of counting a session in the node, by its number of steps.
func BenchmarkTotals(b *testing.B) {
	for _, bb := range []struct {
		name  string
		paths []string
	}{
		{"no step", nil},
		{"one step", []string{"decide"}},
		{"a loop of ten", strings.Fields("enter fill[0].add fill[1].add fill[2].add fill[3].add fill[4].add fill[5].add fill[6].add fill[7].add fill")},
	} {
		b.Run(bb.name, func(b *testing.B) {
			row := engine.SessionRow{Outcome: engine.OK, Total: time.Millisecond}
			for _, p := range bb.paths {
				row.Steps = append(row.Steps, engine.StepRecord{Path: p, Attempts: 1, Service: time.Millisecond})
			}
			var totals engine.Totals
			for b.Loop() {
				totals.Add(&row)
			}
		})
	}
}
