package setup

import (
	"errors"
	"testing"

	"github.com/throng-sim/throng/ui/uitest"
)

// forkDesk returns a fork of run r at checkpoint 3, with an agent and a seed of the parent.
func forkDesk() *fakeDesk {
	return &fakeDesk{
		requirements: Requirements{Changed: []string{"seed 7 → 8"}, Lost: []string{"what run r did at shop cannot be taken back"}},
		forked: func(sc *Scenario, f Fork) {
			sc.Title, sc.Fork = "Shoppers", &Forked{Fork: f, Cycle: 5, Origin: "world"}
			sc.Parameters[0].Default = "100"
			sc.Settings.Seed, sc.Settings.Agents, sc.Settings.Filter = 7, []string{"a", "b"}, "true"
		},
	}
}

// TestAForkIsSetUp checks that a fork has all values of its parent, that its start and its changes are shown, and that
// it is launched as a fork.
func TestAForkIsSetUp(t *testing.T) {
	s := shown(t, forkDesk())
	fork := Fork{Run: "r", Checkpoint: 3, Renewed: true}
	s.screen.Fork(fork)
	s.until("Fork of r at the start of cycle 5 (checkpoint 3). The parent run is not changed. Uses the current scenario file.")
	s.until("Changed: seed 7 to 8")
	s.until("what run r did at shop cannot be taken back")
	s.until("19 cycles") // of 24
	if got := s.entry("Agents").Text + "/" + s.entry("Filter").Text + "/" + s.entry("Random seed").Text + "/" + s.entry("Shoppers").Text; got != "a b/true/7/100" {
		t.Errorf("the form begins with %s", got)
	}
	s.typed("Length", "5")
	if s.until("the fork starts at cycle 5"); s.launched > 0 {
		t.Error("launched without a cycle")
	}
	s.typed("Length", "6")
	s.typed("Shoppers", "90")
	s.until("was 100")
	s.tap("Launch")
	s.Until("launched", func() bool { return s.launched == 1 })
	got := s.desk.last(&s.desk.launched)
	if got.Scenario != "" || got.Fork != fork || got.Given["agents"] != "90" || len(got.Given) != 1 || got.Settings.Seed != 7 || got.Settings.Cycles != 6 {
		t.Errorf("launched was %+v", got)
	}
	if last := remembered(); last.Scenario != "shopping" {
		t.Errorf("remembered is %q", last.Scenario)
	}
	s.until("Title of shopping") // the fork mode ends with the launch
	if s.shows("Fork of") {
		t.Errorf("after the launch, Setup shows %q", uitest.Texts(s.screen.Content()))
	}
}

// TestAForkIsAbandoned checks that Setup returns to what it showed before a fork that was canceled, or left unchanged.
func TestAForkIsAbandoned(t *testing.T) {
	s := shown(t, forkDesk())
	s.typed("Length", "7")
	fork := Fork{Run: "r", Checkpoint: 3}
	s.screen.Fork(fork)
	s.until("Fork of r at")
	s.screen.Hide()
	s.screen.Show()
	s.until("Title of shopping")
	if got := s.entry("Length").Text; got != "7" || s.shows("Fork of") {
		t.Errorf("the length is %s, shown is %q", got, uitest.Texts(s.screen.Content()))
	}
	s.screen.Fork(fork)
	s.until("Fork of r at")
	s.typed("Length", "9")
	s.screen.Hide()
	s.screen.Show()
	s.until("Fork of r at") // what was typed is kept
	if got := s.entry("Length").Text; got != "9" {
		t.Errorf("the length of the fork is %s", got)
	}
	s.tap("Cancel fork")
	s.until("Title of shopping")
	s.screen.Fork(fork)
	s.until("Fork of r at")
	if got := s.entry("Length").Text; got != "24" {
		t.Errorf("the length of the next fork is %s", got)
	}
}

// TestAForkIsLeft leaves a fork for a new run of the parent's scenario, and checks that returning to the fork discards
// the edits.
func TestAForkIsLeft(t *testing.T) {
	s := shown(t, forkDesk())
	fork := Fork{Run: "r", Checkpoint: 3}
	s.screen.Fork(fork)
	s.until("Fork of r at")
	s.typed("Shoppers", "90")
	s.tap("From the beginning instead")
	s.until("Title of world")
	if s.shows("Fork of") || s.shows("Changed:") || s.shows("cannot be taken back") || uitest.Button(s.screen.Content(), "From the beginning instead") != nil {
		t.Errorf("something of the fork is left: %q", uitest.Texts(s.screen.Content()))
	}
	s.screen.Fork(fork)
	s.until("Fork of r at")
	if got := s.entry("Shoppers").Text; got != "100" {
		t.Errorf("the fork begins with %s shoppers", got)
	}
}

// TestWhatIsNotKnownOfAFork checks that unknown changes of a fork are not shown as no changes.
func TestWhatIsNotKnownOfAFork(t *testing.T) {
	desk := forkDesk()
	desk.requirements, desk.lost = Requirements{}, errors.New("the parent is not there any more")
	s := shown(t, desk)
	s.screen.Fork(Fork{Run: "r", Checkpoint: 3})
	s.until("Fork of r at")
	s.Until("answered", func() bool { return s.screen.requirements.known != nil })
	s.until("the parent is not there any more")
	if s.shows("Nothing is changed") {
		t.Error("it reports no changes")
	}
}
