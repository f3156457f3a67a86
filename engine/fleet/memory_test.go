package fleet

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/codec"
	"github.com/throng-sim/throng/engine/memories"
	"github.com/throng-sim/throng/engine/retrieval"
)

// TestMemoryChanges checks that the changes of many cycles, as they travel, lead to the same memory, also when fields, notes and
// messages are dropped.
func TestMemoryChanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) []byte {
			return fmt.Appendf(nil, "%q", rapid.StringMatching("[a-c]{0,2}").Draw(t, name))
		}
		memory := map[int]*engine.Memory{}
		var there *engine.Memory
		for cycle := range rapid.IntRange(1, 12).Draw(t, "cycles") {
			var d engine.Delta
			for range rapid.IntRange(0, 3).Draw(t, "fields") {
				d.Set = append(d.Set, engine.Field{Name: string(text("name")), Value: text("value")})
			}
			for range rapid.IntRange(0, 3).Draw(t, "notes") {
				d.Notes = append(d.Notes, text("note"))
			}
			d.Keep, d.Read = rapid.IntRange(0, 4).Draw(t, "keep"), rapid.Bool().Draw(t, "read")
			d.Replace = rapid.IntRange(0, 5).Draw(t, "replace") == 0
			for _, note := range d.Notes {
				k := retrieval.Kept{Note: retrieval.Key(note), Cycle: cycle, Used: cycle}
				if rapid.Bool().Draw(t, "embedded") {
					k.Vector = text("vector")
				}
				d.Kept = retrieval.Merge(d.Kept, []retrieval.Kept{k})
			}
			for range rapid.IntRange(0, 2).Draw(t, "messages") {
				d.Said = append(d.Said, engine.Message{To: []int{0}, Body: text("body")})
			}
			memories.CommitSession(memories.Map(memory), 0, &d, cycle)
			now := memory[0]
			if now == nil {
				continue
			}
			if there == nil {
				there = now
				continue
			}
			c, ok := changeOf(there, now)
			if !ok {
				there = now
				continue
			}
			got, err := record[memoryChange](codec.AppendWire(nil, &c))
			if err != nil {
				t.Fatal(err)
			}
			next, ok := got.apply(there)
			if a, b := show(next), show(now); !ok || a != b {
				t.Fatalf("cycle %d: %v\n%s\nwant\n%s", cycle, ok, a, b)
			}
			there = next
		}
	})
}

func show(m *engine.Memory) string {
	var b strings.Builder
	for _, f := range m.Fields {
		fmt.Fprintf(&b, "%s=%s ", f.Name, f.Value)
	}
	fmt.Fprintf(&b, "| %s | ", bytes.Join(m.Notes, []byte(",")))
	for _, l := range m.Inbox {
		fmt.Fprintf(&b, "%d/%d/%s ", l.From, l.Cycle, l.Body)
	}
	return b.String() + fmt.Sprint(m.ReadTo, m.Kept)
}

// TestMemoryChangeIsSmall checks that a note more is one note, however many there are.
func TestMemoryChangeIsSmall(t *testing.T) {
	was := &engine.Memory{Fields: []engine.Field{{Name: "a", Value: bytes.Repeat([]byte("x"), 1000)}}}
	for i := range 100 {
		was.Notes = append(was.Notes, fmt.Appendf(nil, `"note %d, which is long enough to count"`, i))
	}
	now := was.Apply(&engine.Delta{Notes: [][]byte{[]byte(`"one more"`)}}) // the oldest is dropped
	c, ok := changeOf(was, now)
	if size := len(codec.AppendWire(nil, &c)); !ok || size > 40 {
		t.Errorf("%d bytes (%v), want those of one note", size, ok)
	}
	if _, ok := c.apply(&engine.Memory{}); ok {
		t.Error("a change applies to a memory without the notes that it keeps")
	}
}
