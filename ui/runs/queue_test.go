package runs

import (
	"errors"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"github.com/throng-sim/throng/ui/uitest"
)

// line is a queue of four: the experiment is next, and one run waits for tonight.
func line() []Waiting {
	return []Waiting{
		{ID: "aaaa", Work: `the experiment "Does eagerness pay at the end of a very long month, or not at all?"`, Details: "waits since 2026-01-02 03:04:05 in process 4711 (throngctl)"},
		{ID: "bbbb", Work: "run 20260102-150406-wait (Shoppers)", Details: "priority 5, waits since 2026-01-02 03:04:05"},
		{ID: "cccc", Work: "Greeters", Start: time.Now().Add(10 * time.Hour), Details: "waits since 2026-01-02 03:04:05"},
		{ID: "dddd", Work: "Greeters again", Start: time.Now().Add(20 * time.Hour)},
	}
}

// TestQueue checks that what waits is shown above the runs, and can be moved and canceled.
func TestQueue(t *testing.T) {
	desk := two()
	q, s, _ := start(t, desk)
	if s.queue.panel.Visible() {
		t.Error("an empty queue is shown")
	}
	desk.set(func() { desk.waiting = line() })
	s.load()
	wait(q, s)
	wantShown(t, s, `Next: the experiment "Does eagerness`, "waits since 2026-01-02 03:04:05 in process 4711 (throngctl)", "priority 5, waits", "Waits, number 2: run 20260102-150406-wait (Shoppers)", "1 more waits: throngctl queue lists all")
	q.Tap(s.queue.panel, "Start next")
	q.Until("the order", func() bool { return slices.Contains(desk.orders(), "start next bbbb") })
	q.Tap(s.queue.panel, "Cancel") // the first
	q.Until("the order", func() bool { return slices.Contains(desk.orders(), "cancel waiting aaaa") })
	desk.set(func() { desk.err = errors.New("it waits no longer") })
	q.Tap(s.queue.panel, "Cancel")
	q.Until("the trouble", func() bool { return uitest.Shows(s.queue.panel, "Not changed. It waits no longer") })
	desk.set(func() { desk.waiting = nil })
	s.load()
	wait(q, s)
	if s.queue.panel.Visible() {
		t.Error("the queue is shown after the last one left")
	}
}

// TestTheQueueGrows checks that nothing of the queue is clipped when more waits while it is shown.
func TestTheQueueGrows(t *testing.T) {
	desk := two()
	desk.waiting = line()[:1]
	q, s, _ := start(t, desk)
	s.win.Resize(fyne.NewSize(1150, 770))
	for n := 1; n <= 4; n++ {
		desk.set(func() { desk.waiting = line()[:n] })
		s.load()
		wait(q, s)
		for _, misfit := range uitest.Misfits(s.Content()) {
			t.Errorf("%d wait: %s", n, misfit)
		}
		if got, least := s.queue.panel.Size().Height, s.queue.panel.MinSize().Height; got < least {
			t.Errorf("%d wait: the strip is %.0f high, and needs %.0f", n, got, least)
		}
	}
}

// TestNothingOfTheQueueIsClipped checks the queue at any text size.
func TestNothingOfTheQueueIsClipped(t *testing.T) {
	desk := two()
	desk.waiting = line()
	q, s, _ := start(t, desk)
	q.Fit("queue", s.Content(), scaled)
}
