package setup

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

// TestTheForecastFollowsTheFields checks that a forecast is requested shortly after the last edit, if the fields are
// valid.
func TestTheForecastFollowsTheFields(t *testing.T) {
	desk := &fakeDesk{}
	s := shown(t, desk)
	s.until("Cycle time limited by the limit of 50.")
	s.until("from what the scenario says")
	before := len(desk.foresaw())
	s.screen.concurrency.start.SetText("5")
	s.screen.concurrency.start.SetText("51")
	s.until("Cycle time limited by the limit of 51.")
	s.until("51 s")
	if asked := len(desk.foresaw()) - before; asked != 1 {
		t.Errorf("it was asked %d times, want once", asked)
	}
	s.screen.concurrency.start.SetText("a few")
	s.screen.concurrency.start.SetText("52")
	s.until("Cycle time limited by the limit of 52.")
	for _, o := range desk.foresaw() {
		if o.Settings.Limit != 50 && o.Settings.Limit != 51 && o.Settings.Limit != 52 {
			t.Errorf("a forecast for a limit of %d was requested", o.Settings.Limit)
		}
	}
	s.screen.budget.dollars.SetText("1")
	s.until("It may cost too much.")
	s.until("It may take too long.")
	s.screen.budget.dollars.SetText("")
	s.Until("the advice is gone", func() bool { return !s.shows("It may") })
}

// TestForecastOfTheTranscript checks that the size of the kept content is shown, or why there is none.
func TestForecastOfTheTranscript(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.until("Kept content")
	s.until("44 MB")
	if s.shows("No transcript") {
		t.Error("it says that there is no transcript")
	}
	s.screen.concurrency.start.SetText("54")
	s.until("No transcript: the answers of step pay are private.")
	if s.shows("Kept content") {
		t.Error("a size of content is shown")
	}
	s.screen.concurrency.start.SetText("55")
	s.Until("the notice is gone", func() bool { return !s.shows("No transcript") })
}

// TestOnlyTheLastForecastIsShown checks that a late forecast is dropped.
func TestOnlyTheLastForecastIsShown(t *testing.T) {
	late := make(chan struct{})
	desk := &fakeDesk{wait: map[string]chan struct{}{"forecast 51": late}}
	s := shown(t, desk)
	s.until("the limit of 50")
	s.screen.concurrency.start.SetText("51")
	s.Until("it is asked of 51", func() bool {
		all := desk.foresaw()
		return all[len(all)-1].Settings.Limit == 51
	})
	s.screen.concurrency.start.SetText("52")
	s.until("the limit of 52")
	close(late)
	s.screen.concurrency.start.SetText("53")
	s.until("the limit of 53")
	if s.shows("the limit of 51") {
		t.Error("a late answer is shown")
	}
}

// TestAForecastOfAnotherScenario checks that the forecast of the previous scenario is hidden until the new one arrives.
func TestAForecastOfAnotherScenario(t *testing.T) {
	desk := forkDesk()
	s := shown(t, desk)
	s.until("Cycle time limited by the limit of 50.")
	hold := make(chan struct{})
	desk.mu.Lock()
	desk.wait = map[string]chan struct{}{"forecast 50": hold}
	desk.mu.Unlock()
	s.screen.Fork(Fork{Run: "r", Checkpoint: 3})
	s.until("Fork of r at")
	s.until("Calculating…")
	if s.shows("Cycle time limited") {
		t.Error("the previous scenario's forecast is still shown")
	}
	close(hold)
	s.until("Cycle time limited by the limit of 50.")
}

func TestAForecastThatIsNotKnown(t *testing.T) {
	desk := &fakeDesk{unforeseen: errors.New("the store is gone")}
	s := shown(t, desk)
	s.until("No forecast: the store is gone")
	if s.shows("A cycle is bound") {
		t.Error("figures are shown all the same")
	}
}

func TestGovernorAndBudgetGoIntoTheOrder(t *testing.T) {
	desk := &fakeDesk{}
	s := shown(t, desk)
	s.until("Adaptive")
	s.screen.concurrency.governor.SetSelected("Latency")
	s.until("Stops raising")
	s.until("adjusted automatically from")
	s.screen.budget.dollars.SetText("12.50")
	s.screen.budget.tokens.SetText("1000000")
	s.screen.budget.requests.SetText("5000")
	s.screen.budget.wall.SetText("8h")
	o, _, err := s.screen.order()
	want := engine.Budget{Dollars: 12.5, Tokens: 1_000_000, Requests: 5000, Wall: 8 * time.Hour}
	if err != nil || o.Settings.Governor != "latency" || o.Settings.Budget != want {
		t.Errorf("got %q, %+v, %v, want latency, %+v", o.Settings.Governor, o.Settings.Budget, err, want)
	}
	s.screen.concurrency.mode.SetSelected("Manual")
	s.until("stays until you change it")
	for _, e := range []interface{ SetText(string) }{s.screen.budget.dollars, s.screen.budget.tokens, s.screen.budget.requests, s.screen.budget.wall} {
		e.SetText("")
	}
	if o, _, err = s.screen.order(); err != nil || o.Settings.Governor != engine.Manual || o.Settings.Budget != (engine.Budget{}) {
		t.Errorf("got %q, %+v, %v, want manual and no bound", o.Settings.Governor, o.Settings.Budget, err)
	}
}

func TestMistakesInABudget(t *testing.T) {
	s := shown(t, &fakeDesk{})
	s.until("Budget")
	for _, c := range []struct {
		entry interface{ SetText(string) }
		text  string
		says  string
	}{
		{s.screen.budget.dollars, "-1", "out of range"},
		{s.screen.budget.tokens, "many", "is not a whole number"},
		{s.screen.budget.requests, "1.5", "is not a whole number"},
		{s.screen.budget.wall, "eight hours", "not a duration"},
		{s.screen.budget.wall, "-8h", "negative"},
	} {
		c.entry.SetText(c.text)
		s.until(c.says)
		s.until("1 mistake")
		c.entry.SetText("")
		s.Until("the mistake is gone", func() bool { return !s.shows(c.says) })
	}
}

// TestABudgetIsProposed checks that the saved defaults fill the fields of another scenario.
func TestABudgetIsProposed(t *testing.T) {
	s := shown(t, &fakeDesk{change: func(sc *Scenario) {
		sc.Settings.Governor = "success"
		sc.Settings.Budget = engine.Budget{Dollars: 3, Tokens: 10, Requests: 20, Wall: 90 * time.Minute}
	}})
	s.until("Success rate")
	b := s.screen.budget
	for name, got := range map[string][2]string{"dollars": {b.dollars.Text, "3"}, "tokens": {b.tokens.Text, "10"}, "requests": {b.requests.Text, "20"}, "time": {b.wall.Text, "1h30m"}} {
		if got[0] != got[1] {
			t.Errorf("%s: got %q, want %q", name, got[0], got[1])
		}
	}
	if o, _, err := s.screen.order(); err != nil || o.Settings.Budget.Wall != 90*time.Minute {
		t.Errorf("got %v, %v", o.Settings.Budget, err)
	}
}

// TestThePresetIsAStartingPoint checks that the preset is shown until a forecast is based on measurements.
func TestThePresetIsAStartingPoint(t *testing.T) {
	desk := &fakeDesk{}
	s := shown(t, desk)
	s.until("This machine is a laptop.")
	desk.mu.Lock()
	desk.measured = "20300301-120000-abcd"
	desk.mu.Unlock()
	s.screen.concurrency.start.SetText("51")
	s.Until("the preset is gone", func() bool { return !s.shows("This machine is a laptop.") })
}
