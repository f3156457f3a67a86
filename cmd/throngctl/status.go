package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app"
	"github.com/throng-sim/throng/cmd/internal/control"
	"github.com/throng-sim/throng/cmd/internal/dash"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/sqlite"
)

type statusCmd struct {
	whichRun
	Follow      bool   `short:"f" help:"Keep showing it until the run ends: as a dashboard in a terminal, else every few seconds."`
	At          string `placeholder:"TIME" help:"Show an earlier moment: 10m after the start, 15:04:05 or 2006-01-02T15:04:05."`
	NoDashboard bool   `help:"With --follow: print lines instead of the dashboard."`
	jsonFlag
}

// attach shows the dashboard of a run that another process works on.
func (t *terminal) attach(ctx context.Context, run engine.RunID, in, out *os.File) error {
	return t.steer(ctx, string(run), func(ctx context.Context, watch *control.Client, id engine.RunID) (err error) {
		order, err := control.Dial(ctx, t.data, id)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, order.Close()) }()
		d, err := dash.Open(dash.Config{In: in, Out: out, Look: dash.LookOf(os.Getenv), Watch: watch, Order: order})
		if err != nil {
			return err
		}
		return d.Run(ctx)
	})
}

// followEvery is how far apart the pictures of a run are.
const followEvery = 2 * time.Second

// Run is called by kong.
func (c *statusCmd) Run(ctx context.Context, t *terminal) error {
	if c.At != "" {
		return c.then(ctx, t)
	}
	var record *engine.RunRecord
	var ended *view.Status
	err := t.look(ctx, func(store *sqlite.Store) (err error) {
		if record, err = inProgress(ctx, store, c.RunID); err != nil {
			return err
		}
		if record == nil {
			newest, err := pick(ctx, store, "")
			if err != nil {
				return err
			}
			record = &newest
		}
		if !record.InProgress {
			if ended, err = endedStatus(ctx, store, record); err == nil {
				ended.Sink, err = t.unsent(ctx, store, record.ID)
			}
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case ended != nil && c.JSON:
		return t.showStatus(ended, true)
	case ended != nil:
		t.showEnded(record)
		if record.Inexact != nil {
			fmt.Fprintf(t.out, "  result: %s\n", record.Inexact)
		}
		if says := unconfirmedOf(ended); says != "" {
			fmt.Fprintf(t.out, "  unconfirmed: %s\n", says)
		}
		if o := ended.Overhead; o != nil {
			printOverhead(func(name string, parts ...string) { fmt.Fprintf(t.out, "  %s: %s\n", name, join("; ", parts...)) }, o)
		}
		if ended.Sink != nil {
			fmt.Fprintf(t.out, "  %s\n", ended.Sink.Words)
		}
		return nil
	}
	if in, out, ok := t.files(); ok && c.Follow && !c.NoDashboard && !t.json {
		return t.attach(ctx, record.ID, in, out)
	}
	return t.steer(ctx, string(record.ID), func(ctx context.Context, client *control.Client, _ engine.RunID) error {
		for first := true; ; first = false {
			s, err := client.Status(ctx)
			switch {
			case errors.Is(err, engine.ErrEnded) && !first:
				return nil
			case err != nil:
				return err
			}
			if err := t.showStatus(s, c.JSON); err != nil {
				return err
			}
			if !c.Follow || s.Phase == engine.Ended.String() {
				return nil
			}
			select {
			case <-time.After(followEvery):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	})
}

// endedStatus returns the status of a run that is not in progress, from the store.
func endedStatus(ctx context.Context, store *sqlite.Store, r *engine.RunRecord) (*view.Status, error) {
	totals, err := store.Totals(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	checkpoints, err := store.Checkpoints(ctx, r.ID)
	if err != nil {
		return nil, err
	}
	s := view.OfRecord(r, &totals, time.Now())
	s.Checkpoints = len(checkpoints)
	doubts, err := store.Unconfirmed(ctx, r.ID, 0) // of sessions that have not ended, too
	if err != nil {
		return nil, err
	}
	s.Unconfirmed = doubts.All
	for _, c := range checkpoints {
		if c.At.After(s.LastCheckpoint) {
			s.LastCheckpoint = c.At.UTC()
		}
	}
	return s, nil
}

// unsent says what of a run waits for the database that is configured; nil where there is none, or it never was to go
// there.
func (t *terminal) unsent(ctx context.Context, store *sqlite.Store, run engine.RunID) (*view.Sink, error) {
	db, err := databaseFlag{}.find(t)
	if err != nil || db.URL == "" {
		return nil, err
	}
	s := &view.Sink{Target: db.Target()}
	switch s.Unsent, err = store.Unsent(ctx, run, s.Target); {
	case errors.Is(err, engine.ErrNotFound):
		return nil, nil //nolint:nilnil // it is not to go there
	case err != nil:
		return nil, err
	case s.Unsent > 0:
		s.Words = fmt.Sprintf("%s rows are not in %s yet; send them with: throngctl push %s", engine.FormatCount(s.Unsent), s.Target, run)
	default:
		s.Words = "all rows are in " + s.Target
	}
	return s, nil
}

// unconfirmedOf says how many requests of a run may have been carried out more than once, and where they are listed.
func unconfirmedOf(s *view.Status) string {
	if s.Unconfirmed == 0 {
		return ""
	}
	return (&engine.UnconfirmedList{All: s.Unconfirmed}).Says() + "; list them with: throngctl check --after " + string(s.Run)
}

// showEnded prints how a run ended and how to continue.
func (t *terminal) showEnded(r *engine.RunRecord) {
	fmt.Fprintf(t.out, "run %s: %s\n  not in progress: %s, %s sessions done\n", r.ID, r.Title, r.State(), doneOf(r.Done, r.Total))
	if why := r.Why(); why != "" {
		fmt.Fprintf(t.out, "  ended: %s\n", why)
	}
	switch r.Ending {
	case engine.EndFinished:
	case engine.EndHopeless:
		fmt.Fprintf(t.out, "  to continue: %s\n", app.NextSteps(r))
	case engine.EndOutOfBudget:
		fmt.Fprintf(t.out, "  resume with: throngctl resume %s, with a larger budget\n", r.ID)
	default:
		fmt.Fprintf(t.out, "  resume with: throngctl resume %s\n", r.ID)
	}
}

func (t *terminal) showStatus(s *view.Status, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(t.out).Encode(s)
	}
	return printStatus(t.out, s)
}

// shownOldest is how many sessions in flight are listed.
const shownOldest = 5

// printStatus writes what a person would ask for first: what is unwell comes last, where the eye is.
func printStatus(out io.Writer, s *view.Status) error {
	fmt.Fprintf(out, "run %s: %s\n", s.Run, s.Title)
	w := tabwriter.NewWriter(out, 2, 4, 2, ' ', 0)
	row := func(name string, parts ...string) {
		if text := join("; ", parts...); text != "" {
			rowf(w, "  %s\t%s\n", name, text)
		}
	}
	row("phase", join(": ", join(", ", s.Phase, s.Ending), s.Reason), s.Inexact)
	row("unconfirmed", unconfirmedOf(s))
	row("progress", ofAll("cycle", int64(s.Cycle), int64(s.Cycles)), doneOf(s.Sessions, s.Planned)+" sessions done",
		fmt.Sprintf("%s of %s in this cycle", engine.FormatCount(s.CycleEnded), engine.FormatCount(s.CycleTotal)),
		fmt.Sprintf("%s failed", engine.FormatCount(s.Failed)), fmt.Sprintf("%.1f/s", s.SessionRate))
	row("time", seconds(s.Elapsed)+" elapsed", left(s.Remaining))
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
		row("in flight", cmp.Or(d.Name, fmt.Sprint(d.Agent)), at(d.Began, "since"), join(" ", d.Path, d.Service), d.Gate)
	}
	if s.Sink != nil {
		row("results", s.Sink.Words)
	}
	if c := s.Connections; c != nil {
		row("connections", fmt.Sprintf("%d of %d open, %d in use, %d idle, %d waiting", c.Open, c.Size, c.InUse, c.Idle, c.Waiting), server(c))
	}
	if s.Overhead != nil {
		printOverhead(row, s.Overhead)
	}
	for _, f := range s.Health {
		if f.Level >= health.Warning {
			row(f.Level.String(), string(f.Metric)+" "+f.Value+" ("+f.Threshold+")", f.Advice)
		}
	}
	return w.Flush()
}

// printOverhead says where the time goes, and what keeps the run from going faster.
func printOverhead(row func(name string, parts ...string), o *view.Overhead) {
	if o.Words != "" {
		row("time spent", o.Words)
	}
	if o.Why != "" {
		row("limited by", o.Why, o.Advice)
	}
}

// server is how many clients the database server has; "" where it does not say.
func server(c *view.Connections) string {
	if c.Server == nil || c.Max == nil {
		return ""
	}
	return fmt.Sprintf("the server has %d of %d", *c.Server, *c.Max)
}

// printAsked writes a line for a service.
func printAsked(row func(name string, parts ...string), s *engine.ServiceState) {
	parts := []string{ofAll("calls", int64(s.InFlight), int64(s.Bound))}
	parts = append(parts, limiterParts(s.Waiting, s.Rate, s.RateWhy, s.Blocked, s.Refused)...)
	if s.Breaker != engine.BreakerClosed {
		parts = append(parts, "breaker "+join(": ", s.Breaker.String(), s.BreakerWhy))
	}
	row("service "+s.Name, append(parts, s.Exhausted)...)
	for i := range s.Buckets {
		b := &s.Buckets[i]
		row("  "+b.Name, append(limiterParts(b.Waiting, b.Rate, b.RateWhy, b.Blocked, b.Refused), b.Exhausted)...)
	}
}

// limiterParts say what a rate limiter does.
func limiterParts(waiting int, perSecond float64, why string, blocked time.Time, refused int64) (parts []string) {
	rate := ""
	if perSecond > 0 {
		rate = engine.FormatRate(perSecond)
	}
	if waiting > 0 {
		parts = append(parts, engine.FormatCount(int64(waiting))+" waiting")
	}
	parts = append(parts, join(": ", rate, strings.TrimPrefix(strings.TrimPrefix(why, rate), ": ")), at(blocked, "nothing starts before"))
	if refused > 0 {
		parts = append(parts, engine.FormatCount(refused)+" refused (429)")
	}
	return parts
}

// join joins the parts that are not empty.
func join(between string, parts ...string) string {
	var all []string
	for _, p := range parts {
		if p != "" {
			all = append(all, p)
		}
	}
	return strings.Join(all, between)
}

// ofAll is a count of a whole that may have no bound.
func ofAll(what string, n, all int64) string {
	text := what + " " + engine.FormatCount(n)
	if all > 0 {
		text += " of " + engine.FormatCount(all)
	}
	return text
}

func seconds(s float64) string { return engine.FormatDuration(time.Duration(s * float64(time.Second))) }

func left(remaining *float64) string {
	if remaining == nil {
		return ""
	}
	return seconds(*remaining) + " left"
}

func bounds(s *view.Status) string {
	if s.Governor == "" || s.Governor == engine.Manual {
		return s.Governor
	}
	return fmt.Sprintf("%s from %d to %d", s.Governor, s.Floor, s.Ceiling)
}

// at says when something was or will be; "" where that is not known.
func at(when time.Time, what string) string {
	if when.IsZero() {
		return ""
	}
	return what + " " + when.Local().Format(time.TimeOnly)
}

// stamped is a text with the time of day that belongs to it, where that is known.
func stamped(text string, when time.Time) string {
	if text == "" || when.IsZero() {
		return text
	}
	return text + " (" + when.Local().Format(time.TimeOnly) + ")"
}

// steered says why the limit was moved last, and by what; "" is that it was not.
func steered(s *view.Status) string {
	if s.Steered == "" {
		return ""
	}
	return stamped(join(": ", s.SteeredBy, s.Steered), s.SteeredAt)
}

// taken is what was taken of a budget, in words; "" where it has no bound.
func taken(so string, bound float64, all string) string {
	if bound == 0 {
		return ""
	}
	return so + " of " + all
}

func decimals(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
