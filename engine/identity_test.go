package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// TestSessionIDs checks that an ID at services belongs to one session of one run, and that only that run recognizes
// it. It also pins both kinds of IDs.
func TestSessionIDs(t *testing.T) {
	if got, want := SeedUUID(7, 3, 41), "69544eca-d95f-888d-96a3-8de6c9a91a9b"; got != want {
		t.Errorf("SeedUUID(7, 3, 41) = %s, want %s", got, want)
	}
	seen := map[string]bool{}
	for _, run := range []RunID{"20261124-100000-aaaa", "20261124-100000-aaab"} {
		for cycle := range 30 {
			for agent := range 30 {
				text := SessionUUID(run, cycle, agent*1_000_003)
				seen[text] = true
				id, err := uuid.Parse(text)
				if err != nil || id.Version() != 8 || id.Variant() != uuid.RFC4122 {
					t.Fatalf("%s: version %d, variant %v, %v", text, id.Version(), id.Variant(), err)
				}
				if c, a, ok := placeOf(run, id); !ok || c != cycle || a != agent*1_000_003 {
					t.Fatalf("%s is of cycle %d, agent %d: %d, %d, %t", text, cycle, agent, c, a, ok)
				}
				if _, _, ok := placeOf(run+"x", id); ok {
					t.Errorf("another run takes %s for its own", text)
				}
			}
		}
	}
	if len(seen) != 1800 {
		t.Errorf("%d of 1800 sessions have an id of their own", len(seen))
	}
	if id := uuid.MustParse(SeedUUID(7, 3, 41)); id.Version() != 8 || id.Variant() != uuid.RFC4122 {
		t.Errorf("%s is not a UUID of version 8", id)
	}
}

// TestSettleIDs checks that two runs with one seed, and a fork of one, write the same text to results.
func TestSettleIDs(t *testing.T) {
	stranger := SessionUUID("elsewhere", 1, 5)
	text := func(own RunID) string {
		id := SessionUUID(own, 1, 5)
		return fmt.Sprintf(`{"id":"%s","plain":"%s","path":"/s/%s/x","other":"%s","theirs":"%s","short":"%s"}`, id, strings.ReplaceAll(id, "-", ""),
			strings.ToUpper(id), SessionUUID(own, 0, 2), stranger, "8888-8888")
	}
	settle := func(text string, run RunID, lineage ...RunID) string {
		return string(HostRun{ID: run, Lineage: lineage}.SettleIDs([]byte(text), 7))
	}
	first, second, fork := settle(text("one"), "one"), settle(text("two"), "two"), settle(text("two"), "fork", "two", "older")
	if first != second || first != fork {
		t.Errorf("got\n%s\n%s\n%s", first, second, fork)
	}
	for _, want := range []string{SeedUUID(7, 1, 5), SeedUUID(7, 0, 2), strings.ReplaceAll(SeedUUID(7, 1, 5), "-", ""), stranger, "8888-8888"} {
		if !strings.Contains(first, want) {
			t.Errorf("%s is not in %s", want, first)
		}
	}
}
