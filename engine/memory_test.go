package engine_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
)

func drawDelta(t *rapid.T) *engine.Delta {
	var d engine.Delta
	for range rapid.IntRange(0, 3).Draw(t, "fields") {
		name := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "name")
		d.Set = append(d.Set, engine.Field{Name: name, Value: fmt.Append(nil, rapid.IntRange(0, 99).Draw(t, "value"))})
	}
	for range rapid.IntRange(0, 60).Draw(t, "notes") {
		d.Notes = append(d.Notes, fmt.Append(nil, rapid.IntRange(0, 99).Draw(t, "note")))
	}
	d.Replace = rapid.IntRange(0, 3).Draw(t, "replaces") == 0
	d.Keep = rapid.SampledFrom([]int{0, 0, 1, 5, 150}).Draw(t, "keep")
	return &d
}

// TestApply compares Apply with a map and a list.
func TestApply(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fields, notes := map[string]string{}, []string{}
		var m *engine.Memory
		for _, d := range rapid.SliceOfN(rapid.Custom(drawDelta), 0, 8).Draw(t, "deltas") {
			was, before := m, ""
			if m != nil {
				before = enginetest.ShowMemory(map[int]*engine.Memory{0: m})
			}
			m = m.Apply(d)
			for _, f := range d.Set {
				fields[f.Name] = string(f.Value)
			}
			if d.Replace {
				notes = []string{}
			}
			for _, n := range d.Notes {
				notes = append(notes, string(n))
			}
			if keep := d.Keep; len(d.Notes) > 0 || keep > 0 {
				if keep == 0 {
					keep = engine.DefaultNotes
				}
				notes = notes[max(0, len(notes)-keep):]
			}
			if was != nil && enginetest.ShowMemory(map[int]*engine.Memory{0: was}) != before {
				t.Fatal("the memory before was changed")
			}
		}
		gotFields, gotNotes := map[string]string{}, []string{}
		if m != nil {
			for _, f := range m.Fields {
				gotFields[f.Name] = string(f.Value)
			}
			for _, n := range m.Notes {
				gotNotes = append(gotNotes, string(n))
			}
			if len(gotFields) != len(m.Fields) {
				t.Fatalf("a field occurs twice: %v", m.Fields)
			}
		}
		got, _ := json.Marshal([]any{gotFields, gotNotes})
		want, _ := json.Marshal([]any{fields, notes})
		if string(got) != string(want) {
			t.Fatalf("memory\n%s\nwant\n%s", got, want)
		}
	})
}

// TestSettingAFieldDropsNoNotes checks that only a delta with notes, or with a number to keep, limits the notes.
func TestSettingAFieldDropsNoNotes(t *testing.T) {
	var notes [][]byte
	for i := range 300 {
		notes = append(notes, fmt.Append(nil, i))
	}
	var m *engine.Memory
	m = m.Apply(&engine.Delta{Notes: notes, Keep: 200})
	m = m.Apply(&engine.Delta{Set: []engine.Field{{Name: "a", Value: []byte("1")}}})
	if len(m.Notes) != 200 || string(m.Notes[0]) != "100" {
		t.Errorf("%d notes are kept from %s on, want 200 from 100 on", len(m.Notes), m.Notes[0])
	}
}

func TestEmptyDeltaMakesNoMemory(t *testing.T) {
	var m *engine.Memory
	if m.Apply(nil) != nil || m.Apply(&engine.Delta{}) != nil {
		t.Error("an agent that remembers nothing got a memory")
	}
}
