package storetest

import (
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
)

// testIdentity checks that runs are found by what decides their results.
func testIdentity(t *testing.T, open Open) {
	f := newFixture(t, open, record("r")) // belongs to no experiment
	for _, r := range []struct {
		id                   engine.RunID
		experiment, identity string
	}{{"a", "prices", "one"}, {"b", "prices", "two"}, {"c", "again", "one"}} {
		made := record(r.id)
		made.Membership = engine.Membership{Experiment: r.experiment, Identity: r.identity}
		must(t, f.Create(t.Context(), made))
	}
	f.reopen()
	for _, want := range []struct {
		identities []string
		runs       string
	}{{[]string{"one"}, "ca"}, {[]string{"two", "three"}, "b"}, {[]string{""}, ""}, {nil, ""}, {[]string{"one", "two"}, "cba"}} {
		all, err := f.Identical(t.Context(), want.identities)
		must(t, err)
		var found []string
		for _, r := range all {
			found = append(found, string(r.ID))
			if r.Experiment == "" || r.Identity == "" {
				t.Errorf("run %s lost its experiment: %+v", r.ID, r.Membership)
			}
		}
		if got := strings.Join(found, ""); got != want.runs {
			t.Errorf("runs with %q are %q, want %q", want.identities, got, want.runs)
		}
	}
	must(t, f.Trash(t.Context(), "c"))
	if all, err := f.Identical(t.Context(), []string{"one"}); err != nil || len(all) != 1 || all[0].ID != "a" {
		t.Errorf("with one in the trash: %+v, %v", all, err)
	}
}
