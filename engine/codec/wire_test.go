package codec

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
)

var genDelta = rapid.Custom(func(t *rapid.T) engine.Delta {
	d := engine.Delta{Keep: rapid.IntRange(0, 1000).Draw(t, "keep"), Read: rapid.Bool().Draw(t, "read"), Replace: rapid.Bool().Draw(t, "replace")}
	for range rapid.IntRange(0, 2).Draw(t, "fields") {
		d.Set = append(d.Set, engine.Field{Name: genText.Draw(t, "name"), Value: genBytes.Draw(t, "value")})
	}
	for range rapid.IntRange(0, 2).Draw(t, "messages") {
		d.Said = append(d.Said, engine.Message{To: []int{3, 500}, Body: genBytes.Draw(t, "body")})
	}
	return d
})

// TestSessionsOnTheWire checks that sessions arrive as sent, with the fields that the journal does not store, and that their rows and
// deltas have the journal's bytes.
func TestSessionsOnTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want engine.SessionRows
		for i := range rapid.IntRange(0, 5).Draw(t, "sessions") {
			r := genSession.Draw(t, "session")
			r.Agent = 10 * i // each once
			if r.Started.IsZero() {
				r.Started = time.UnixMicro(1e15).UTC()
			}
			if r.Outcome.Commits() {
				r.Delta = genDelta.Draw(t, "delta")
			} else if rapid.Bool().Draw(t, "lasts") {
				r.Lasting = engine.Lasting{Permanence: 2, Status: 404, Fix: genText.Draw(t, "fix")}
			}
			want = append(want, r)
		}
		sent := AppendSessions([]byte("before"), want)[len("before"):]
		got, err := ReadSessions(make(engine.SessionRows, 1, 3), sent)
		if err != nil || len(got) != 1+len(want) {
			t.Fatalf("got %d sessions, %v, want %d", len(got), err, len(want))
		}
		got = got[1:]
		for i := range got {
			if !bytes.Contains(sent, AppendSession(nil, &want[i], want[0].Started.UnixMicro())) {
				t.Error("a session has other bytes than in the journal")
			}
			g, w := got[i], want[i]
			g.Steps, g.Events, w.Steps, w.Events = nil, nil, nil, nil
			if !reflect.DeepEqual(g, w) || len(got[i].Steps) != len(want[i].Steps) || len(got[i].Events) != len(want[i].Events) {
				t.Errorf("got\n%+v, want\n%+v", got[i], want[i])
			}
		}
	})
}

// TestJournaledOnTheWire checks that the rows of a session in flight arrive as sent.
func TestJournaledOnTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		place := genPlace.Draw(t, "place")
		at := time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		step := genStep.Draw(t, "step")
		for _, want := range []engine.Row{
			engine.IntentRow{Place: place, Path: genText.Draw(t, "path"), Hash: 7, Earlier: []engine.Entry{genEntry.Draw(t, "earlier")}},
			engine.AnswerRow{Place: place, Entry: genEntry.Draw(t, "answer")},
			engine.SharedRow{Key: engine.SharedKey{1, 2}, Cycle: 3, Record: &step},
			engine.UnconfirmedRow{Place: place, At: at, Path: "a", Request: "POST /a"},
			engine.ChangeRow{At: at, Cycle: 2, What: "exactness", Inexact: &engine.Inexact{Cycle: 2, Agent: 5}},
		} {
			sent := AppendJournaled(nil, want)
			got, err := ReadJournaled(sent)
			if err != nil || !bytes.Equal(AppendJournaled(nil, got), sent) || reflect.TypeOf(got) != reflect.TypeOf(want) {
				t.Errorf("got\n%+v, %v, want\n%+v", got, err, want)
			}
			if was, ok := want.(engine.UnconfirmedRow); ok && got.(engine.UnconfirmedRow) != was {
				t.Errorf("got %+v, want %+v", got, was)
			}
			if was, ok := want.(engine.AnswerRow); ok && !reflect.DeepEqual(got, was) {
				t.Errorf("got %+v, want %+v", got, was)
			}
		}
	})
}

// FuzzWire checks that no input makes the decoders panic.
func FuzzWire(f *testing.F) {
	f.Add(AppendSessions(nil, engine.SessionRows{{Place: engine.Place{Agent: 3}, Outcome: engine.OK, Started: time.Unix(1, 0), Delta: engine.Delta{Read: true}}}))
	f.Add(AppendJournaled(nil, engine.AnswerRow{Entry: engine.Entry{Path: "a"}}))
	f.Fuzz(func(_ *testing.T, data []byte) {
		_, _ = ReadSessions(nil, data)
		_, _ = ReadJournaled(data)
	})
}
