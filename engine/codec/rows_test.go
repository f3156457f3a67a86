package codec

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/retrieval"
)

// genText generates texts of all lengths, with characters that are special in JSON, CSV and SQL.
var genText = rapid.OneOf(rapid.SampledFrom([]string{"", "a", "fill_cart[2].add_cart", "\x00\xff'\"=,\n"}), rapid.StringN(0, 200, 400))

// genBytes generates nil instead of an empty text, which is read back as nil.
var genBytes = rapid.Custom(func(t *rapid.T) []byte {
	if s := genText.Draw(t, "text"); s != "" {
		return []byte(s)
	}
	return nil
})

var genDuration = rapid.Custom(func(t *rapid.T) time.Duration {
	return time.Duration(rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Int64(), rapid.Just(int64(math.MaxInt64))).Draw(t, "duration"))
})

var genStatuses = rapid.Custom(func(t *rapid.T) []int {
	s := rapid.SliceOfN(rapid.IntRange(-1, 599), 0, 6).Draw(t, "statuses")
	if len(s) == 0 {
		return nil
	}
	return s
})

func genEnum[T ~uint8](last T) *rapid.Generator[T] {
	return rapid.Map(rapid.IntRange(0, int(last)), func(n int) T { return T(n) })
}

var genClass = genEnum(engine.ConfigError)

var genStep = rapid.Custom(func(t *rapid.T) engine.StepRecord {
	s := engine.StepRecord{
		Path: genText.Draw(t, "path"), Status: genEnum(engine.StepCanceled).Draw(t, "status"), Class: genClass.Draw(t, "class"),
		Label: genEnum(engine.Recorded).Draw(t, "label"), Attempts: rapid.IntRange(0, 9).Draw(t, "attempts"), Statuses: genStatuses.Draw(t, "statuses"),
		Throttled: genDuration.Draw(t, "held"), Service: genDuration.Draw(t, "service"),
		Size: rapid.SampledFrom([]int64{0, 1, 1 << 40}).Draw(t, "size"), Redirects: rapid.SampledFrom([]int{0, 1, 10}).Draw(t, "redirects"), Rounds: rapid.SampledFrom([]int{0, 1, 5}).Draw(t, "rounds"),
	}
	if rapid.Bool().Draw(t, "waited") {
		s.Waits = new(engine.Waits)
		for i := range s.Waits {
			s.Waits[i] = genDuration.Draw(t, "wait")
		}
	}
	if rapid.Bool().Draw(t, "asked a model") {
		s.Usage = new(engine.Usage)
		for _, n := range usageFields(s.Usage) {
			*n = rapid.Int64().Draw(t, "used")
		}
		s.Usage.Again = rapid.SampledFrom([]int64{0, 1, 300}).Draw(t, "again")
	}
	if rapid.Bool().Draw(t, "has a decision") {
		s.Decision = &decision.Pair{
			Model: genBytes.Draw(t, "model"), Rule: genBytes.Draw(t, "rule"), Used: rapid.SampledFrom([]decision.By{decision.Model, decision.Rule}).Draw(t, "used by"),
			Failed: genText.Draw(t, "failed"), Seen: genBytes.Draw(t, "seen"),
		}
	}
	return s
})

var genPlace = rapid.Custom(func(t *rapid.T) engine.Place {
	return engine.Place{Cycle: 7, Agent: rapid.IntRange(0, math.MaxInt32).Draw(t, "agent"), Take: rapid.IntRange(0, 300).Draw(t, "take")}
})

var genSession = rapid.Custom(func(t *rapid.T) engine.SessionRow {
	s := engine.SessionRow{
		Place: genPlace.Draw(t, "place"), Outcome: genEnum(engine.Canceled).Draw(t, "outcome"), Class: genClass.Draw(t, "class"),
		Path: genText.Draw(t, "path"), Error: genText.Draw(t, "error"), Because: genText.Draw(t, "because"),
		Queue: genDuration.Draw(t, "queue"), Throttled: genDuration.Draw(t, "held"), Service: genDuration.Draw(t, "service"),
		Total: genDuration.Draw(t, "total"), Acted: rapid.Bool().Draw(t, "acted"), Open: rapid.Bool().Draw(t, "open"),
	}
	if rapid.Bool().Draw(t, "has started") {
		s.Started = time.UnixMicro(rapid.Int64Range(0, 4e15).Draw(t, "started")).UTC()
	}
	for range rapid.IntRange(0, 4).Draw(t, "steps") {
		s.Steps = append(s.Steps, genStep.Draw(t, "step"))
	}
	for range rapid.IntRange(0, 4).Draw(t, "events") {
		e := engine.Event{Path: genText.Draw(t, "path"), Name: genText.Draw(t, "name"), Data: genBytes.Draw(t, "data")}
		if len(s.Steps) > 0 && rapid.Bool().Draw(t, "of a step") {
			e.Path = rapid.SampledFrom(s.Steps).Draw(t, "of").Path
		}
		s.Events = append(s.Events, e)
	}
	return s
})

var genEntry = rapid.Custom(func(t *rapid.T) engine.Entry {
	return engine.Entry{
		Path: genText.Draw(t, "path"), Status: genEnum(engine.StepCanceled).Draw(t, "status"), Class: genClass.Draw(t, "class"),
		Error: genText.Draw(t, "error"), Output: genBytes.Draw(t, "output"), Attempts: rapid.IntRange(-1, 9).Draw(t, "attempts"),
		Statuses: genStatuses.Draw(t, "statuses"), Hash: rapid.Uint64().Draw(t, "hash"),
		Again: rapid.Bool().Draw(t, "again"),
	}
})

// packOf returns a pack of rows.
func packOf(base int64, segments ...[]byte) []byte {
	raw := binary.AppendVarint(nil, base)
	return append(raw, bytes.Join(segments, nil)...)
}

func TestSessionSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(genSession, 1, 5).Draw(t, "sessions")
		base := rapid.Int64Range(0, 4e15).Draw(t, "base")
		var raw [][]byte
		for i := range want {
			raw = append(raw, AppendSession(nil, &want[i], base))
		}
		var reader SessionReader
		n := 0
		err := Rows(packOf(base, raw...), func(c Cursor, base int64) error {
			if p, o, err := OutcomeOf(c, 7); err != nil || p != want[n].Place || o != want[n].Outcome {
				t.Errorf("got %v, %v, %v", p, o, err)
			}
			got, err := reader.Read(c, 7, base)
			if err == nil && len(got.Steps) == 0 {
				got.Steps = nil
			}
			if err == nil && len(got.Events) == 0 {
				got.Events = nil
			}
			if err != nil || !reflect.DeepEqual(*got, want[n]) {
				t.Errorf("got\n%+v, %v, want\n%+v", got, err, want[n])
			}
			n++
			return nil
		})
		if err != nil || n != len(want) {
			t.Errorf("got %d sessions, %v, want %d", n, err, len(want))
		}
	})
}

func TestRequestSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		intent := engine.IntentRow{Place: genPlace.Draw(t, "place"), Path: genText.Draw(t, "path"), Hash: rapid.Uint64().Draw(t, "hash")}
		for range rapid.IntRange(0, 3).Draw(t, "earlier") {
			intent.Earlier = append(intent.Earlier, genEntry.Draw(t, "entry"))
		}
		answer := engine.AnswerRow{Place: genPlace.Draw(t, "place"), Entry: genEntry.Draw(t, "entry")}
		want := []Request{
			{intent.Place, IntentKind, engine.Entry{Path: intent.Path, Hash: intent.Hash}, intent.Earlier},
			{answer.Place, AnswerKind, answer.Entry, nil},
		}
		var got []Request
		err := Rows(packOf(0, AppendIntent(nil, &intent), AppendAnswer(nil, &answer)), func(c Cursor, _ int64) error {
			r, err := ReadRequest(c, 7)
			got = append(got, r)
			return err
		})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%+v, %v, want\n%+v", got, err, want)
		}
	})
}

func TestDeltaSegments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		place := genPlace.Draw(t, "place")
		want := engine.Delta{Keep: rapid.IntRange(-1, 1000).Draw(t, "keep")}
		for range rapid.IntRange(0, 3).Draw(t, "fields") {
			want.Set = append(want.Set, engine.Field{Name: genText.Draw(t, "name"), Value: genBytes.Draw(t, "value")})
		}
		for range rapid.IntRange(0, 3).Draw(t, "notes") {
			want.Notes = append(want.Notes, genBytes.Draw(t, "note"))
		}
		for range rapid.IntRange(0, 3).Draw(t, "kept") {
			k := retrieval.Kept{Note: rapid.Uint64().Draw(t, "key"), Cycle: rapid.IntRange(-1, 9).Draw(t, "cycle"), Used: rapid.IntRange(-1, 9).Draw(t, "used")}
			if rapid.Bool().Draw(t, "embedded") {
				k.Vector = rapid.SliceOfN(rapid.Byte(), 1, 20).Draw(t, "vector")
			}
			want.Kept = append(want.Kept, k)
		}
		err := Rows(packOf(0, AppendDelta(nil, place, &want)), func(c Cursor, _ int64) error {
			p, got, err := ReadDelta(c, 7)
			if p != place || !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, %+v, want %v, %+v", p, got, place, want)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}

// TestSegmentsGrow checks that segments with unknown fields of a later version can be read.
func TestSegmentsGrow(t *testing.T) {
	row := engine.SessionRow{Place: engine.Place{Cycle: 7, Agent: 3}, Outcome: engine.OK}
	old := AppendSession(nil, &row, 0)
	newer := appendText(nil, append(bytes.Clone(old[1:]), "what a newer version adds"...))
	n := 0
	err := Rows(packOf(0, newer, old), func(c Cursor, base int64) error {
		got, err := new(SessionReader).Read(c, 7, base)
		if err != nil || !reflect.DeepEqual(*got, row) {
			t.Errorf("got %+v, %v", got, err)
		}
		n++
		return nil
	})
	if err != nil || n != 2 {
		t.Errorf("got %d segments, %v", n, err)
	}
}

// FuzzSegments checks that no input makes the decoders panic, loop or read beyond its end.
func FuzzSegments(f *testing.F) {
	s := engine.SessionRow{
		Place: engine.Place{Agent: 5, Take: 1}, Outcome: engine.Failed, Class: engine.Network, Path: "a", Started: time.UnixMicro(99),
		Steps:  []engine.StepRecord{{Path: "a", Attempts: 2, Statuses: []int{500, 200}, Class: engine.Timeout, Label: engine.Unconfirmed}},
		Events: []engine.Event{{Path: "a", Name: "b", Data: []byte("{}")}, {Path: "c"}},
	}
	f.Add(packOf(3, AppendSession(nil, &s, 3), AppendSession(nil, &engine.SessionRow{}, 3)))
	f.Add(packOf(0, AppendDelta(nil, s.Place, &engine.Delta{Keep: 2, Set: []engine.Field{{Name: "a", Value: []byte("1")}}, Notes: [][]byte{[]byte("n")}})))
	entry := engine.Entry{Path: "p", Error: "e", Output: []byte("o"), Attempts: 1, Statuses: []int{201}}
	f.Add(packOf(0, AppendIntent(nil, &engine.IntentRow{Path: "p", Earlier: []engine.Entry{entry}}), AppendAnswer(nil, &engine.AnswerRow{Entry: entry})))
	f.Add(packOf(0, bytes.Repeat(AppendSession(nil, &s, 0), 100)))
	f.Fuzz(func(t *testing.T, pack []byte) {
		var reader SessionReader
		_ = Rows(pack, func(c Cursor, base int64) error {
			if row, err := reader.Read(c, 1, base); err == nil {
				again := AppendSession(nil, row, base)
				segment := NewCursor(again)
				if back, err := new(SessionReader).Read(segment.Segment(), 1, base); err != nil || back.Place != row.Place || back.Total != row.Total || len(back.Steps) != len(row.Steps) {
					t.Errorf("%+v is read back as %+v, %v", row, back, err)
				}
			}
			_, _, _ = OutcomeOf(c, 1)
			_, _, _ = ReadDelta(c, 1)
			_, _ = ReadRequest(c, 1)
			return nil
		})
	})
}
