package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/ui/uitest"
)

// TestTellAgents checks what the dialog broadcasts to the run, and the notice about the result.
func TestTellAgents(t *testing.T) {
	st := perform(t, running())
	var told []string
	var failing error
	st.desk.job.Broadcast = func(_ context.Context, ids []string, text string) error {
		told = append(told, fmt.Sprintf("%q %s", ids, text))
		return failing
	}
	send := func(to, text string) {
		st.pick(t, "More", "Broadcast…")
		st.orders.asking.to.SetText(to)
		st.orders.asking.text.SetText(text)
		st.orders.asking.dialog.Submit()
		st.done()
	}
	send("", "a storm is coming")
	if got := st.orders.notice.Text(); got != "Message sent: all agents receive it in the next cycle." {
		t.Errorf("got %q", got)
	}
	send(" mara, tom ,", "meet at noon")
	if got := st.orders.notice.Text(); !strings.Contains(got, "mara, tom will receive it") {
		t.Errorf("got %q", got)
	}
	failing = &engine.FieldError{Field: "agents", Problem: "no agent has the ID bob"}
	send("bob", "hello")
	if got := st.orders.notice.Text(); !strings.Contains(got, "no agent has the ID bob") {
		t.Errorf("got %q", got)
	}
	failing = engine.ErrEnded
	send("", "hello")
	if got := st.orders.notice.Text(); !strings.Contains(got, "the run has ended") {
		t.Errorf("got %q", got)
	}
	want := []string{`[] a storm is coming`, `["mara" "tom"] meet at noon`, `["bob"] hello`, `[] hello`}
	if !slices.Equal(told, want) {
		t.Errorf("got %v, want %v", told, want)
	}
}

// TestNothingIsToldWithoutText checks that an empty text is not sent, and that a run that is ending receives no
// message.
func TestNothingIsToldWithoutText(t *testing.T) {
	st := perform(t, running())
	st.desk.job.Broadcast = func(context.Context, []string, string) error { return errors.New("it was asked") }
	st.pick(t, "More", "Broadcast…")
	st.orders.asking.dialog.Submit()
	if len(st.orders.waiting) > 0 {
		t.Error("an empty text is on its way")
	}
	st.orders.asking.dialog.Hide()
	st.run.change(func(s *engine.Snapshot) { s.Phase = engine.Draining })
	st.Tick()
	if st.orders.broadcastMessage.can() {
		t.Error("a message can be sent to a draining run")
	}
	st.run.change(func(s *engine.Snapshot) { s.Phase = engine.Ended })
	st.Tick()
	if st.orders.broadcastMessage.can() {
		t.Error("a message can be sent to an ended run")
	}
}

// TestErrorsNameTheAgent checks that the errors panel shows the agent's ID, or its index if there is no ID.
func TestErrorsNameTheAgent(t *testing.T) {
	s := running()
	s.Errors = []engine.ErrorNote{
		{Class: engine.Script, Count: 3, Agent: 7, Name: "mara", Path: "think", Message: "oh"},
		{Class: engine.Network, Count: 1, Agent: 9, Path: "ask", Message: "no route"},
	}
	st := perform(t, s)
	for _, want := range []string{"mara", "9"} {
		if !uitest.Shows(st.lists.content, want) {
			t.Errorf("%s is not shown in %v", want, uitest.Texts(st.lists.content))
		}
	}
}
