package setup

import (
	"errors"
	"slices"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/ui/uitest"
)

func TestActiveAgentsAreCounted(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.until("active: all 372 shoppers")
	s.typed("Filter", "agent.impulsivity > 0.8")
	if !s.shows("Counting") {
		t.Error("the count in progress is not shown")
	}
	s.until("active: 186 of 372 shoppers")
	if want := "186 of 372 shoppers, 24 cycles, up to 100 concurrently, 4,464 sessions"; !s.shows(want) {
		t.Errorf("the bar shows %q, want %q", uitest.Texts(s.screen.bar.panel), want)
	}
	if !s.shows("50 of 186 shoppers concurrently") {
		t.Errorf("the concurrency shows %q", uitest.Texts(s.screen.concurrency.panel))
	}
	s.typed("Filter", "")
	s.typed("Agents", " shopper-1, shopper-3  shopper-7 ")
	s.until("active: 3 of 372 shoppers")
	s.typed("Random seed", "7") // the active agents may depend on it
	s.Until("counted again", func() bool { return s.desk.last(&s.desk.counted).Settings.Seed == 7 })

	s.tap("Launch")
	s.Until("launched", func() bool { return s.launched == 1 })
	got := s.desk.last(&s.desk.launched).Settings
	if want := []string{"shopper-1", "shopper-3", "shopper-7"}; !slices.Equal(got.Agents, want) || got.Filter != "" {
		t.Errorf("launched with %q and %q", got.Agents, got.Filter)
	}
}

func TestFilterMistakesStandBesideTheField(t *testing.T) {
	s := shown(t, &fakeDesk{})
	for _, c := range []struct{ row, text, problem string }{
		{"Filter", "agnet.x", "1:1: agnet is not defined (did you mean agent?)"},
		{"Agents", "noPreset", "noPreset is called noPreset"},
	} {
		s.typed(c.row, c.text)
		s.until(c.problem)
		if got := s.row(c.row).Problem(); got != c.problem {
			t.Errorf("next to %s: %q", c.row, got)
		}
		if !s.shows("1 mistake: " + c.row) {
			t.Errorf("%s: the mistake is not counted", c.row)
		}
		s.typed(c.row, "")
		s.until("active: all 372")
		if s.shows("mistake") {
			t.Errorf("%s: the mistake stays", c.row)
		}
	}
	s.typed("Filter", "broken")
	s.until("Cannot count the active agents: the file is gone")
}

// TestACountLeavesWhatALaunchGave checks that a count that arrives after a refused launch does not replace the reason.
func TestACountLeavesWhatALaunchGave(t *testing.T) {
	slow := make(chan struct{})
	desk := &fakeDesk{wait: map[string]chan struct{}{"count slow": slow}, refusal: errors.Join(
		&engine.FieldError{Field: "service shop", Problem: "refuses the connection"}, errors.New("a run is in progress"),
	)}
	s := shown(t, desk)
	s.until("active: all 372")
	s.typed("Filter", "slow")
	s.Until("counting", func() bool { return s.desk.last(&s.desk.counted).Settings.Filter == "slow" })
	s.tap("Launch")
	s.until("Not launched: a run is in progress")
	close(slow)
	s.until("active: 186 of 372")
	if !s.shows("Not launched: a run is in progress") || s.row("shop").Problem() != "refuses the connection" {
		t.Errorf("the screen shows %q", uitest.Texts(s.screen.Content()))
	}
}

// TestACountForAScenarioThatIsGone checks that the count for the previous scenario is dropped if the next one cannot be
// read.
func TestACountForAScenarioThatIsGone(t *testing.T) {
	slow := make(chan struct{})
	desk := &fakeDesk{wait: map[string]chan struct{}{"count slow": slow}, broken: map[string]error{"world": errors.New("no chain")}}
	s := shown(t, desk)
	s.until("active: all 372")
	s.typed("Filter", "slow")
	s.Until("counting", func() bool { return s.desk.last(&s.desk.counted).Settings.Filter == "slow" })
	s.pick("A small world")
	s.until("no chain")
	close(slow)
	before := s.desk.count(&s.desk.counted)
	s.pick("Marketplace shoppers")
	s.until("active: ")
	if s.desk.count(&s.desk.counted) == before {
		t.Error("active agents were not counted again")
	}
}

// TestOnlyTheLastCountIsShown checks that a late count for an earlier filter is dropped.
func TestOnlyTheLastCountIsShown(t *testing.T) {
	slow := make(chan struct{})
	s := shown(t, &fakeDesk{wait: map[string]chan struct{}{"count slow": slow}})
	s.until("active: all 372")
	s.typed("Filter", "slow")
	s.Until("counting", func() bool { return s.desk.last(&s.desk.counted).Settings.Filter == "slow" })
	before := s.desk.count(&s.desk.counted)
	s.typed("Filter", "agent.x")
	s.typed("Filter", "agent.x > 1") // in the same moment
	s.until("active: 186 of 372")
	if n := s.desk.count(&s.desk.counted) - before; n != 1 {
		t.Errorf("counted %d times for what was typed in one go", n)
	}
	close(slow)
	s.Drain()
	if !s.shows("active: 186 of 372") || s.shows("cancel") {
		t.Errorf("shown: %q", uitest.Texts(s.screen.agentsPanel.panel))
	}
}

func TestActiveAgentsAreRemembered(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.typed("Filter", "agent.x > 1")
	s.until("active: 186 of 372")
	s.pick("A small world")
	s.until("Title of world")
	if got := s.entry("Filter").Text; got != "" {
		t.Errorf("another scenario has the filter %q", got)
	}
	s.until("active: all 372")
	s.pick("Marketplace shoppers")
	s.until("active: 186 of 372")

	s.again() // the next start
	s.until("active: 186 of 372")
	if got := s.entry("Filter").Text; got != "agent.x > 1" {
		t.Errorf("the filter is %q after a new start", got)
	}
}

// TestDrawnAgentsAreShown checks that the panel of agents shows how they were drawn from a file.
func TestDrawnAgentsAreShown(t *testing.T) {
	const summary = "300 of 1871 rows of personas.parquet, seed 1"
	s := shown(t, &fakeDesk{change: func(sc *Scenario) {
		sc.Population = &view.Population{Summary: summary, Notes: []string{"24 kB"}, Shares: view.Table{
			Head: view.PopulationHead, Rows: [][]string{{"gender female", "50.8%", "51.0%", "53.3%", "±5.7", ""}, {"gender male", "49.2%", "49.0%", "46.7%", "±5.7", ""}},
		}}
	}})
	s.until("active: all 372")
	s.screen.agentsPanel.panel.SetOpen(true)
	s.Drain()
	if !s.shows(summary) || !s.shows("53.3%") {
		t.Errorf("shown: %q", uitest.Texts(s.screen.agentsPanel.panel))
	}
}
