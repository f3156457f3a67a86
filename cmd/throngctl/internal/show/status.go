package show

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
)

// shownOldest is how many sessions in flight are listed.
const shownOldest = 5

// Status prints the status of a run. Warnings come last, next to the prompt.
func Status(out io.Writer, s *view.Status) error {
	fmt.Fprintf(out, "run %s: %s\n", s.Run, s.Title)
	w := NewTable(out)
	row := func(name string, parts ...string) {
		if text := Join("; ", parts...); text != "" {
			Row(w, "  %s\t%s\n", name, text)
		}
	}
	row("phase", Join(": ", Join(", ", s.Phase, s.Ending), s.Reason), s.Inexact)
	row("unconfirmed", Unconfirmed(s))
	row("origin", s.Origin)
	cycles, cycle := view.CyclesDone(s.Cycle, s.Cycles), ofAll(fmt.Sprintf("cycle %d:", s.Cycle), s.CycleEnded, s.CycleTotal)
	if s.Survey != nil {
		cycles, cycle = "", ""
	}
	row("progress", cycles, Join(", ", s.Done().String(), s.Done().Percent()), cycle,
		fmt.Sprintf("%s failed", engine.FormatCount(s.Failed)), view.FormatPerSecond(s.SessionRate))
	row("time", seconds(s.Elapsed)+" elapsed", s.TimeLeft())
	row("limit", fmt.Sprintf("%d, %d in flight", s.Limit, s.InFlight), bounds(s), steered(s))
	if s.Breaker != engine.BreakerClosed.String() {
		row("breaker", s.Breaker, s.BreakerWhy, at(s.NextProbe, "next probe"))
	}
	for i := range s.Services {
		printAsked(row, &s.Services[i])
	}
	if b := s.Budget; b != nil {
		row("budget", taken("$"+decimals(b.Spent.Cost), b.Limit.Cost, "$"+decimals(b.Limit.Cost)),
			taken(engine.FormatCount(b.Spent.Tokens), float64(b.Limit.Tokens), engine.FormatCount(b.Limit.Tokens)+" tokens"),
			taken(engine.FormatCount(b.Spent.Requests), float64(b.Limit.Requests), engine.FormatCount(b.Limit.Requests)+" requests"),
			taken(seconds(s.Elapsed), b.Limit.Seconds, seconds(b.Limit.Seconds)), b.Short)
	}
	row("checkpoints", fmt.Sprint(s.Checkpoints), at(s.LastCheckpoint, "last"))
	if s.Stall != nil {
		row("stall", at(s.Stall.Since, "no session has finished since"), s.Stall.Why)
	}
	for _, d := range s.Oldest[:min(len(s.Oldest), shownOldest)] {
		row("in flight", cmp.Or(d.Name, fmt.Sprint(d.Agent)), at(d.Began, "since"), Join(" ", d.Path, d.Service), d.ThrottledBy)
	}
	if s.Workers != "" {
		row("workers", s.Workers)
	}
	if s.Sink != nil {
		row("results", s.Sink.Words)
	}
	if c := s.Connections; c != nil {
		row("connections", fmt.Sprintf("%d of %d open, %d in use, %d idle, %d waiting", c.Open, c.Size, c.InUse, c.Idle, c.Waiting), server(c))
	}
	if s.Overhead != nil {
		Overhead(row, s.Overhead)
	}
	for _, f := range s.Health {
		if f.Level >= health.Warning {
			row(f.Level.String(), string(f.Metric)+" "+f.Value+" ("+f.Threshold+")", f.Advice)
		}
	}
	return w.Flush()
}

// Overhead prints where the time goes, and the bottleneck.
func Overhead(row func(name string, parts ...string), o *view.Overhead) {
	if o.Words != "" {
		row("time spent", o.Words)
	}
	if o.Why != "" {
		row("limited by", o.Why, o.Advice)
	}
}

// server returns the number of clients of the database server, or "" if unknown.
func server(c *view.Connections) string {
	if c.Server == nil || c.Max == nil {
		return ""
	}
	return fmt.Sprintf("the server has %d of %d", *c.Server, *c.Max)
}

// printAsked prints a line for a service.
func printAsked(row func(name string, parts ...string), s *engine.ServiceState) {
	parts := []string{ofAll("calls", int64(s.InFlight), int64(s.Bound))}
	parts = append(parts, limiterParts(s.Waiting, s.Rate, s.RateWhy, s.Blocked, s.Refused)...)
	if s.Breaker != engine.BreakerClosed {
		parts = append(parts, "breaker "+Join(": ", s.Breaker.String(), s.BreakerWhy))
	}
	row("service "+s.Name, append(parts, s.Exhausted, view.Batches(s.Batches))...)
	for i := range s.Buckets {
		b := &s.Buckets[i]
		row("  "+b.Name, append(limiterParts(b.Waiting, b.Rate, b.RateWhy, b.Blocked, b.Refused), b.Exhausted)...)
	}
}

// limiterParts describes the state of a rate limiter.
func limiterParts(waiting int, perSecond float64, why string, blocked time.Time, refused int64) (parts []string) {
	rate := ""
	if perSecond > 0 {
		rate = engine.FormatRate(perSecond)
	}
	if waiting > 0 {
		parts = append(parts, engine.FormatCount(int64(waiting))+" waiting")
	}
	parts = append(parts, Join(": ", rate, strings.TrimPrefix(strings.TrimPrefix(why, rate), ": ")), at(blocked, "nothing starts before"))
	if refused > 0 {
		parts = append(parts, engine.FormatCount(refused)+" refused (429)")
	}
	return parts
}

// ofAll formats a count and its maximum, if it has one.
func ofAll(what string, n, all int64) string {
	text := what + " " + engine.FormatCount(n)
	if all > 0 {
		text += " of " + engine.FormatCount(all)
	}
	return text
}

func bounds(s *view.Status) string {
	if s.Governor == "" || s.Governor == engine.Manual {
		return s.Governor
	}
	return fmt.Sprintf("%s from %d to %d", s.Governor, s.Floor, s.Ceiling)
}

// at formats a time with a description, or returns "" for a zero time.
func at(when time.Time, what string) string {
	if when.IsZero() {
		return ""
	}
	return what + " " + when.Local().Format(time.TimeOnly)
}

// stamped appends a time of day to a text, if the time is known.
func stamped(text string, when time.Time) string {
	if text == "" || when.IsZero() {
		return text
	}
	return text + " (" + when.Local().Format(time.TimeOnly) + ")"
}

// steered describes the last change of the limit, or returns "".
func steered(s *view.Status) string {
	if s.Steered == "" {
		return ""
	}
	return stamped(Join(": ", s.SteeredBy, s.Steered), s.SteeredAt)
}

// taken describes how much of a budget is used, or returns "" if there is no budget.
func taken(so string, bound float64, all string) string {
	if bound == 0 {
		return ""
	}
	return so + " of " + all
}

func decimals(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// Unconfirmed says how many requests of a run may have been executed more than once, and how to list them.
func Unconfirmed(s *view.Status) string {
	if s.Unconfirmed == 0 {
		return ""
	}
	return (&engine.UnconfirmedList{All: s.Unconfirmed}).Sentence() + "; list them with: throngctl check --after " + string(s.Run)
}

// Ended prints how a run ended and how to continue.
func Ended(out io.Writer, r *engine.RunRecord) {
	done := view.DoneOf(r)
	text := done.Brief() + " sessions done"
	if done.Survey != nil {
		text = done.String()
	}
	if r.Queued != "" {
		fmt.Fprintf(out, "run %s: %s\n  waiting in the queue as %s; throngctl queue shows its place\n  cancel it with: throngctl queue cancel %s\n", r.ID, r.DisplayName(), r.Queued, r.Queued)
		return
	}
	fmt.Fprintf(out, "run %s: %s\n  not in progress: %s, %s\n", r.ID, r.DisplayName(), r.State(), text)
	if why := view.Why(r); why != "" {
		fmt.Fprintf(out, "  ended: %s\n", why)
	}
	switch {
	case r.Ending == engine.EndFinished:
	case r.Experiment != "":
		fmt.Fprintf(out, "  it belongs to the experiment %q: throngctl experiment run FILE continues both; throngctl experiment list has the files\n", r.Experiment)
	case r.Ending == engine.EndHopeless:
		fmt.Fprintf(out, "  to continue: %s\n", app.NextSteps(r))
	case r.Ending == engine.EndOutOfBudget:
		fmt.Fprintf(out, "  resume with: throngctl resume %s, with a larger budget\n", r.ID)
	default:
		fmt.Fprintf(out, "  resume with: throngctl resume %s\n", r.ID)
	}
}
