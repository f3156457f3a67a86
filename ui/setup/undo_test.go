package setup

import (
	"testing"

	"github.com/throng-sim/throng/engine/view"
)

// TestChangesOfTheFormAreUndone undoes changes of all kinds of fields, in turn, and repeats them.
func TestChangesOfTheFormAreUndone(t *testing.T) {
	s := shown(t, &fakeDesk{})
	e := &s.screen.edits
	if e.undo(); s.entry("Shoppers").Text != "372" {
		t.Error("there was nothing to undo")
	}
	limit, eagerness := s.entry("Starting limit").Text, s.entry("Eagerness").Text
	s.entry("Eagerness").SetText("2")
	s.entry("Eagerness").SetText("2.5") // typed in one go
	pass(e)
	s.screen.Apply(7) // several fields together
	pass(e)
	s.screen.concurrency.mode.SetSelected(view.Manual)
	state := func() [3]string {
		return [3]string{s.entry("Eagerness").Text, s.screen.concurrency.start.Text, s.screen.concurrency.mode.Selected()}
	}
	want := [][3]string{{"2.5", "7", view.Manual}, {"2.5", "7", view.Automatic}, {"2.5", limit, view.Automatic}, {eagerness, limit, view.Automatic}}
	for i := range want {
		if i > 0 {
			e.undo()
		}
		if got := state(); got != want[i] {
			t.Errorf("after %d times undo the form has %v, want %v", i, got, want[i])
		}
	}
	if len(e.past) != 0 {
		t.Errorf("%d more changes can be undone", len(e.past))
	}
	for i := len(want) - 2; i >= 0; i-- {
		if e.redo(); state() != want[i] {
			t.Errorf("redo gave %v, want %v", state(), want[i])
		}
	}
	e.undo()
	s.entry("Eagerness").SetText("3")
	if e.redo(); s.entry("Eagerness").Text != "3" || len(e.future) != 0 {
		t.Error("what was undone can be repeated after another change")
	}
	if o, ok := s.screen.Order(); !ok || o.Given["eagerness"] != "3" {
		t.Errorf("the order has %v", o.Given)
	}
}

// TestUndoKeepsToItsScenario checks that another scenario begins without changes, and that proposals are not changes.
func TestUndoKeepsToItsScenario(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.typed("Shoppers", "600")
	s.until("600 shoppers") // read again, with new proposals
	e := &s.screen.edits
	if n := len(e.past); n != 1 {
		t.Errorf("%d changes, want the one that was typed", n)
	}
	s.pick("A small world")
	s.until("Title of world")
	if len(e.past) != 0 {
		t.Error("changes of another scenario can be undone")
	}
}

// pass lets time pass between two gestures.
func pass(e *edits) { e.at = e.at.Add(-oneEdit) }

// TestALimitSetByHandStays checks that a fork of a run whose limit a person had set has the parent's settings.
func TestALimitSetByHandStays(t *testing.T) {
	s := shown(t, &fakeDesk{})
	c, set := s.screen.concurrency, s.screen.scenario.Settings
	set.Limit, set.Manual = 2*set.Ceiling, true
	sc := *s.screen.scenario
	sc.Settings = set
	c.fill(&sc, true)
	got := set
	if err := c.into(&got); err != nil || got.Concurrency != set.Concurrency || got.Steering != set.Steering {
		t.Errorf("the form has %+v %+v, want %+v %+v: %v", got.Concurrency, got.Steering, set.Concurrency, set.Steering, err)
	}
	c.mode.SetSelected(view.Automatic)
	if err := c.into(&got); err == nil {
		t.Error("a limit above the highest is not a mistake in automatic mode")
	}
}
