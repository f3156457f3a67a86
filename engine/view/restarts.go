package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/throng-sim/throng/engine"
)

// barrierEnds is how soon after its last cycle a run that is complete has ended.
const barrierEnds = time.Second

// WithRestarts returns the changes of a run and, as further changes, when it was interrupted and when another process resumed it, in order
// of time.
//
// began is when the present process began to execute the run, which may have no rows in the store yet; the zero time if none does.
func WithRestarts(c *engine.RunTimeline, began time.Time) []engine.ChangeRow {
	all, stretches := slices.Clone(c.Changes), slices.Clip(c.Stretches)
	if n := len(stretches); n > 0 && stretches[n-1].To.Before(began) {
		stretches = append(stretches, engine.Stretch{From: began, To: began})
	}
	for i := 1; i < len(stretches); i++ {
		before, from := stretches[i-1], stretches[i].From
		was := "stopped"
		if interrupted(c, before) {
			was = "interrupted"
			all = append(all, engine.ChangeRow{
				At: before.To, Cycle: c.Cycle(first(c), before.To), What: engine.RestartChange, Old: "running", New: was, Who: "Throng",
				Why: "The program ended without stopping the run. Nothing that was journaled is lost.",
			})
		}
		all = append(all, engine.ChangeRow{
			At: from, Cycle: c.Cycle(first(c), from), What: engine.RestartChange, Old: was, New: "resumed", Who: "Throng",
			Why: "Throng was not running for " + engine.FormatDuration(from.Sub(before.To).Round(time.Second)) + fmt.Sprintf(", from %s to %s.",
				before.To.Local().Format(time.TimeOnly), from.Local().Format(time.TimeOnly)),
		})
	}
	slices.SortStableFunc(all, func(a, b engine.ChangeRow) int { return a.At.Compare(b.At) })
	return all
}

// first returns the first cycle of a run.
func first(c *engine.RunTimeline) int {
	if len(c.Barriers) == 0 {
		return 0
	}
	return c.Barriers[0].Cycle
}

// interrupted reports whether the process of a stretch ended without ending the run: it had not begun to stop, and had not just completed
// a cycle, which was the last one if the run was extended later.
func interrupted(c *engine.RunTimeline, s engine.Stretch) bool {
	within := func(at time.Time) bool { return !at.Before(s.From) && !at.After(s.To) }
	for i := range c.Changes {
		if row := &c.Changes[i]; row.What == engine.PhaseChange && within(row.At) && (row.New == engine.Draining.String() || row.New == "canceling") {
			return false
		}
	}
	return !slices.ContainsFunc(c.Barriers, func(b engine.BarrierRow) bool { return within(b.At) && s.To.Sub(b.At) < barrierEnds })
}

// AllChanges joins the changes of the earlier processes of a run with the newest of this process, up to a moment, which may overlap.
func AllChanges(earlier, newest []engine.ChangeRow, until time.Time) []engine.ChangeRow {
	n := len(earlier)
	for n > 0 && earlier[n-1].At.After(until) {
		n--
	}
	all := slices.Clip(earlier[:n])
	var last time.Time
	if n > 0 {
		last = all[n-1].At
	}
	for i := range newest {
		if c := &newest[i]; c.At.Truncate(time.Microsecond).After(last) { // the store keeps microseconds
			all = append(all, *c)
		}
	}
	return all
}

// LastMove returns the governor's last move of the limit, or nil if the limit was set by a person since.
func LastMove(changes []engine.ChangeRow) *engine.ChangeRow {
	for i := len(changes) - 1; i >= 0; i-- {
		switch c := &changes[i]; c.What {
		case engine.LimitChange:
			return c
		case engine.LimitSetting, engine.GovernorSetting:
			return nil
		}
	}
	return nil
}
