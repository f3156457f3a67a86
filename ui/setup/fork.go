package setup

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// Fork is a place in another run, where a new one is to begin.
type Fork struct {
	Run        engine.RunID
	Checkpoint int
	Renewed    bool // with the scenario's file as it is now, not as it is kept with the run
}

// Forked is what is to be known of the place. Its parameters' defaults are those of the parent.
type Forked struct {
	Fork
	Cycle  int
	Origin string // the name of the scenario that the parent was made from, to begin anew with; "" is not known
}

const (
	forkOf    = "fork:"
	forkOfNow = "fork now:"
)

// Name is what stands for the fork in the place of a scenario's name.
func (f Fork) Name() string {
	begin := forkOf
	if f.Renewed {
		begin = forkOfNow
	}
	return fmt.Sprintf("%s%s#%d", begin, f.Run, f.Checkpoint)
}

// ParseFork reads the name of a fork; false if it is that of a scenario.
func ParseFork(name string) (f Fork, ok bool) {
	rest, ok := strings.CutPrefix(name, forkOf)
	if !ok {
		rest, ok = strings.CutPrefix(name, forkOfNow)
		f.Renewed = ok
	}
	run, number, _ := strings.Cut(rest, "#")
	n, err := strconv.Atoi(number)
	if !ok || err != nil {
		return Fork{}, false
	}
	f.Run, f.Checkpoint = engine.RunID(run), n
	return f, true
}

// Fork sets up a new run that begins at a place in another, with all that this one had. What was set up of it before is
// forgotten.
func (s *Screen) Fork(f Fork) {
	name := f.Name()
	delete(s.kept, name)
	delete(s.who, name)
	s.scenario = nil
	s.choose(name)
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
	s.choose(s.scenario.Fork.Origin)
}

// inherit lets those take part who did in the parent of a fork.
func (s *Screen) inherit(sc *Scenario) {
	if _, known := s.who[s.name]; sc.Fork != nil && !known {
		s.who[s.name] = who{strings.Join(sc.Settings.Agents, " "), sc.Settings.Filter}
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
