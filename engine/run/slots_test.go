package run

import (
	"sync"
	"testing"
)

// TestSlotsAddAndRemove checks that each present slot is listed exactly once while others come and go, and that removed
// slots are not retained.
func TestSlotsAddAndRemove(t *testing.T) {
	var s slots
	stay := make([]slot, 300)
	var all sync.WaitGroup
	for i := range stay {
		all.Go(func() {
			for range 20 {
				var passing slot
				s.add(&passing)
				s.list()
				s.remove(&passing)
			}
			s.add(&stay[i])
		})
	}
	all.Wait()
	check := func(want map[*slot]bool) {
		t.Helper()
		seen := map[*slot]bool{}
		for _, b := range s.list() {
			if !want[b] || seen[b] {
				t.Error("a slot is listed twice, or after its removal")
			}
			seen[b] = true
		}
		if len(seen) != len(want) {
			t.Errorf("%d slots are listed, want %d", len(seen), len(want))
		}
		for _, b := range s.all[len(s.all):cap(s.all)] {
			if b != nil {
				t.Error("a removed slot is retained")
			}
		}
	}
	left := map[*slot]bool{}
	for i := range stay {
		left[&stay[i]] = true
	}
	check(left)
	for i := range stay {
		if i%3 > 0 {
			s.remove(&stay[i])
			delete(left, &stay[i])
		}
	}
	check(left)
}
