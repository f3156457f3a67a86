package view

import (
	"fmt"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Done is how many sessions of a run are done. The sessions that a fork took over from its parent count as done, because the run does not
// execute them again.
type Done struct {
	Sessions int64 // executed by the run itself
	Kept     int64 // taken over
	Planned  int64 // by the run itself; 0 if unknown
	Survey   *Survey
}

// DoneIn returns the sessions of a run in progress.
func DoneIn(s *engine.Snapshot) Done { return Done{s.Ended, s.Kept, s.Total, SurveyIn(s)} }

// DoneOf returns the sessions of a run of the store.
func DoneOf(r *engine.RunRecord) Done { return Done{r.Done, r.Kept, r.Total, SurveyOf(r)} }

// Count returns the number of sessions that are done.
func (d Done) Count() int64 { return d.Kept + d.Sessions }

// Total returns the number of sessions of the run, or 0 if it is unknown.
func (d Done) Total() int64 {
	if d.Planned <= 0 {
		return 0
	}
	return d.Kept + d.Planned
}

// Share returns the completed fraction, or 0 if it is unknown.
func (d Done) Share() float64 {
	if d.Planned <= 0 {
		return 0
	}
	return min(float64(d.Count())/float64(d.Total()), 1)
}

// Percent formats the completed fraction, such as "31%". Only a run whose last session has ended has 100%. It is "" if the fraction is
// unknown.
func (d Done) Percent() string {
	if d.Planned <= 0 {
		return ""
	}
	return wholePercent(d.Share())
}

// String formats the sessions, such as "2,806 of 8,928 sessions" or, of a survey, "300 of 300 agents asked, 298 answered".
func (d Done) String() string {
	if d.Survey != nil {
		return d.asked()
	}
	if total := d.Total(); total > 0 {
		return engine.FormatCount(d.Count()) + " of " + sessions(total)
	}
	return sessions(d.Count())
}

// WithCycles is String with the completed cycles, which a survey does not have.
func (d Done) WithCycles(open, cycles int) string {
	if d.Survey != nil {
		return d.String()
	}
	return d.String() + ", " + CyclesDone(open, cycles)
}

// Brief formats the sessions with their share, such as "2,806 (31%)".
func (d Done) Brief() string {
	text := engine.FormatCount(d.Count())
	if share := d.Percent(); share != "" {
		text += " (" + share + ")"
	}
	return text
}

// wholePercent rounds a fraction down, so that only a complete one is 100%.
func wholePercent(share float64) string { return fmt.Sprintf("%d%%", int(100*share)) }

// CyclesDone counts the completed cycles, such as "6 of 24 cycles done". Cycles are numbered from 0, as in the data, so that the number of
// completed cycles is also the number of the open one. cycles is 0 if the run ends by the clock.
func CyclesDone(open, cycles int) string {
	if cycles > 0 {
		return fmt.Sprintf("%s of %s done", engine.FormatCount(int64(min(open, cycles))), engine.Counted(int64(cycles), "cycle", "cycles"))
	}
	return engine.Counted(int64(open), "cycle", "cycles") + " done"
}

// Origin says which run a fork continues and from when, such as "continues Marketplace shoppers from 09:51:12". parent is the name of
// that run; "" if it is unknown. Origin is "" for a run that is not a fork.
func Origin(r *engine.RunRecord, parent string) string {
	if r.Parent == "" {
		return ""
	}
	if parent == "" {
		parent = "run " + string(r.Parent)
	}
	if IsSurvey(r) {
		return "asks the agents of " + parent + " " + After(r.ForkCycle)
	}
	text := "continues " + parent
	if r.ForkedAt.IsZero() {
		return text + fmt.Sprintf(" from the start of cycle %d", r.ForkCycle)
	}
	at, begun := r.ForkedAt.Local(), r.Created.Local()
	if at.Year() == begun.Year() && at.YearDay() == begun.YearDay() {
		return text + " from " + at.Format(time.TimeOnly)
	}
	return text + " from " + at.Format("2006-01-02 15:04:05")
}

// OriginSentence is Origin with what the run took over.
func OriginSentence(r *engine.RunRecord, parent string) string {
	text := Origin(r, parent)
	if text == "" {
		return ""
	}
	text = upper(text)
	if !IsSurvey(r) && !r.ForkedAt.IsZero() {
		text += fmt.Sprintf(", the start of cycle %d", r.ForkCycle)
	}
	if r.Kept > 0 {
		text += "; " + keptSessions(r.Kept)
	}
	return text + "."
}

func keptSessions(n int64) string {
	if n == 1 {
		return "1 session is kept"
	}
	return engine.FormatCount(n) + " sessions are kept"
}

// Continuing says which sessions a run that continues from a checkpoint keeps and which it runs again, such as "2,604 sessions are kept,
// and the 238 already done in cycle 7 run again". kept is the number of sessions that the checkpoint's run took over itself.
func Continuing(c *engine.CheckpointRecord, kept int64) string {
	kept += c.Kept
	text := "no session is kept"
	if kept > 0 {
		text = keptSessions(kept)
	}
	switch again := c.Done - c.Kept; {
	case again == 1:
		return text + fmt.Sprintf(", and the one already done in cycle %d runs again", c.Cycle)
	case again > 1:
		return text + fmt.Sprintf(", and the %s already done in cycle %d run again", engine.FormatCount(again), c.Cycle)
	}
	return text + ", and none runs again"
}
