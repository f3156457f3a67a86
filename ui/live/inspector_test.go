package live

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// inspect shows a failed agent.
func inspect(t *testing.T) *crowdStage {
	t.Helper()
	c := gather(t)
	c.agents.open(17)
	c.read(1)
	return c
}

func (c *crowdStage) overlay() fyne.CanvasObject { return c.win.Canvas().Overlays().Top() }

func TestThePagesOfAnAgent(t *testing.T) {
	c := inspect(t)
	for page, want := range map[string][]string{
		"Persona":  {"segment  loyal", "thrift   0.083584"},
		"Memory":   {"visits  3", "bread"},
		"Messages": {"the user, cycle 2", "a sale", "From shopper-1, cycle 1"},
		"Steps":    {"browse", "pay", "failed 1 s", "POST /pay", "no money here", "answered 503"},
	} {
		c.Tap(c.root, page)
		c.shows(t, want...)
	}
	c.Tap(c.root, "Steps")
	c.hides(t, "segment  loyal")
}

// TestAStepShowsWhatItAsked checks that the failed step is selected first, and then the one that the user selects.
func TestAStepShowsWhatItAsked(t *testing.T) {
	c := inspect(t)
	s := c.agents.inspector.pages.sessions
	c.shows(t, "pay: failed (server_error) · took 1 s · 2 requests: 503 503")
	focus(s.timeline)
	press(s.timeline, fyne.KeyUp)
	c.shows(t, "browse: ok · took 200 ms", "No exchanges were recorded.")
	c.now = c.now.Add(readEvery)
	c.tick()
	c.read(2)
	c.shows(t, "browse: ok")
	s.choice.SetSelectedIndex(1)
	c.shows(t, "dream", "Choose a step")
	c.now = c.now.Add(readEvery)
	c.tick()
	c.read(3)
	c.shows(t, "dream")
	s.choice.SetSelectedIndex(0)
	c.shows(t, "browse: ok")
}

// TestAnAgentIsReadAgainNowAndThen checks that an open agent is read at most every two seconds, one read at a time.
func TestAnAgentIsReadAgainNowAndThen(t *testing.T) {
	c := inspect(t)
	c.tick()
	c.now = c.now.Add(readEvery - 1)
	c.tick()
	if n := c.count(); n != 1 {
		t.Fatalf("it was read %d times in less than two seconds", n)
	}
	c.hold = make(chan struct{})
	c.now = c.now.Add(1)
	c.tick()
	c.Until("asked again", func() bool { return c.count() == 2 })
	c.now = c.now.Add(time.Hour)
	c.tick() // the store does not answer, and the screen continues
	c.shows(t, "cycle 2: failed")
	if n := c.count(); n != 2 {
		t.Errorf("%d readings are on their way immediately", n)
	}
	hold := c.hold
	c.run.mu.Lock()
	c.hold = nil
	c.run.mu.Unlock()
	close(hold)
	c.read(2)
	c.run.change(func(s *engine.Snapshot) { s.Phase = engine.Ended })
	c.tick()
	c.now = c.now.Add(time.Hour)
	c.tick()
	if n := c.count(); n != 2 {
		t.Errorf("an agent of a run that has ended was read again: %d times", n)
	}
}

// TestALateAnswerIsDropped checks that the answer for one agent is not shown for another.
func TestALateAnswerIsDropped(t *testing.T) {
	c := gather(t)
	hold := make(chan struct{})
	c.hold = hold
	c.agents.open(17)
	c.Until("asked", func() bool { return c.count() == 1 })
	c.run.mu.Lock()
	c.hold = nil
	c.run.mu.Unlock()
	c.agents.open(40)
	c.Until("the second answer", func() bool { return c.agents.inspector.view != nil })
	close(hold)
	c.agents.close()
	c.agents.open(41)
	c.Until("the third answer", func() bool { return c.agents.inspector.view != nil })
	if got := c.agents.inspector.view.Index; got != 41 {
		t.Errorf("agent %d is shown", got)
	}
	c.shows(t, "shopper-41")
	c.hides(t, "shopper-17")
}

func TestOrdersAboutAnAgent(t *testing.T) {
	c := inspect(t)
	c.Tap(c.root, "Run again")
	c.done()
	c.Tap(c.root, "Watch")
	c.Tap(c.root, "Stop watching")
	c.Tap(c.root, "Retire…")
	if got := c.run.orders(); got != "requeue 17 user; watch 17; watch -1" {
		t.Errorf("got calls %q before the confirmation", got)
	}
	if !uitest.Shows(c.overlay(), "Retire shopper-17?") {
		t.Errorf("the question is %q", uitest.Texts(c.overlay()))
	}
	c.Tap(c.overlay(), "Retire")
	c.done()
	if got := c.run.orders(); !strings.HasSuffix(got, "; retire 17 user") {
		t.Errorf("got calls %q", got)
	}
	c.Tap(c.root, "Message…")
	if got := c.orders.asking.to.Text; got != "shopper-17" {
		t.Errorf("%q should be reported", got)
	}
	c.orders.asking.dialog.Hide()
}

// TestAnotherRunIsNotOrdered checks that confirming an order for an agent does nothing if another run has begun in the
// meantime.
func TestAnotherRunIsNotOrdered(t *testing.T) {
	c := inspect(t)
	c.Tap(c.root, "Retire…")
	next := *c.job
	c.begin(&next)
	c.Tap(c.overlay(), "Retire")
	if got := c.run.orders(); got != "" || c.orders.notice.Text() != otherRun {
		t.Errorf("got calls %q and the notice %q", got, c.orders.notice.Text())
	}
}

func TestAnAgentAsJSON(t *testing.T) {
	c := inspect(t)
	c.Tap(c.root, "Copy as JSON")
	text := fyne.CurrentApp().Clipboard().Content()
	if !json.Valid([]byte(text)) || !strings.Contains(text, "shopper-17") || !strings.Contains(text, "no money here") {
		t.Errorf("copied %q", text)
	}
	c.shows(t, "Copied shopper-17 as JSON")
}

// TestWhatCanBeOrdered checks which buttons are enabled for the agent's current state.
func TestWhatCanBeOrdered(t *testing.T) {
	c := inspect(t)
	i := c.agents.inspector
	can := func() (all string) {
		for _, b := range []struct {
			letter   string
			disabled bool
		}{{"a", i.again.Disabled()}, {"r", i.retire.Disabled()}, {"t", i.message.Disabled()}, {"w", i.watch.Disabled()}, {"c", i.copy.Disabled()}} {
			if !b.disabled {
				all += b.letter
			}
		}
		return all
	}
	for _, tt := range []struct {
		state engine.AgentState
		want  string
	}{{engine.AgentFailed, "artwc"}, {engine.AgentTimedOut, "artwc"}, {engine.AgentOK, "rtwc"}, {engine.AgentInFlight, "rtwc"}, {engine.AgentRetired, "wc"}} {
		c.states[17] = tt.state
		c.tick()
		if got := can(); got != tt.want {
			t.Errorf("agent %v: enabled %q, want %q", tt.state, got, tt.want)
		}
		c.shows(t, tt.state.String())
	}
	c.run.change(func(s *engine.Snapshot) { s.Phase = engine.Ended })
	if c.tick(); can() != "c" {
		t.Errorf("after the run one can order %q", can())
	}
}

func TestAMomentOfThePast(t *testing.T) {
	c := inspect(t)
	past := &engine.Crowd{At: began.Add(-time.Minute), Cycle: 1, States: make([]engine.AgentState, 372)}
	past.States[17] = engine.AgentInFlight
	c.agents.show(past, false)
	i := c.agents.inspector
	if !i.retire.Disabled() || !i.again.Disabled() || !i.watch.Disabled() || i.copy.Disabled() {
		t.Error("orders can be given to the past")
	}
	c.shows(t, "in flight")
	c.agents.close()
	c.agents.open(17)
	c.now = c.now.Add(readEvery)
	c.agents.show(past, false)
	c.read(2)
	c.shows(t, "cycle 1: ok after 300 ms")
	c.hides(t, "cycle 2: failed", "In flight, oldest first")

	c.tick() // now again
	c.now = c.now.Add(readEvery)
	c.tick()
	c.read(3)
	c.shows(t, "cycle 2: failed")
	if past.States[17] != engine.AgentInFlight {
		t.Error("the past was written into")
	}
	for _, reused := range c.reused {
		if reused == past {
			t.Error("the past was to be written into")
		}
	}
}

func TestTheTextsCanBeSelected(t *testing.T) {
	c := inspect(t)
	for _, one := range c.agents.inspector.pages.all {
		if one.label != nil && !one.label.Selectable {
			t.Errorf("the text of %s cannot be selected", one.button.Text)
		}
	}
	if !c.agents.inspector.pages.sessions.asked.Selectable {
		t.Error("the request cannot be selected")
	}
	test.Tap(c.agents.inspector.retire)
	c.Tap(c.overlay(), "Cancel")
	if got := c.run.orders(); got != "" {
		t.Errorf("got calls %q", got)
	}
}

// TestActionsOfAnAgent checks that the actions of an open agent are in the menus, and show the agent from any view.
func TestActionsOfAnAgent(t *testing.T) {
	c := inspect(t)
	can := map[string]bool{}
	look := func() {
		for _, a := range c.Actions() {
			if a.Menu == "Agent" {
				can[a.Name] = a.Can()
			}
		}
	}
	look()
	if len(can) != 5 || !can["Copy agent as JSON"] || !can["Run agent again"] {
		t.Fatalf("enabled actions: %v", can)
	}
	c.view("Overview")
	for _, a := range c.Actions() {
		if a.Name == "Copy agent as JSON" {
			a.Do()
		}
	}
	if text := fyne.CurrentApp().Clipboard().Content(); !strings.Contains(text, "shopper-17") {
		t.Errorf("the clipboard has %q", text)
	}
	c.shows(t, "POST /pay")
	c.agents.close()
	look()
	for name, now := range can {
		if now {
			t.Errorf("%s of no agent", name)
		}
	}
}
