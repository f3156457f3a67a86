package setup

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Fork is a checkpoint of another run at which a new run starts. The zero value is not a fork.
type Fork struct {
	Run        engine.RunID
	Checkpoint int
	Renewed    bool // use the current scenario file instead of the one stored with the run
}

// Forked describes the fork's parent. The defaults of its parameters are the values of the parent.
type Forked struct {
	Fork
	Cycle  int
	Origin string // name of the parent's scenario, for a run from the start; "" if unknown
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

// Fork sets up a fork with the settings of its parent. It resets an earlier setup of this fork.
func (s *Screen) Fork(f Fork) {
	x := subject{fork: f}
	if !s.subject.isFork() {
		s.before = s.subject
	}
	s.forget(x)
	s.scenario = nil
	s.choose(x)
}

// forget forgets what was typed for a fork.
func (s *Screen) forget(x subject) {
	delete(s.kept, x)
	delete(s.chosen, x)
	delete(s.written, x)
}

// abandon ends the setup of a fork, after its launch or without one, and returns to the scenario that was shown before.
func (s *Screen) abandon() {
	if !s.subject.isFork() {
		return
	}
	s.forget(s.subject)
	x := s.before
	if x == (subject{}) {
		x.scenario = remembered().Scenario
	}
	if x.scenario == "" && s.scenario != nil && s.scenario.Fork != nil {
		x.scenario = s.scenario.Fork.Origin
	}
	if x != (subject{}) {
		s.choose(x)
	}
}

// untouched reports whether the user changed nothing of a fork.
func (s *Screen) untouched() bool {
	if s.scenario == nil || s.shown != s.subject {
		return true
	}
	kept := s.chosen[s.subject]
	return len(s.kept[s.subject]) == 0 && len(s.typed()) == 0 && s.agentsPanel.typed() == kept
}

// leave sets up the scenario of a fork's parent, for a run from the start.
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

// inherit selects the agents that were active in the parent of a fork.
func (s *Screen) inherit(sc *Scenario) {
	if _, known := s.chosen[s.subject]; sc.Fork != nil && !known {
		s.chosen[s.subject] = selection{strings.Join(sc.Settings.Agents, " "), sc.Settings.Filter}
	}
}

// sameOrder reports whether a fork would have the same settings as its parent. Other runs have none to compare.
func sameOrder(sc *Scenario, a, b *engine.Settings) bool {
	return sc == nil || sc.Fork == nil || reflect.DeepEqual(a, b)
}

// ahead returns the settings with the remaining cycles of a fork.
func (s *Screen) ahead(set engine.Settings) engine.Settings {
	if f := s.scenario.Fork; f != nil && set.Cycles > 0 {
		set.Cycles = max(set.Cycles-f.Cycle, 1)
	}
	return set
}

// longEnough returns an error if no cycle remains after the checkpoint of a fork.
func (s *Screen) longEnough(set *engine.Settings) error {
	f := s.scenario.Fork
	if f == nil || set.Cycles == 0 || set.Cycles > f.Cycle {
		return nil
	}
	return &engine.FieldError{Field: "cycles", Problem: fmt.Sprintf("the fork starts at cycle %d", f.Cycle), Hint: fmt.Sprintf("at least %d", f.Cycle+1)}
}

// forked describes where a fork starts.
func forked(f *Forked) string {
	text := fmt.Sprintf("Fork of %s at the start of cycle %d (checkpoint %d). The parent run is not changed.", f.Run, f.Cycle, f.Checkpoint)
	if f.Renewed {
		text += " Uses the current scenario file."
	}
	return text
}

// otherwise describes the differences between a fork and its parent.
func otherwise(changed []string) string {
	if len(changed) == 0 {
		return "No changes yet: the fork would repeat its parent."
	}
	return "Changed: " + strings.ReplaceAll(strings.Join(changed, "; "), " → ", " to ") // the font has no space after an arrow
}
