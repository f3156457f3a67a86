package prove

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"go.uber.org/goleak"

	"github.com/throng-sim/throng/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPlans checks that plans have the requested number of kills, spread over moments and concurrency, and are the same for the same
// seed.
func TestPlans(t *testing.T) {
	counts := Counts{Sending: 300, Request: 300, Answer: 250, Commit: 120}
	c := Config{Kills: 200, Seed: 7}
	plans := c.trials(&counts)
	if !reflect.DeepEqual(plans, c.trials(&counts)) {
		t.Error("the same seed gave a different plan")
	}
	var kills int
	at, atOnce := map[Moment]int{}, map[int]int{}
	for i, p := range plans {
		if p.trial != i+1 {
			t.Errorf("trial %d is at index %d", p.trial, i)
		}
		if again := c.planOf(p.trial, &counts); i < len(plans)-1 && !reflect.DeepEqual(p, again) {
			t.Errorf("trial %d alone: got %+v, want %+v", p.trial, again, p)
		}
		for _, r := range p.rounds(&counts, nil) {
			kills++
			k := r.kills[0]
			at[k.Moment]++
			if len(r.kills) != 1 || k.Worker != 0 || k.N < 1 || k.N > counts[k.Moment] {
				t.Errorf("got %v of %d", r.kills, counts[k.Moment])
			}
		}
		for _, d := range p.deaths {
			atOnce[d.settings.limit]++
		}
	}
	if kills != 200 || at[Commit] < 80 || at[Commit] > 120 || at[Sending] < 20 || at[Request] < 20 || at[Answer] < 20 {
		t.Errorf("%d kills: %v", kills, at)
	}
	for _, limit := range limits {
		if atOnce[limit] < 20 {
			t.Errorf("limit %d used %d times: %v", limit, atOnce[limit], atOnce)
		}
	}
}

// TestPlansFollowTheCounts checks that plans kill only at moments that a run has, and do not exceed its limit.
func TestPlansFollowTheCounts(t *testing.T) {
	c := Config{Kills: 50, Limit: 5}
	for _, counts := range []Counts{{Commit: 9}, {Commit: 9, Sending: 3, Answer: 2}} {
		for _, p := range c.trials(&counts) {
			for _, r := range p.rounds(&counts, nil) {
				if counts[r.kills[0].Moment] == 0 || r.settings.limit > 5 {
					t.Errorf("got %v with %+v of %v", r.kills, r.settings, counts)
				}
			}
		}
	}
}

func TestPoints(t *testing.T) {
	for m := range moments {
		p := Point{m, 17}
		if got, ok := parsePoint(p.String()); !ok || got != p {
			t.Errorf("%s: parsed as %v", p, got)
		}
	}
	for _, text := range []string{"", "commit", "commit:", "commit:x", "dawn:3"} {
		if p, ok := parsePoint(text); ok {
			t.Errorf("%q: parsed as %v", text, p)
		}
	}
}

func TestCounter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "counts")
	env := map[string]string{CountEnv: path, KillEnv: "commit:3"}
	c := FromEnv(func(name string) string { return env[name] })
	for range 2 {
		c.Reached(Commit)
	}
	for range 5 {
		c.Reached(Answer)
	}
	if err := c.Write(); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadCounts(path); err != nil || got != (Counts{Commit: 2, Answer: 5}) {
		t.Errorf("got %v %v", got, err)
	}
	if err := os.WriteFile(path, []byte("commit many\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadCounts(path); err == nil {
		t.Error("an invalid plan was parsed")
	}
	none := FromEnv(func(string) string { return "" })
	none.Reached(Commit)
	if err := none.Write(); err != nil || none != nil {
		t.Errorf("got %v %v", none, err)
	}
}

func TestDifference(t *testing.T) {
	of := func(parts ...part) *result { return &result{parts: parts} }
	want := of(part{"sessions.csv", []string{"a", "b", "c"}}, part{"events.csv", []string{"x", "x"}})
	for _, tt := range []struct {
		name string
		got  *result
		diff Difference
	}{
		{"the same", of(part{"sessions.csv", []string{"a", "b", "c"}}, part{"events.csv", []string{"x", "x"}}), Difference{}},
		{
			"a line less, another more", of(part{"sessions.csv", []string{"a", "c"}}, part{"events.csv", []string{"x", "x", "x"}}),
			Difference{1, 1, "sessions.csv, line 2\n  undisturbed: b\n  killed:      c", []string{"sessions.csv", "events.csv"}},
		},
		{
			"another line", of(part{"sessions.csv", []string{"a", "b", "d"}}, part{"events.csv", []string{"x", "x"}}),
			Difference{1, 1, "sessions.csv, line 3\n  undisturbed: c\n  killed:      d", []string{"sessions.csv"}},
		},
		{
			"a line less", of(part{"sessions.csv", []string{"a", "b", "c"}}, part{"events.csv", []string{"x"}}),
			Difference{1, 0, "events.csv, line 2\n  undisturbed: x\n  killed:      (no more lines)", []string{"events.csv"}},
		},
	} {
		if got := tt.got.differs(want); !reflect.DeepEqual(got, tt.diff) {
			t.Errorf("%s: got %+v, want %+v", tt.name, got, tt.diff)
		}
	}
	stopped := of(want.parts...)
	stopped.record.Inexact = &engine.Inexact{Cycle: 3, Why: "a session timed out"}
	says := "it became inexact, unlike the undisturbed run: inexact since cycle 3: a session timed out"
	if got := stopped.differs(want); got.First != says {
		t.Errorf("got %q, want %q", got.First, says)
	}
}
