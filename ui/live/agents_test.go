package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/internal/crowd"
	"github.com/throng-sim/throng/ui/uitest"
)

// crowdStage is a stage whose run has agents. It records the requests for them.
type crowdStage struct {
	*stage
	states []engine.AgentState
	reused []*engine.Crowd // by the calls of Crowd
	given  []*engine.Crowd
	reads  []int // agents that were read
	look   func(agent int) (*engine.AgentView, error)
	found  func(text string) ([]int, bool, error)
	asked  []string      // of Find
	told   []string      // ids
	hold   chan struct{} // if set, reading and finding wait until it is closed
	now    time.Time
}

// gather shows the agents of a run.
func gather(t *testing.T) *crowdStage {
	t.Helper()
	c := &crowdStage{stage: perform(t, running()), states: make([]engine.AgentState, 372), now: began}
	c.states[17], c.states[40] = engine.AgentFailed, engine.AgentInFlight
	c.look = func(agent int) (*engine.AgentView, error) { return shopper(agent), nil }
	job := c.desk.job
	job.Crowd = func(reuse *engine.Crowd) *engine.Crowd {
		c.reused = append(c.reused, reuse)
		next := &engine.Crowd{At: began, Cycle: 2, States: slices.Clone(c.states)}
		c.given = append(c.given, next)
		return next
	}
	job.Name = func(agent int) string { return fmt.Sprintf("shopper-%d", agent) }
	job.Agent = func(ctx context.Context, agent int) (*engine.AgentView, error) {
		c.run.mu.Lock()
		c.reads = append(c.reads, agent)
		hold, view := c.hold, c.look
		c.run.mu.Unlock()
		if hold != nil {
			<-hold
		}
		return view(agent)
	}
	job.Find = func(_ context.Context, text string, most int) ([]int, bool, error) {
		c.run.mu.Lock()
		c.asked = append(c.asked, text)
		hold, found := c.hold, c.found
		c.run.mu.Unlock()
		if hold != nil {
			<-hold
		}
		return found(text)
	}
	job.Broadcast = func(_ context.Context, ids []string, text string) error {
		c.told = append(c.told, ids...)
		return nil
	}
	c.agents.inspector.now = func() time.Time { return c.now }
	c.agents.begin(job)
	c.win.Resize(fyne.NewSize(1280, 800))
	c.view("Agents")
	return c
}

// shopper is an agent that failed in the current cycle.
func shopper(agent int) *engine.AgentView {
	failed := engine.StepRecord{Path: "pay", Status: engine.StepFailed, Class: engine.ServerError, Attempts: 2, Statuses: []int{503, 503}, Service: time.Second}
	return &engine.AgentView{
		Index: agent, ID: fmt.Sprintf("shopper-%d", agent), State: engine.AgentFailed,
		Persona: []engine.Fact{{Name: "segment", Value: "loyal"}, {Name: "thrift", Value: "0.08358396685352354"}},
		Memory:  []engine.Fact{{Name: "visits", Value: "3"}}, Notes: []string{`"bread"`},
		Inbox: []engine.InboxMessage{{From: "shopper-1", Cycle: 1, Body: `"hello"`}, {Cycle: 2, Body: `"a sale"`}},
		Sessions: []engine.AgentTurn{
			{
				SessionRow: engine.SessionRow{
					Place: engine.Place{Cycle: 2, Agent: agent}, Outcome: engine.Failed, Class: engine.ServerError, Path: "pay", Error: "POST /pay answered 503",
					Started: began, Total: 1200 * time.Millisecond, Steps: []engine.StepRecord{{Path: "browse", Service: 200 * time.Millisecond, Attempts: 1, Statuses: []int{200}}, failed},
				},
				Exchanges: []engine.Exchange{{Path: "pay", Attempt: 2, Request: "POST /pay", Sent: `{"total": 3}`, Status: 503, Answer: "no money here", Took: 400 * time.Millisecond}},
			},
			{SessionRow: engine.SessionRow{Place: engine.Place{Cycle: 1, Agent: agent}, Outcome: engine.OK, Started: began.Add(-time.Hour), Total: 300 * time.Millisecond, Steps: []engine.StepRecord{{Path: "dream", Service: 300 * time.Millisecond}}}},
		},
		Earlier: 1, Usage: engine.Usage{Calls: 3},
	}
}

// read waits until an agent was read n times.
func (c *crowdStage) read(n int) {
	c.Until(fmt.Sprintf("%d readings", n), func() bool {
		c.run.mu.Lock()
		defer c.run.mu.Unlock()
		return len(c.reads) == n && c.agents.inspector.cancel == nil
	})
}

func (c *crowdStage) count() int {
	c.run.mu.Lock()
	defer c.run.mu.Unlock()
	return len(c.reads)
}

func press(o fyne.Focusable, keys ...fyne.KeyName) {
	for _, key := range keys {
		o.TypedKey(&fyne.KeyEvent{Name: key})
	}
}

// keyed returns the enabled object below o that takes keyboard input.
func keyed(o fyne.CanvasObject) (found fyne.Focusable) {
	uitest.Walk(o, func(o fyne.CanvasObject) bool {
		f, ok := o.(fyne.Focusable)
		if off, is := o.(fyne.Disableable); is && off.Disabled() { // such as a header that does not sort
			return true
		}
		if ok {
			found = f
		}
		return !ok
	})
	return found
}

func TestEveryAgentIsShown(t *testing.T) {
	c := gather(t)
	c.shows(t, "372 agents", "failed", "waiting", "In flight, oldest first", "server_error")
	c.hides(t, "Save charts…", "retired")
	c.states[5] = engine.AgentRetired
	c.tick()
	c.shows(t, "retired")
	c.view("Overview")
	c.shows(t, "Throughput")
	c.hides(t, "retired")
}

// TestRunWithoutAgents checks that a run without agents says so, instead of saying that they appear later.
func TestRunWithoutAgents(t *testing.T) {
	st := &stage{Queue: uitest.Start(t), run: newFakeRun(running()), desk: &fakeDesk{}}
	st.desk.job = jobOf(st.run)
	st.desk.job.Agents = 0
	st.desk.job.Crowd = func(*engine.Crowd) *engine.Crowd { return &engine.Crowd{} }
	st.open(t)
	st.Show()
	st.view("Agents")
	st.shows(t, "This run has no agents")
	st.hides(t, "as soon as the run has begun")
}

func TestHiddenAgentsAreNotCounted(t *testing.T) {
	c := gather(t)
	c.view("Overview")
	before := len(c.given)
	c.tick()
	if len(c.given) != before {
		t.Error("the agents were counted behind the charts")
	}
}

// TestTheShownCrowdIsNotWrittenInto checks that memory is reused, but not the memory of the crowd on screen.
func TestTheShownCrowdIsNotWrittenInto(t *testing.T) {
	c := gather(t)
	for i := range 6 {
		if i%2 == 0 {
			c.states[100+i] = engine.AgentOK
		}
		shown := c.agents.own
		c.tick()
		if reused := c.reused[len(c.reused)-1]; reused == shown || reused == nil && i > 1 {
			t.Errorf("call %d: it would write into %p, while %p is shown", i, reused, shown)
		}
	}
}

func TestAnAgentIsOpenedAndClosedByKeyboard(t *testing.T) {
	c := gather(t)
	focus(c.agents.grid)
	press(c.agents.grid, fyne.KeyHome, fyne.KeyRight, fyne.KeyRight, fyne.KeyReturn)
	c.read(1)
	c.shows(t, "shopper-2", "2 sessions completed (an earlier cycle is not listed)", "cycle 2: failed after 1.2 s", "POST /pay answered 503", "browse")
	c.hides(t, "In flight, oldest first")
	if c.reads[0] != 2 {
		t.Errorf("agent %d was read", c.reads[0])
	}
	press(c.agents.grid, fyne.KeyEscape)
	c.hides(t, "2 sessions completed")
	c.shows(t, "In flight, oldest first")
	if c.agents.grid.Selected() != noAgent {
		t.Error("the agent stays marked")
	}
	if c.win.Canvas().Focused() != c.agents.grid {
		t.Error("the keyboard is lost")
	}
}

// TestInANarrowWindowAnAgentTakesThePlaceOfTheGrid checks that in a narrow window an open agent replaces the grid.
func TestInANarrowWindowAnAgentTakesThePlaceOfTheGrid(t *testing.T) {
	c := gather(t)
	c.win.Resize(fyne.NewSize(800, 800))
	c.hides(t, "In flight, oldest first")
	c.agents.open(17)
	c.read(1)
	if c.agents.body.Visible() {
		t.Error("the grid is still shown")
	}
	c.shows(t, "shopper-17")
	press(c.agents.inspector.pages.sessions.timeline, fyne.KeyEscape)
	if !c.agents.body.Visible() {
		t.Error("the grid does not come back")
	}
}

// TestInAHighNarrowWindowAnAgentIsBelowTheGrid checks that in a high, narrow window the grid stays visible above an
// open agent.
func TestInAHighNarrowWindowAnAgentIsBelowTheGrid(t *testing.T) {
	c := gather(t)
	c.win.Resize(fyne.NewSize(800, 1400))
	c.agents.open(17)
	c.read(1)
	if !c.agents.body.Visible() || !c.agents.inspector.content.Visible() {
		t.Fatal("the grid or the agent is hidden")
	}
	if foot, top := c.agents.body.Size().Height, c.agents.inspector.content.Position().Y; top < foot {
		t.Errorf("the agent begins at %v, the grid ends at %v", top, foot)
	}
}

func TestASearchShowsThoseFound(t *testing.T) {
	c := gather(t)
	c.found = func(string) ([]int, bool, error) { return []int{3, 40, 300}, true, nil }
	c.agents.grid.TypedRune('/')
	if c.win.Canvas().Focused() != c.agents.search.entry {
		t.Error("the slash does not lead to the search")
	}
	c.agents.search.entry.SetText("age > 40")
	press(c.agents.search.entry, fyne.KeyReturn)
	c.Until("found", func() bool { return c.agents.grid.Shown() == 3 })
	c.shows(t, "The first 3; there are more.")
	if c.asked[0] != "age > 40" {
		t.Errorf("searched for %q", c.asked)
	}
	press(c.agents.search.entry, fyne.KeyEscape)
	if c.agents.grid.Shown() != 372 || c.agents.search.entry.Text != "" {
		t.Error("Escape does not show all again")
	}
	c.hides(t, "there are more")

	c.found = func(string) ([]int, bool, error) { return []int{40}, false, nil }
	c.agents.search.entry.SetText("shopper-40")
	press(c.agents.search.entry, fyne.KeyReturn)
	c.read(1)
	if c.reads[0] != 40 {
		t.Errorf("the only one that was found is not opened, but %d", c.reads[0])
	}
	c.found = func(string) ([]int, bool, error) { return nil, false, nil }
	press(c.agents.search.entry, fyne.KeyReturn)
	c.Until("told", func() bool { return uitest.Shows(c.root, "No agents found") })
}

func TestAMistakeIsToldBesideTheSearch(t *testing.T) {
	c := gather(t)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{&engine.FieldError{Field: "filter", Problem: "undefined: agee", Hint: "attributes are age, segment"}, "undefined: agee: attributes are age, segment"},
		{errBroken, "The search failed: the disk is broken. Try again."},
	} {
		c.found = func(string) ([]int, bool, error) { return nil, false, tt.err }
		c.agents.search.entry.SetText("agee > 40")
		press(c.agents.search.entry, fyne.KeyReturn)
		c.Until("told", func() bool { return c.agents.search.note.Text() == tt.want })
		if c.agents.grid.Shown() != 372 {
			t.Error("a mistake hides agents")
		}
	}
}

// TestOnlyTheNewestSearchCounts checks that a slow answer does not replace the result of a later search.
func TestOnlyTheNewestSearchCounts(t *testing.T) {
	c := gather(t)
	slow := make(chan struct{})
	c.hold = slow
	c.found = func(string) ([]int, bool, error) { return []int{1, 2}, false, nil }
	c.agents.search.find("slow")
	c.Until("asked", func() bool { c.run.mu.Lock(); defer c.run.mu.Unlock(); return len(c.asked) == 1 })
	c.agents.search.entry.SetText("x")
	c.agents.search.entry.SetText("")
	close(slow)
	c.run.mu.Lock()
	c.hold, c.found = nil, func(string) ([]int, bool, error) { return []int{1, 2, 3}, false, nil }
	c.run.mu.Unlock()
	c.agents.search.find("quick")
	c.Until("found", func() bool { return c.agents.grid.Shown() == 3 })
	c.shows(t, "3 agents")
}

func TestAStateIsChosen(t *testing.T) {
	c := gather(t)
	c.agents.legend.Choose(crowd.Of(engine.AgentFailed))
	focus(c.agents.grid)
	press(c.agents.grid, fyne.KeyHome, fyne.KeyRight, fyne.KeyReturn)
	c.read(1)
	if c.reads[0] != 17 {
		t.Errorf("the next that failed is %d", c.reads[0])
	}
}

func TestWhereItHurts(t *testing.T) {
	c := gather(t)
	c.run.change(func(s *engine.Snapshot) {
		s.Oldest = []engine.Activity{{Place: engine.Place{Agent: 40}, Name: "shopper-40", Began: s.At.Add(-time.Minute), ThrottledBy: "rate limiter"}}
		s.Errors[1].Agent = 99
	})
	c.tick()
	c.shows(t, "shopper-40", "1 min", "throttled: rate")
	press(keyed(c.agents.trouble.oldest), fyne.KeyDown)
	if c.agents.grid.Selected() != 40 || c.count() != 0 {
		t.Error("a chosen row does not mark its agent only")
	}
	press(keyed(c.agents.trouble.oldest), fyne.KeyReturn)
	c.read(1)
	c.agents.close()
	press(keyed(c.agents.trouble.faults), fyne.KeyDown, fyne.KeyDown, fyne.KeyReturn)
	c.read(2)
	if !slices.Equal(c.reads, []int{40, 99}) {
		t.Errorf("opened %v", c.reads)
	}
	if got := c.agents.legend.Chosen(); got != crowd.Of(engine.AgentFailed, engine.AgentTimedOut) {
		t.Errorf("%b are lit next to the one that failed", got)
	}
}

// TestAnotherRunHasOtherAgents checks that a new run closes the open agent and clears the search.
func TestAnotherRunHasOtherAgents(t *testing.T) {
	c := gather(t)
	c.found = func(string) ([]int, bool, error) { return []int{1, 2}, false, nil }
	c.agents.search.entry.SetText("x")
	press(c.agents.search.entry, fyne.KeyReturn)
	c.Until("found", func() bool { return c.agents.grid.Shown() == 2 })
	c.agents.open(17)
	c.read(1)
	next := running()
	next.Run = "20300301-130000-efgh"
	job := jobOf(newFakeRun(next))
	job.Crowd = func(*engine.Crowd) *engine.Crowd { return &engine.Crowd{States: make([]engine.AgentState, 12)} }
	c.desk.job = job
	c.tick()
	c.shows(t, "12 agents", "In flight, oldest first")
	c.hides(t, "shopper-17")
}

var errGone = errors.New("the store is closed")

func TestAnAgentThatCannotBeRead(t *testing.T) {
	c := gather(t)
	c.look = func(int) (*engine.AgentView, error) { return nil, errGone }
	c.agents.open(17)
	c.read(1)
	c.shows(t, "Cannot read", "the store is closed")
	c.run.mu.Lock()
	c.look = func(agent int) (*engine.AgentView, error) { return shopper(agent), nil }
	c.run.mu.Unlock()
	c.now = c.now.Add(readEvery)
	c.tick()
	c.read(2)
	c.hides(t, "Cannot read")
	if !strings.Contains(strings.Join(uitest.Texts(c.root), " "), "cycle 2: failed") {
		t.Error("the agent is not shown after it became readable")
	}
}
