package authoring

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/secrets"
	"github.com/throng-sim/throng/engine/scenario"
)

const counted = `
parameters:
  n: {default: 3}
  word: {secret: true}
functions: functions.star
population: {count: "${params.n}", attributes: {group: "${group(agent.index)}"}}
services:
  shop: {kind: http, url: "http://127.0.0.1:1", headers: {X-Word: "${secret:word}"}}
chain c: {step a: {kind: emit, event: one}}
`

// folder makes a scenario with an included file, and returns its path and a function that replaces text in a file without
// changing its size or its time.
func folder(t *testing.T) (path string, replace func(file, old, with string)) {
	t.Helper()
	dir := t.TempDir()
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(dir, file)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write("s.yaml", counted)
	write("functions.star", "def group(i):\n    return 'a'\n")
	return filepath.Join(dir, "s.yaml"), func(file, old, with string) {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || len(old) != len(with) || !strings.Contains(string(text), old) {
			t.Fatalf("cannot replace %q: %v", old, err)
		}
		write(file, strings.Replace(string(text), old, with, 1))
	}
}

// parses returns how many scenarios f parses.
func parses(f func()) int64 {
	before := Parses()
	f()
	return Parses() - before
}

func load(t *testing.T, path string, given map[string]string) *scenario.Scenario {
	t.Helper()
	s, err := Load(path, given)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAnUnchangedFileIsParsedOnce reads a scenario in several ways, and again after changes to its files that their size
// and time do not show.
func TestAnUnchangedFileIsParsedOnce(t *testing.T) {
	path, replace := folder(t)
	var first, second *scenario.Scenario
	for _, c := range []struct {
		name string
		want int64
		do   func()
	}{
		{"first", 1, func() { first = load(t, path, nil) }},
		{"again", 0, func() { second = load(t, path, map[string]string{}) }},
		{"in the editor", 0, func() {
			e := &Edit{Name: path}
			if _, err := e.Load(scenario.Extras{}); err != nil || fmt.Sprint(e.Files()) != "[s.yaml functions.star]" {
				t.Errorf("files %v, %v", e.Files(), err)
			}
		}},
		{"edited", 1, func() {
			e := &Edit{Name: path, Texts: map[string][]byte{"functions.star": []byte("def group(i):\n    return 'b'\n")}}
			if _, err := e.Load(scenario.Extras{}); err != nil {
				t.Error(err)
			}
		}},
		{"saved after an edit", 0, func() { load(t, path, nil) }},
		{"with a parameter", 1, func() {
			if s := load(t, path, map[string]string{"n": "4"}); s.Agents != 4 {
				t.Errorf("%d agents, want 4", s.Agents)
			}
		}},
		{"the file changed", 1, func() {
			replace("s.yaml", "default: 3", "default: 5")
			if s := load(t, path, nil); s.Agents != 5 {
				t.Errorf("%d agents, want 5", s.Agents)
			}
		}},
		{"an included file changed", 1, func() {
			replace("functions.star", "'a'", "'c'")
			if s := load(t, path, nil); !strings.Contains(string(s.Source.Files["functions.star"]), "'c'") {
				t.Error("the old functions are in the source")
			}
		}},
		{"a mistake", 2, func() {
			replace("s.yaml", "kind: emit", "kind: omit")
			for range 2 {
				if _, err := Load(path, nil); err == nil {
					t.Error("an unknown kind was accepted")
				}
			}
		}},
	} {
		if got := parses(c.do); got != c.want {
			t.Errorf("%s: parsed %d times, want %d", c.name, got, c.want)
		}
	}
	if first.Chain != second.Chain || first.Services[0] == second.Services[0] {
		t.Error("two launches must share the chain, and have services of their own")
	}
	second.Source.Files["more"] = nil
	if _, found := first.Source.Files["more"]; found {
		t.Error("two launches share their source")
	}
}

// TestSecretsOfACachedScenario checks that each launch gets the secret that was given last.
func TestSecretsOfACachedScenario(t *testing.T) {
	path, _ := folder(t)
	for _, word := range []string{"first-secret", "other-secret", "first-secret"} {
		if s := load(t, path, map[string]string{"word": word}); s.Secrets[0].Given != "" {
			t.Errorf("the scenario keeps the secret %s", word)
		}
		if value, _, err := (secrets.Finder{}).Find("x", "word"); err != nil || value != word {
			t.Errorf("found %q, %v, want %s", value, err, word)
		}
	}
}

// TestConcurrentReadersParseOnce reads a new scenario from several goroutines.
func TestConcurrentReadersParseOnce(t *testing.T) {
	path, _ := folder(t)
	n := parses(func() {
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				if _, err := Load(path, nil); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	})
	if n != 1 {
		t.Errorf("parsed %d times", n)
	}
}

// TestCacheLimits checks that old and large entries leave the cache, and that the newest one stays.
func TestCacheLimits(t *testing.T) {
	large := &entry{files: []opened{{size: maxCachedBytes - 10}}}
	var c cache
	c.keep(large)
	for range 10 {
		c.keep(&entry{files: []opened{{size: 1}}})
	}
	if len(c.entries) != 11 {
		t.Errorf("%d entries, want 11", len(c.entries))
	}
	c.keep(&entry{files: []opened{{size: 1}}})
	if len(c.entries) != 11 || c.entries[0] == large {
		t.Errorf("%d entries, the large one first: %v", len(c.entries), c.entries[0] == large)
	}
	for range 2 * maxCached {
		c.keep(&entry{})
	}
	if len(c.entries) != maxCached {
		t.Errorf("%d entries, want %d", len(c.entries), maxCached)
	}
	c.keep(large)
	c.keep(&entry{files: []opened{{size: 2 * maxCachedBytes}}})
	if len(c.entries) != 1 {
		t.Errorf("%d entries, want only the newest", len(c.entries))
	}
}

// TestPeopleAreParsedAgain checks that a scenario whose agents are drawn from a file is parsed again when the file changes, and
// that the file is copied with an edited scenario, with the edited text of it if there is one.
func TestPeopleAreParsedAgain(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("s.yaml", "population: {from: people.csv, columns: {id: name}}\nchain c: {step a: {kind: emit, event: one}}\n")
	write("people.csv", "name\nann\n")
	path := filepath.Join(dir, "s.yaml")
	first := func(s *scenario.Scenario) string {
		t.Helper()
		id, err := s.Program(1).AgentID(0)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	if n := parses(func() { load(t, path, nil); load(t, path, nil) }); n != 1 {
		t.Errorf("parsed %d times", n)
	}
	write("people.csv", "name\nbarbara\n")
	if got := first(load(t, path, nil)); got != "barbara" {
		t.Errorf("the first agent is %s", got)
	}
	e := &Edit{Name: path}
	s, err := e.Load(scenario.Extras{})
	if err != nil || first(s) != "barbara" || !slices.Contains(e.Files(), "people.csv") {
		t.Errorf("%v, files %v", err, e.Files())
	}
	to := t.TempDir()
	if existing, err := e.Copy(filepath.Join(to, "t.yaml"), false); err != nil || len(existing) > 0 {
		t.Fatal(existing, err)
	}
	if text, err := os.ReadFile(filepath.Join(to, "people.csv")); err != nil || string(text) != "name\nbarbara\n" {
		t.Errorf("copied: %q, %v", text, err)
	}
	if existing, err := e.Copy(filepath.Join(to, "u.yaml"), false); err != nil || !slices.Equal(existing, []string{"people.csv"}) {
		t.Errorf("copied over %v, %v", existing, err)
	}
	e = &Edit{Name: path, Texts: map[string][]byte{"people.csv": []byte("name\ncay\n")}}
	if s, err := e.Load(scenario.Extras{}); err != nil || first(s) != "cay" {
		t.Errorf("as edited: %v", err)
	}
}
