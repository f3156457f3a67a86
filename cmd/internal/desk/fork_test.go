package desk

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/runs"
	"github.com/throng-sim/throng/ui/setup"
)

// walk is a scenario whose agents use memory.
const walk = `title: Walk
parameters: {count: 5, pause: 0.0}
clock: {cycle: 1h, cycles: 4}
population: {count: "${params.count}", id: "walker-${agent.index}"}
services:
  shop: {kind: http, url: "mock:shop"}
chain walk:
  step look: {kind: http, service: shop, get: /api/products/search, query: {query: Produce}}
  step rest: {kind: wait, for: "${params.pause}"}
  step remember: {kind: remember, set: {walks: "${get(agent.memory, 'walks', 0) + 1}"}}
`

// TestForkAndChangedScenario launches a fork from Setup, and resumes a run whose scenario has changed.
func TestForkAndChangedScenario(t *testing.T) {
	d := open(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "walk.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(walk)
	launch := func(name string, from setup.Fork, given map[string]string, change func(*engine.Settings)) *setup.Scenario {
		t.Helper()
		s, err := setupDesk{d}.Scenario(t.Context(), name, given)
		if from.Run != "" {
			s, err = setupDesk{d}.ForkFrom(t.Context(), from, given)
		}
		if err != nil {
			t.Fatal(err)
		}
		o := setup.Order{Scenario: name, Fork: from, Given: given, Settings: s.Settings}
		o.Settings.Mock.Profile = "none"
		if change != nil {
			change(&o.Settings)
		}
		if s.Fork != nil {
			look, err := setupDesk{d}.Requirements(t.Context(), o)
			if want := []string{"parameter count 5 → 6", "seed 1 → 4"}; err != nil || strings.Join(look.Changed, ";") != strings.Join(want, ";") || len(look.Lost) != 1 {
				t.Errorf("the requirements is %+v, %v, want %q", look, err, want)
			}
		}
		if err := (setupDesk{d}).Launch(t.Context(), o, nil); err != nil {
			t.Fatal(err)
		}
		<-d.Settled()
		return s
	}
	launch(path, setup.Fork{}, map[string]string{"pause": "0.02"}, func(s *engine.Settings) { s.CheckpointEvery, s.KeepCheckpoints, s.Budget.Requests = 1e6, 1000, 8 })
	parent, err := d.store.Newest(t.Context())
	if err != nil || parent.Ending != engine.EndOutOfBudget {
		t.Fatalf("the run is %+v, %v", parent, err)
	}
	points, err := runsDesk{d}.Checkpoints(t.Context(), parent.ID)
	if err != nil || len(points) == 0 {
		t.Fatalf("checkpoints %+v, %v", points, err)
	}
	s := launch("", setup.Fork{Run: parent.ID, Checkpoint: points[0].Number}, map[string]string{"count": "6"}, func(s *engine.Settings) { s.Seed, s.Budget.Requests = 4, 8 })
	if s.Title != "Walk" || s.Agents != 6 || s.Parameters[0].Default != "5" || s.Parameters[1].Default != "0.02" || s.Fork.Cycle != points[0].Cycle || s.Fork.Origin != path {
		t.Errorf("the form starts with %+v, %+v", s, s.Fork)
	}
	fork, err := d.store.Newest(t.Context())
	if err != nil || fork.Parent != parent.ID || fork.ForkCycle != points[0].Cycle || fork.Settings.Seed != 4 {
		t.Errorf("the fork is %+v, %v", fork, err)
	}

	write(strings.Replace(walk, "+ 1}", "+ 2}", 1))
	_, err = runsDesk{d}.Resume(t.Context(), parent.ID, runs.Resumption{Bound: "40"})
	changed, ok := errors.AsType[*runs.Changed](err)
	if !ok || !changed.Readable || changed.Checkpoint != points[0].Number || !strings.Contains(changed.What, "walk.yaml:10: chain walk, step remember") {
		t.Errorf("resumed with a changed scenario: %v", err)
	}
	s, err = setupDesk{d}.ForkFrom(t.Context(), setup.Fork{Run: parent.ID, Checkpoint: points[0].Number, Renewed: true}, nil)
	if err != nil || !s.Fork.Renewed {
		t.Errorf("with the current file: got %+v, %v", s, err)
	}
	if _, err := (runsDesk{d}).Resume(t.Context(), parent.ID, runs.Resumption{Bound: "40", AsItWas: true}); err != nil {
		t.Error(err)
	}
	<-d.Settled()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if note, err := (runsDesk{d}).Resume(t.Context(), fork.ID, runs.Resumption{Bound: "400"}); err != nil || !strings.Contains(note, "no longer exists") {
		t.Errorf("with a missing file: got %q, %v", note, err)
	}
	<-d.Settled()
	resumeFrom(t, d, parent.ID)
	if _, err := (setupDesk{d}).ForkFrom(t.Context(), setup.Fork{Run: parent.ID, Checkpoint: 9999}, nil); err == nil {
		t.Error("there is a checkpoint 9999")
	}
}

// resumeFrom continues a run from its oldest checkpoint, and checks that the run stays as it is.
func resumeFrom(t *testing.T, d *Desk, run engine.RunID) {
	t.Helper()
	screen := runsDesk{d}
	if err := errors.Join(screen.Rename(t.Context(), run, "Walkers"), screen.Star(t.Context(), run, true), screen.Tag(t.Context(), run, []string{"b2b"}, nil)); err != nil {
		t.Fatal(err)
	}
	points, err := screen.Checkpoints(t.Context(), run)
	if err != nil || len(points) < 2 {
		t.Fatalf("checkpoints %+v, %v", points, err)
	}
	parent, err := d.store.Run(t.Context(), run)
	if err != nil || parent.Name != "Walkers" || !parent.Star || len(parent.Tags) != 1 {
		t.Fatalf("the run is %+v, %v", parent.Marks, err)
	}
	oldest := points[len(points)-1]
	if _, err := screen.ResumeFrom(t.Context(), run, oldest.Number, runs.Resumption{Limit: 3}); err != nil {
		t.Fatal(err)
	}
	<-d.Settled()
	fork, err := d.store.Newest(t.Context())
	if err != nil || fork.Parent != run || fork.ForkCycle != oldest.Cycle || fork.Name != "Walkers" || fork.Settings.Limit != 3 || fork.Settings.Seed != parent.Settings.Seed ||
		!maps.Equal(fork.Source.Parameters, parent.Source.Parameters) || fork.Source.Baseline.Parameters["count"] == "" {
		t.Errorf("the fork is %+v, %v", fork, err)
	}
	if fork.Kept != parent.Kept+oldest.Kept || !fork.ForkedAt.Equal(oldest.At) || oldest.Cycle > 0 && oldest.Kept == 0 {
		t.Errorf("the fork took over %d sessions at %s, want %d at %s", fork.Kept, fork.ForkedAt, oldest.Kept, oldest.At)
	}
	if job := d.Job(); job == nil || job.Title != "Walkers" || job.Origin != view.Origin(&fork, "Walkers") {
		t.Errorf("Live shows %+v", job)
	}
	after, err := d.store.Run(t.Context(), run)
	if err != nil || !reflect.DeepEqual(after, parent) {
		t.Errorf("the run is now\n%+v, %v, want\n%+v", after, err, parent)
	}
	if sizes, err := screen.Sizes(t.Context()); err != nil || sizes[run] <= 0 || sizes[fork.ID] <= 0 {
		t.Errorf("the sizes are %v, %v", sizes, err)
	}
}
