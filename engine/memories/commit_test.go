package memories_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/enginetest"
	"github.com/throng-sim/throng/engine/memories"
)

// TestCommitCycle compares several barriers with inboxes kept as lists of texts.
func TestCommitCycle(t *testing.T) {
	const agents = 6
	rapid.Check(t, func(t *rapid.T) {
		memory := map[int]*engine.Memory{}
		inboxes := map[int][]string{}
		for cycle := range rapid.IntRange(1, 6).Draw(t, "cycles") {
			before, was := maps.Clone(memory), enginetest.ShowMemory(memory)
			deltas := map[int]engine.Delta{}
			touched := map[int]bool{}
			for agent := range agents {
				if !rapid.Bool().Draw(t, "commits") {
					continue
				}
				d := engine.Delta{Read: rapid.Bool().Draw(t, "reads")}
				for i := range rapid.IntRange(0, 3).Draw(t, "says") {
					to := rapid.SliceOfDistinct(rapid.IntRange(0, agents-1), rapid.ID[int]).Draw(t, "to")
					d.Said = append(d.Said, engine.Message{To: to, Body: fmt.Appendf(nil, "%d/%d/%d", cycle, agent, i)})
				}
				deltas[agent] = d
				if d.Read {
					inboxes[agent], touched[agent] = nil, true
				}
			}
			for _, agent := range slices.Sorted(maps.Keys(deltas)) {
				for _, m := range deltas[agent].Said {
					for _, to := range m.To {
						inboxes[to] = append(inboxes[to], string(m.Body))
						touched[to] = true
					}
				}
			}
			changed, _ := memories.CommitCycle(&engine.Settings{}, memories.Map(memory), memories.Of(deltas), cycle)
			if want := slices.Sorted(maps.Keys(touched)); !slices.Equal(changed, want) {
				t.Fatalf("changed %v, want %v", changed, want)
			}
			for agent, want := range inboxes {
				var got []string
				if m := memory[agent]; m != nil {
					for _, l := range m.Inbox {
						got = append(got, string(l.Body))
						if want := fmt.Sprintf("%d/%d/", l.Cycle, l.From); string(l.Body[:len(want)]) != want {
							t.Fatalf("the message %s has cycle %d and sender %d", l.Body, l.Cycle, l.From)
						}
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("cycle %d: the inbox of %d has %q, want %q", cycle, agent, got, want)
				}
			}
			if enginetest.ShowMemory(before) != was {
				t.Fatal("the memory before the barrier was changed")
			}
		}
	})
}

func TestInboxIsBounded(t *testing.T) {
	memory := map[int]*engine.Memory{}
	for i := range engine.MostLetters + 10 {
		memories.CommitSession(memories.Map(memory), 1, &engine.Delta{Said: []engine.Message{{To: []int{0}, Body: fmt.Append(nil, i)}}}, i)
	}
	if in := memory[0].Inbox; len(in) != engine.MostLetters || string(in[0].Body) != "10" {
		t.Errorf("%d letters, the oldest %s; want the newest %d", len(in), in[0].Body, engine.MostLetters)
	}
}
