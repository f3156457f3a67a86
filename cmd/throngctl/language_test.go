package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/storage/postgres/pgtest"
)

// example matches a file in the guide to the language: a code block with a name in its info string or first line.
var example = regexp.MustCompile("(?ms)^```(?:yaml\n# (\\S+)|csv (\\S+))\n(.*?)^```$")

// TestLanguageFaults checks that the guide has a valid example of every fault.
func TestLanguageFaults(t *testing.T) {
	guide := read(t, "..", "..", "assets", "scenarios", "README.md")
	_, _, stderr := ctl(t, "run", "shopping", "--mock-fault", "fire=1")
	kinds := regexp.MustCompile(`\(choose one of (.+)\)`).FindStringSubmatch(stderr)
	if kinds == nil {
		t.Fatal(stderr)
	}
	for kind := range strings.SplitSeq(kinds[1], ", ") {
		shown := regexp.MustCompile("`(" + kind + "=[^`]+)`").FindStringSubmatch(guide)
		if shown == nil {
			t.Errorf("the guide has no --mock-fault %s", kind)
			continue
		}
		if code, _, stderr := ctl(t, "validate", "shopping", "--mock-fault", shown[1]); code != exitDone {
			t.Errorf("--mock-fault %s: exit code %d, %s", shown[1], code, stderr)
		}
	}
}

// TestLanguageExamples runs every example in the guide to the scenario language, with a limit of one session and of many.
// The results must be exact, equal and not empty.
func TestLanguageExamples(t *testing.T) {
	guide := read(t, "..", "..", "assets", "scenarios", "README.md")
	folder := t.TempDir()
	var scenarios []string
	for _, m := range example.FindAllStringSubmatch(guide, -1) {
		name := m[1] + m[2]
		if err := os.WriteFile(filepath.Join(folder, name), []byte(m[3]), 0o600); err != nil {
			t.Fatal(err)
		}
		if m[1] != "" {
			scenarios = append(scenarios, name)
		}
	}
	if n := strings.Count(guide, "```yaml\n"); n != len(scenarios) || n < 15 {
		t.Fatalf("%d of %d examples have a name: %v", len(scenarios), n, scenarios)
	}
	for _, name := range scenarios {
		t.Run(name, func(t *testing.T) {
			if name == "visits.yaml" {
				t.Setenv("EXAMPLE_DB", visitsDatabase(t))
			}
			var first string
			for _, limit := range []string{"1", "50"} {
				out := t.TempDir()
				code, said, stderr := ctl(t, "run", filepath.Join(folder, name), "--data", t.TempDir(), "--mock-latency", "none",
					"--max-concurrent", limit, "--no-dashboard", "--export", out)
				if code != exitDone || !regexp.MustCompile(`(?m)^ *result +exact$`).MatchString(said) {
					t.Fatalf("exit code %d\n%s%s", code, said, stderr)
				}
				results := read(t, out, "sessions.csv") + read(t, out, "events.csv")
				if strings.Count(results, "\n") < 3 {
					t.Errorf("no results:\n%s", results)
				}
				if first == "" {
					first = results
				} else if name != "visits.yaml" && results != first { // the second run sees the rows of the first
					t.Errorf("with 50 in flight\n%s\nwith one\n%s", results, first)
				}
			}
		})
	}
}

// TestLanguageGuideHasEveryStep checks that the guide has a heading for every kind of step.
func TestLanguageGuideHasEveryStep(t *testing.T) {
	guide := read(t, "..", "..", "assets", "scenarios", "README.md")
	var headings []string
	for line := range strings.Lines(guide) {
		if names, ok := strings.CutPrefix(line, "### "); ok {
			headings = append(headings, strings.Split(strings.TrimSpace(names), ", ")...)
		}
	}
	kinds := chain.Kinds()
	slices.Sort(kinds)
	slices.Sort(headings)
	if !slices.Equal(kinds, headings) {
		t.Errorf("kinds %v, but headings %v", headings, kinds)
	}
}

// visitsDatabase returns the address of a database with the example's table.
func visitsDatabase(t *testing.T) string {
	t.Helper()
	address := pgtest.Shared(t).Database(t)
	conn := pgtest.Connect(t, address)
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), "create table visits (id uuid primary key, agent text, data jsonb)"); err != nil {
		t.Fatal(err)
	}
	return address
}
