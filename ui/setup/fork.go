package setup

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Fork is a checkpoint of another run, at which a new run begins. The zero value is no fork.
type Fork struct {
	Run        engine.RunID
	Checkpoint int
	Renewed    bool // with the scenario file as it is now instead of the scenario stored with the run
}

// Forked is what is to be known of the place. Its parameters' defaults are those of the parent.
type Forked struct {
	Fork
	Cycle  int
	Origin string // the name of the scenario that the parent was made from, to begin anew with; "" is not known
}

// subject is what a run is set up from: a scenario or a fork. The zero value is nothing.
type subject struct {
	scenario string // a built-in scenario's name or a file's path; "" for a fork
	fork     Fork
}

func (x subject) isFork() bool { return x.fork != Fork{} }

// title is shown while the subject cannot be read.
func (x subject) title() string {
	if x.isFork() {
		return "Fork of " + string(x.fork.Run)
	}
	return x.scenario
}

// Fork sets up a new run that begins at a place in another, with all that this one had. What was set up of it before is
// forgotten.
func (s *Screen) Fork(f Fork) {
	x := subject{fork: f}
	delete(s.kept, x)
	delete(s.who, x)
	s.scenario = nil
	s.choose(x)
}

// leave sets the scenario up that a fork's parent was made from, for a run from the beginning.
func (s *Screen) leave() {
	if s.scenario == nil || s.scenario.Fork == nil {
		return
	}
	if s.scenario.Fork.Origin == "" {
		s.Choose()
		return
	}
	s.choose(subject{scenario: s.scenario.Fork.Origin})
}

// inherit lets those take part who did in the parent of a fork.
func (s *Screen) inherit(sc *Scenario) {
	if _, known := s.who[s.subject]; sc.Fork != nil && !known {
		s.who[s.subject] = who{strings.Join(sc.Settings.Agents, " "), sc.Settings.Filter}
	}
}

// sameOrder reports whether a fork would have the same otherwise than its parent; any other run has nothing.
func sameOrder(sc *Scenario, a, b *engine.Settings) bool {
	return sc == nil || sc.Fork == nil || reflect.DeepEqual(a, b)
}

// ahead are settings with only the cycles that a fork has still before it.
func (s *Screen) ahead(set engine.Settings) engine.Settings {
	if f := s.scenario.Fork; f != nil && set.Cycles > 0 {
		set.Cycles = max(set.Cycles-f.Cycle, 1)
	}
	return set
}

// longEnough finds out whether any cycle follows the place where a fork begins.
func (s *Screen) longEnough(set *engine.Settings) error {
	f := s.scenario.Fork
	if f == nil || set.Cycles == 0 || set.Cycles > f.Cycle {
		return nil
	}
	return &engine.FieldError{Field: "cycles", Problem: fmt.Sprintf("the fork begins at the start of cycle %d", f.Cycle), Hint: fmt.Sprintf("at least %d", f.Cycle+1)}
}

// forked says where a fork begins.
func forked(f *Forked) string {
	text := fmt.Sprintf("Fork of %s at the start of cycle %d (checkpoint %d). That run stays as it is.", f.Run, f.Cycle, f.Checkpoint)
	if f.Renewed {
		text += " The scenario is read from its file as it is now."
	}
	return text
}

// otherwise says what a fork has otherwise than its parent.
func otherwise(changed []string) string {
	if len(changed) == 0 {
		return "Nothing is changed yet: from there on it would give what its parent gives."
	}
	return "Changed: " + strings.ReplaceAll(strings.Join(changed, "; "), " → ", " to ") // after an arrow the font lacks a space
}
