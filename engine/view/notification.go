package view

import (
	"fmt"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// Occasion is a kind of event that triggers a notification.
type Occasion string

// The occasions.
const (
	OnEnd     Occasion = "ended"
	OnBudget  Occasion = "out-of-budget"
	OnPause   Occasion = "paused"
	OnBreaker Occasion = "breaker"
	OnService Occasion = "service"
	OnStall   Occasion = "stalled"
	OnShort   Occasion = "budget-short"
	OnResume  Occasion = "resumed"
)

// NotificationKind describes an occasion for display.
type NotificationKind struct {
	Occasion Occasion
	About    string // when the notification is sent
	Urgent   bool   // a person may have to act
	Once     bool   // occurs once per run
}

// NotificationKinds is the table of occasions, in display order.
var NotificationKinds = []NotificationKind{
	{OnEnd, "A run ends", false, true},
	{OnBudget, "The budget is used up", true, true},
	{OnPause, "A run pauses automatically", true, false},
	{OnBreaker, "The circuit breaker opens", true, false},
	{OnService, "A service stops answering", true, false},
	{OnStall, "No session ends for a long time", true, false},
	{OnShort, "The budget will not last", true, false},
	{OnResume, "A paused run continues", false, false},
}

// KindOf returns the entry of an occasion in the table.
func KindOf(o Occasion) NotificationKind {
	for _, k := range NotificationKinds {
		if k.Occasion == o {
			return k
		}
	}
	return NotificationKind{Occasion: o}
}

// Notification is the content of a notification.
type Notification struct {
	Occasion Occasion
	Title    string // without the scenario's title, which precedes it
	Text     string
}

// Notifier finds the changes of a run that trigger notifications. The first snapshot only sets the initial state. The
// zero value is ready to use, for one run and one goroutine.
type Notifier struct {
	seen    bool
	phase   engine.Phase
	open    bool            // the run's breaker was open
	paused  bool            // the run had paused automatically, and a notification was sent
	stalled bool            // no session ended
	short   engine.Budget   // the budget that was reported as running out
	refused map[string]bool // services whose breaker was open
}

// nothingLost follows the reason for a pause.
const nothingLost = ". All results are kept; Live and throngctl status say what to do."

// See takes the latest snapshot and returns its notifications, most severe first.
func (h *Notifier) See(s *engine.Snapshot) (all []Notification) {
	was, refused := *h, unavailable(s)
	h.phase, h.open, h.refused, h.stalled = s.Phase, s.Breaker != engine.BreakerClosed, refused, s.Stall != nil
	if !h.seen {
		h.seen, h.short = true, shortOf(s)
		h.paused = s.Phase == engine.Paused && !pausedByPerson(s)
		return nil
	}
	add := func(o Occasion, title, text string) { all = append(all, Notification{o, title, text}) }
	pauses := s.Phase == engine.Paused && was.phase != engine.Paused && !pausedByPerson(s)
	switch {
	case s.Phase == engine.Ended && was.phase == engine.Ended:
		return nil
	case s.Phase == engine.Ended && s.Ending == engine.EndOutOfBudget:
		add(OnBudget, s.Ending.String(), sentence(s.Reason)+summary(s))
		return all
	case s.Phase == engine.Ended:
		add(OnEnd, s.Ending.String(), failureReason(s)+summary(s))
		return all
	case h.open && !was.open:
		h.paused = true
		add(OnBreaker, "paused, too many failures", s.BreakerWhy+nothingLost)
	case pauses:
		h.paused = true
		add(OnPause, "paused", s.Reason+nothingLost)
	case s.Phase == engine.Running && was.paused:
		h.paused = false
		if was.phase == engine.Paused && !resumedByPerson(s) {
			add(OnResume, "running again", "The reason for the pause is gone.")
		}
	}
	for i := range s.Services {
		if name := s.Services[i].Name; refused[name] && !was.refused[name] {
			add(OnService, name+" is not answering", "Its circuit breaker is open: requests to it wait until it answers again. The run continues.")
		}
	}
	if h.stalled && !was.stalled {
		add(OnStall, "no session has ended", sentence(s.Stall.Why)+"Live shows the oldest sessions.")
	}
	if short := shortOf(s); short != (engine.Budget{}) && short != was.short {
		h.short = short
		add(OnShort, "the budget will not last", sentence(s.Budget.Short)+"You can raise it while the run continues.")
	}
	return all
}

// unavailable returns the names of the services that do not answer.
func unavailable(s *engine.Snapshot) map[string]bool {
	names := map[string]bool{}
	for _, v := range Unavailable(s) {
		names[v.Name] = true
	}
	return names
}

// shortOf returns the budget that is running out, or the zero value.
func shortOf(s *engine.Snapshot) (b engine.Budget) {
	if s.Budget.Short != "" && s.Phase != engine.Draining && s.Phase != engine.Ended {
		b = s.Budget.Budget
	}
	return b
}

// pausedByPerson and resumedByPerson report whether a person changed the phase last.
func pausedByPerson(s *engine.Snapshot) bool  { return phasedByPerson(s, engine.Paused.String()) }
func resumedByPerson(s *engine.Snapshot) bool { return phasedByPerson(s, engine.Running.String()) }

func phasedByPerson(s *engine.Snapshot, to string) bool {
	for i := len(s.Changes) - 1; i >= 0; i-- {
		if c := &s.Changes[i]; c.What == engine.PhaseChange {
			automatic := c.Who == engine.BreakerName || slices.ContainsFunc(s.Services, func(one engine.ServiceState) bool { return one.Name == c.Who })
			return c.New == to && !automatic
		}
	}
	return false
}

// summary returns a one-line summary of a run's end.
func summary(s *engine.Snapshot) string {
	text := engine.FormatCount(s.Ended) + " sessions in " + engine.FormatDuration(s.Elapsed.Round(1e9))
	if bad := s.Outcomes[engine.Failed] + s.Outcomes[engine.TimedOut]; bad > 0 {
		text += fmt.Sprintf(", %s of them failed or timed out", engine.FormatCount(bad))
	}
	return text + ". See Results."
}

// failureReason returns why a run failed, or "" if it did not.
func failureReason(s *engine.Snapshot) string {
	if s.Ending == engine.EndStopped || s.Reason == engine.AllDone || s.Reason == engine.NoAgents {
		return ""
	}
	return sentence(s.Reason)
}

// sentence ends a text with a period so that another sentence can follow. It returns "" for "".
func sentence(text string) string {
	if text == "" {
		return ""
	}
	return text + ". "
}
