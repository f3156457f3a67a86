package desk

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/authoring"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/calibrate"
	"github.com/throng-sim/throng/ui/editor"
	"github.com/throng-sim/throng/ui/setup"
)

const visits = `
title: Visits
parameters: {agents: 3}
population: {count: "${params.agents}"}
clock: {cycle: 1h, cycles: 2}
services:
  shop: {kind: http, url: "mock:shop"}
chain visit:
  step look: {kind: http, service: shop, get: /api/stores}
`

// TestAScenarioIsParsedOnce uses a file in all screens. It must be parsed once, and again after a change that keeps its
// size and modification time.
func TestAScenarioIsParsedOnce(t *testing.T) {
	d := open(t, t.TempDir())
	file := filepath.Join(t.TempDir(), "visits.yaml")
	at := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, at, at); err != nil {
			t.Fatal(err)
		}
	}
	s := setupDesk{d}
	useEverywhere := func(agents int) {
		t.Helper()
		form, err := s.Scenario(t.Context(), file, nil)
		if err != nil || form.Agents != agents {
			t.Fatalf("form %+v, %v, want %d agents", form, err, agents)
		}
		o := setup.Order{Scenario: file, Settings: form.Settings}
		if n, err := s.Choose(t.Context(), o); err != nil || n != agents {
			t.Errorf("%d active agents, %v", n, err)
		}
		if _, err := s.Unallowed(t.Context(), o); err != nil {
			t.Error(err)
		}
		checks, err := s.Preflight(t.Context(), o, true, func([]engine.Check) {}) // with the forecast
		if err != nil || len(checks) == 0 {
			t.Errorf("checks %+v, %v", checks, err)
		}
		if found, err := (editorDesk{d}).Check(t.Context(), editor.Order{Name: file}); err != nil || found.Agents != agents {
			t.Errorf("editor %+v, %v", found, err)
		}
		if tried, err := (editorDesk{d}).Try(t.Context(), editor.Trial{Order: editor.Order{Name: file}}); err != nil || tried.Error != "" {
			t.Errorf("trial %+v, %v", tried, err)
		}
		if _, err := (calibrateDesk{d}).prepare(t.Context(), calibrate.Order{Scenario: file, Levels: []int{1}, Repeats: 1, Duration: time.Second}); err != nil {
			t.Error(err)
		}
		if _, err := s.Choices(t.Context()); err != nil { // with the title of the recent file
			t.Error(err)
		}
		if err := s.Launch(t.Context(), o, nil); err != nil {
			t.Fatal(err)
		}
		<-d.Settled()
		if end := (liveDesk{d}).Job().Snapshot(); end.Ending != engine.EndFinished || end.Ended != int64(2*agents) {
			t.Errorf("%s with %d sessions", end.Ending, end.Ended)
		}
	}
	if _, err := s.Choices(t.Context()); err != nil { // parses the built-in scenarios
		t.Fatal(err)
	}
	for _, c := range []struct {
		agents string
		parses int64
	}{{"3", 1}, {"3", 0}, {"5", 1}} {
		write(strings.Replace(visits, "agents: 3", "agents: "+c.agents, 1))
		before := authoring.Parses()
		agents, err := strconv.Atoi(c.agents)
		if err != nil {
			t.Fatal(err)
		}
		useEverywhere(agents)
		if got := authoring.Parses() - before; got != c.parses {
			t.Errorf("with %d agents, the file was parsed %d times, want %d", agents, got, c.parses)
		}
	}
}
