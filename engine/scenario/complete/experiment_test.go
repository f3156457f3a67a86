package complete

import (
	"io/fs"
	"slices"
	"testing"

	"github.com/throng-sim/throng/assets"
)

// TestExperiments checks that the schema of experiments completes keys and values of their files, too.
func TestExperiments(t *testing.T) {
	text, err := fs.ReadFile(assets.Scenarios(), "experiment.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(text)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"title: x\nrep|":                                 "replicates",
		"scenario: x\ndesign: {|}":                       "halton",
		"scenario: x\ndesign:\n  |":                      "sobol",
		"scenario: x\ndesign: |":                         "one-at-a-time",
		"scenario: x\nreplicates: {un|}":                 "until",
		"scenario: x\nreplicates: {until: {|}}":          "half_width",
		"scenario: x\nvary:\n  params.x: {fr|}":          "from",
		"scenario: x\nvary:\n  service.a.model:\n    l|": "levels",
		"scenario: x\nbudget: {|}":                       "usd",
	} {
		if got := labels(l.Complete(at(text, true))); !slices.Contains(got, want) {
			t.Errorf("%q: got %q, want %s", text, got, want)
		}
	}
}
