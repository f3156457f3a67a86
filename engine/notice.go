package engine

import (
	"fmt"
	"slices"
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
	OnGoingOn Occasion = "going-on"
)

// NoticeKind describes an occasion for display.
type NoticeKind struct {
	Occasion Occasion
	About    string // when the notification is sent, as the beginning of a sentence
	Urgent   bool   // a person may have to act
	Once     bool   // occurs once per run
}

// NoticeKinds is the table of occasions, in display order.
var NoticeKinds = []NoticeKind{
	{OnEnd, "A run has ended", false, true},
	{OnBudget, "It has ended for want of budget", true, true},
	{OnPause, "It pauses by itself", true, false},
	{OnBreaker, "Too much fails: its breaker opens", true, false},
	{OnService, "A service stops answering", true, false},
	{OnStall, "No session ends any more", true, false},
	{OnShort, "The budget will not last", true, false},
	{OnGoingOn, "It goes on by itself", false, false},
}

// KindOf returns the entry of an occasion in the table.
func KindOf(o Occasion) NoticeKind {
	for _, k := range NoticeKinds {
		if k.Occasion == o {
			return k
		}
	}
	return NoticeKind{Occasion: o}
}

// Notice is the content of a notification.
type Notice struct {
	Occasion Occasion
	Title    string // without the scenario's title, which precedes it
	Text     string
}

// Notifier finds the changes of a run that trigger notifications. The first snapshot only sets the initial state. The
// zero value is ready to use, for one run and one goroutine.
type Notifier struct {
	seen    bool
	phase   Phase
	open    bool            // the run's breaker was open
	alone   bool            // the run had paused automatically, and a notification was sent
	stalled bool            // no session ended
	short   Budget          // the budget that was reported as running out
	refused map[string]bool // services whose breaker was open
}

// nothingLost follows the reason for a pause.
const nothingLost = ". Nothing that was done is lost; Live and throngctl status say what to do."

// See takes the latest snapshot and returns its notifications, most severe first.
func (h *Notifier) See(s *Snapshot) (news []Notice) {
	was, refused := *h, refusing(s)
	h.phase, h.open, h.refused, h.stalled = s.Phase, s.Breaker != BreakerClosed, refused, s.Stall != nil
	if !h.seen {
		h.seen, h.short = true, shortOf(s)
		h.alone = s.Phase == Paused && !pausedByPerson(s)
		return nil
	}
	tell := func(o Occasion, title, text string) { news = append(news, Notice{o, title, text}) }
	paused := s.Phase == Paused && was.phase != Paused && !pausedByPerson(s)
	switch {
	case s.Phase == Ended && was.phase == Ended:
		return nil
	case s.Phase == Ended && s.Ending == EndOutOfBudget:
		tell(OnBudget, s.Ending.String(), sentenceOf(s.Reason)+endingOf(s))
		return news
	case s.Phase == Ended:
		tell(OnEnd, s.Ending.String(), badReasonOf(s)+endingOf(s))
		return news
	case h.open && !was.open:
		h.alone = true
		tell(OnBreaker, "paused, too much fails", s.BreakerWhy+nothingLost)
	case paused:
		h.alone = true
		tell(OnPause, "paused", s.Reason+nothingLost)
	case s.Phase == Running && was.alone:
		h.alone = false
		if was.phase == Paused && !resumedByPerson(s) {
			tell(OnGoingOn, "goes on", "What it paused for is over.")
		}
	}
	for i := range s.Services {
		if name := s.Services[i].Name; refused[name] && !was.refused[name] {
			tell(OnService, name+" is not answering", "Its breaker is open: requests wait until it answers again. The run goes on without.")
		}
	}
	if h.stalled && !was.stalled {
		tell(OnStall, "no session ends any more", sentenceOf(s.Stall.Why)+"Live shows the oldest ones.")
	}
	if short := shortOf(s); short != (Budget{}) && short != was.short {
		h.short = short
		tell(OnShort, "the budget will not last", sentenceOf(s.Budget.Short)+"A larger one can be set while the run goes on.")
	}
	return news
}

// refusing returns the services whose breaker is open or half-open.
func refusing(s *Snapshot) map[string]bool {
	names := map[string]bool{}
	for i := range s.Services {
		if s.Services[i].Breaker != BreakerClosed {
			names[s.Services[i].Name] = true
		}
	}
	return names
}

// shortOf returns the budget that is running out, or the zero value.
func shortOf(s *Snapshot) (b Budget) {
	if s.Budget.Short != "" && s.Phase != Draining && s.Phase != Ended {
		b = s.Budget.Budget
	}
	return b
}

// pausedByPerson and resumedByPerson report whether a person changed the phase last.
func pausedByPerson(s *Snapshot) bool  { return phasedByPerson(s, Paused.String()) }
func resumedByPerson(s *Snapshot) bool { return phasedByPerson(s, Running.String()) }

func phasedByPerson(s *Snapshot, to string) bool {
	for i := len(s.Changes) - 1; i >= 0; i-- {
		if c := &s.Changes[i]; c.What == PhaseChange {
			itself := c.Who == BreakerName || slices.ContainsFunc(s.Services, func(one ServiceState) bool { return one.Name == c.Who })
			return c.New == to && !itself
		}
	}
	return false
}

// endingOf returns a one-line summary of a run's end.
func endingOf(s *Snapshot) string {
	text := FormatCount(s.Ended) + " sessions in " + FormatDuration(s.Elapsed.Round(1e9))
	if bad := s.Outcomes[Failed] + s.Outcomes[TimedOut]; bad > 0 {
		text += fmt.Sprintf(", %s of them failed or timed out", FormatCount(bad))
	}
	return text + ". Results shows what came of it."
}

// badReasonOf returns why a run failed, or "" if it did not.
func badReasonOf(s *Snapshot) string {
	if s.Ending == EndStopped || s.Reason == AllDone || s.Reason == NoAgents {
		return ""
	}
	return sentenceOf(s.Reason)
}

// sentenceOf ends a text with a period so that another sentence can follow. It returns "" for "".
func sentenceOf(text string) string {
	if text == "" {
		return ""
	}
	return text + ". "
}
