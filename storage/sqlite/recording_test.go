package sqlite

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// TestRecording checks that a run that records keeps every answer of closed cycles, except those of private steps, and that
// they are read by session, of the last take, in any order.
func TestRecording(t *testing.T) {
	s := openStore(t, t.TempDir(), Options{Logger: quiet()})
	defer closeStore(t, s)
	settings := engine.DefaultSettings()
	settings.Record, settings.KeepShare = true, 0
	if err := s.Create(t.Context(), engine.RunRecord{ID: "r", Settings: settings}); err != nil {
		t.Fatal(err)
	}
	j, err := s.Journal("r")
	if err != nil {
		t.Fatal(err)
	}
	const agents, cycles = 120, 3
	want := map[engine.Place]engine.Prefix{}
	for cycle := range cycles {
		for a := range agents {
			p := engine.Place{Cycle: cycle, Agent: a}
			if a%40 == 7 { // a take that was requeued by hand
				j.Append(engine.AnswerRow{Place: p, Entry: engine.Entry{Path: "old", Attempts: 1, Output: []byte("old")}})
				p.Take = 1
			}
			entry := func(path string, private bool) engine.Entry {
				e := engine.Entry{Path: path, Attempts: 1, Hash: 7, Output: fmt.Appendf(nil, "%s %v", path, p), Private: private}
				kept := e
				if private {
					kept.Output = nil
				}
				want[engine.Place{Cycle: cycle, Agent: a}] = append(want[engine.Place{Cycle: cycle, Agent: a}], kept)
				return e
			}
			buy, look := entry("buy", false), entry("look", a%10 == 0)
			j.Append(
				engine.AnswerRow{Place: p, Entry: look}, engine.IntentRow{Place: p, Path: "buy", Hash: 7}, engine.AnswerRow{Place: p, Entry: buy},
				engine.SessionRows{{Place: p, Outcome: engine.OK}})
		}
		j.Append(engine.BarrierRow{Cycle: cycle})
	}
	key := engine.SharedKey{1}
	shared := engine.Entry{Path: "ask", Attempts: 1, Output: []byte("all")}
	j.Append(engine.SharedRow{Key: key, Entry: engine.Entry{Path: "ask", Hash: 1}}, engine.SharedRow{Key: key, Entry: shared, Record: &engine.StepRecord{Path: "ask"}})
	if err := j.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	r, err := s.Recording(t.Context(), "r")
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Shared(); len(got) != 1 || !reflect.DeepEqual(got[key], shared) || r.Run() != "r" {
		t.Errorf("shared %+v of %s", got, r.Run())
	}
	for cycle := range cycles {
		for _, a := range rand.New(rand.NewPCG(1, uint64(cycle))).Perm(agents) {
			got, err := r.Session(t.Context(), cycle, a)
			if want := want[engine.Place{Cycle: cycle, Agent: a}]; err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("cycle %d, agent %d: %+v, %v, want %+v", cycle, a, got, err, want)
			}
		}
	}
	if got, err := r.Session(t.Context(), 0, agents); err != nil || len(got) != 0 {
		t.Errorf("an agent without requests: %+v, %v", got, err)
	}
	if size, err := s.RecordingSize(t.Context(), "r"); err != nil || size < 1000 {
		t.Errorf("%d bytes, %v", size, err)
	}
	if _, err := s.Recording(t.Context(), "none"); !errors.Is(err, engine.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}
