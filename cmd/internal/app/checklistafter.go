package app

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/sqlite"
)

// checkTime is how long a check may take, and latestShown how many occurrences of an error are told.
const (
	checkTime   = 10 * time.Second
	latestShown = 3
)

// after is a run that is looked at after its end.
type after struct {
	store  *sqlite.Store
	record *engine.RunRecord
}

// afterChecks is the one table of what is looked at after a run.
var afterChecks = []struct {
	name string
	find func(a *after, ctx context.Context) engine.Check
}{
	{"Criteria", (*after).criteria},
	{"All agents done", (*after).done},
	{"Errors", (*after).errors},
	{"Unconfirmed requests", (*after).unconfirmed},
	{"Agents that failed", (*after).failed},
	{"Metrics", (*after).anomalies},
	{"Unsent rows", (*after).unsent},
	{"Open transactions", (*after).transactions},
	{"Checkpoints to clean", (*after).checkpoints},
}

// AfterList checks a run after its end: what it reached, what went wrong, and what it has left behind. One check may ask
// the database that results go to, and none takes longer than ten seconds. What cannot be found out is said so.
func AfterList(ctx context.Context, store *sqlite.Store, record *engine.RunRecord) []engine.Check {
	a := &after{store, record}
	all := make([]engine.Check, len(afterChecks))
	var wait sync.WaitGroup
	for i, c := range afterChecks {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTime)
			defer cancel()
			all[i] = c.find(a, ctx)
			all[i].Name = c.name
		})
	}
	wait.Wait()
	return all
}

// criteria says which of them the run met.
func (a *after) criteria(context.Context) engine.Check {
	var missed, open []string
	for _, j := range a.record.Verdict {
		switch {
		case j.Unknown:
			open = append(open, j.Criterion.Metric)
		case !j.Passed:
			missed = append(missed, fmt.Sprintf("%s %s: it was %s", j.Criterion.Metric, j.Criterion.Text, j.Shown))
		}
	}
	met, all := len(a.record.Verdict)-len(missed)-len(open), len(a.record.Verdict)
	switch {
	case all == 0 && a.record.Ending == engine.NotEnded:
		return unknown("the run is not over")
	case all == 0:
		return unknown("the scenario has none")
	case len(missed) > 0:
		return problem("see what changed, and the errors", "%d of %d met\n%s", met, all, strings.Join(missed, "\n"))
	case len(open) > 0:
		return warning("", "%d of %d met; not known: %s", met, all, strings.Join(open, ", "))
	}
	return fine("all %d met", all)
}

// done says whether every planned session has ended.
func (a *after) done(context.Context) engine.Check {
	r := a.record
	so := plural(r.Done, "session", "sessions")
	if r.Total > 0 {
		so = fmt.Sprintf("%s of %s", engine.FormatCount(r.Done), plural(r.Total, "session", "sessions"))
	}
	switch {
	case r.InProgress:
		return unknown("%s so far; the run goes on", so)
	case r.Ending == engine.EndFinished && r.Why() != "":
		return problem("see the errors", "%s ended: %s", so, r.Why())
	case r.Ending == engine.EndFinished:
		return fine("%s ended", so)
	case r.Ending == engine.EndHopeless:
		return problem(Afterwards(r), "%s ended: %s", so, r.Reason)
	case r.Ending == engine.EndFailed:
		return problem("what was done is kept; resume it once that is mended", "%s ended: %s", so, r.Reason)
	}
	why := r.State()
	if r.Reason != "" {
		why += ": " + r.Reason
	}
	return warning("resume it to go on with the rest", "%s ended; %s", so, why)
}

// errors tells the classes, each with the last agent and the latest occurrences.
func (a *after) errors(ctx context.Context) engine.Check {
	classes, err := a.store.LatestErrors(ctx, a.record.ID, latestShown)
	if err != nil {
		return unknown("%v", err)
	}
	if len(classes) == 0 {
		return fine("no session failed")
	}
	name := a.names(ctx)
	var bad int64
	var lines []string
	for _, latest := range classes {
		bad += latest[0].Count
		lines = append(lines, fmt.Sprintf("%s × %s, last: agent %s", latest[0].Class, engine.FormatCount(latest[0].Count), name(latest[0].Agent)))
		for _, n := range latest {
			first, _, _ := strings.Cut(n.Message, "\n")
			lines = append(lines, fmt.Sprintf("    cycle %d, agent %s, step %s: %s", n.Cycle, name(n.Agent), n.Path, first))
		}
	}
	text := plural(bad, "session", "sessions") + " failed or timed out\n" + strings.Join(lines, "\n")
	if share := float64(bad) / float64(max(a.record.Done, 1)); share >= fewFailures {
		return problem("look at the step and the service that the most of them name", "%s", text)
	}
	return warning("look at the step and the service that the most of them name", "%s", text)
}

// shownUnconfirmed is how many requests that may have been carried out twice are listed.
const shownUnconfirmed = 20

// unconfirmed lists the changing requests that may have been carried out twice.
func (a *after) unconfirmed(ctx context.Context) engine.Check {
	doubts, err := a.store.Unconfirmed(ctx, a.record.ID, shownUnconfirmed)
	switch {
	case err != nil:
		return unknown("%v", err)
	case doubts.All == 0:
		return fine("none: no changing request was sent again without proof that it was carried out once")
	}
	name := a.names(ctx)
	_ = doubts.Call(func(agent int) (string, error) { return name(agent), nil }) // it does not fail
	return problem(engine.UnconfirmedAdvice, "%s\n%s", doubts.Says(), strings.Join(doubts.Lines(), "\n"))
}

// fewFailures is the share of sessions from which on failures are no exceptions.
const fewFailures = 0.05

// names is how agents are called; by their index, where nobody knows.
func (a *after) names(ctx context.Context) func(agent int) string {
	names, err := review.Names(ctx, a.store, a.record.ID)
	return func(agent int) string {
		if err == nil {
			if name, err := names.Agent(agent); err == nil {
				return name
			}
		}
		return fmt.Sprint(agent)
	}
}

// failed names the agents.
func (a *after) failed(ctx context.Context) engine.Check {
	totals, err := a.store.Totals(ctx, a.record.ID)
	if err != nil {
		return unknown("%v", err)
	}
	name := a.names(ctx)
	text, err := review.Failures(&totals, func(agent int) (string, error) { return name(agent), nil })
	switch {
	case err != nil:
		return unknown("%v", err)
	case text == "":
		return fine("none")
	}
	return mended(warning("the export has them all, in sessions.csv", "%s", text), engine.MendExport, "")
}

// anomalies tells what the metrics had out of the ordinary.
func (a *after) anomalies(ctx context.Context) engine.Check {
	var look health.Anomalies
	rows := 0
	for m, err := range a.store.Metrics(ctx, a.record.ID, time.Time{}) {
		if err != nil {
			return unknown("%v", err)
		}
		look.See(m)
		rows++
	}
	if rows == 0 {
		return unknown("none were recorded")
	}
	var lines []string
	worst := health.Warning
	for _, n := range look.All() {
		worst = max(worst, n.Level)
		lines = append(lines, fmt.Sprintf("%s: %s for %s, first at %s; at worst %s (%s)", n.Metric, n.Level,
			engine.FormatDuration(time.Duration(n.Seconds)*time.Second), n.Since.Local().Format("15:04:05"), n.Worst, n.Threshold))
	}
	if look.Gaps > 0 {
		lines = append(lines, fmt.Sprintf("no figures for %s, first at %s: the machine slept, or the run was interrupted",
			engine.FormatDuration(look.Gaps), look.GapSince.Local().Format("15:04:05")))
	}
	switch {
	case len(lines) == 0:
		return fine("nothing out of the ordinary in %s", plural(int64(rows), "second", "seconds"))
	case worst == health.Critical:
		return problem("", "%s\n%s", plural(int64(len(lines)), "anomaly", "anomalies"), strings.Join(lines, "\n"))
	}
	return warning("", "%s\n%s", plural(int64(len(lines)), "anomaly", "anomalies"), strings.Join(lines, "\n"))
}

// unsent tells which databases have not confirmed all rows.
func (a *after) unsent(ctx context.Context) engine.Check {
	all, err := a.store.Sendings(ctx, a.record.ID)
	if err != nil {
		return unknown("%v", err)
	}
	if len(all) == 0 {
		return fine("the results are kept here only; they go to no database")
	}
	var waiting, sent []string
	for _, s := range all {
		if s.Unsent > 0 {
			waiting = append(waiting, fmt.Sprintf("%s for %s", plural(s.Unsent, "row waits", "rows wait"), s.Target))
		} else {
			sent = append(sent, s.Target)
		}
	}
	if len(waiting) == 0 {
		return fine("%s has all rows", strings.Join(sent, ", "))
	}
	return mended(warning("nothing is lost: they are kept here until they are confirmed", "%s", strings.Join(waiting, "; ")), engine.MendSend, "")
}

// transactions asks the server that results go to for what hangs there.
func (a *after) transactions(ctx context.Context) engine.Check {
	if !a.record.Settings.Remote {
		return fine("the results go to no database")
	}
	db, err := config.FindDatabase(nil, os.Getenv, a.store.Dir())
	if err != nil {
		return unknown("%v", err)
	}
	cfg, err := db.Config()
	if db.URL == "" || err != nil {
		return unknown("no database is configured now")
	}
	r, err := postgres.Check(ctx, cfg)
	switch {
	case r.MaxConnections == 0 && err != nil:
		return mended(unknown("%s cannot be asked: %v", db.Target(), err), engine.MendAgain, "")
	case r.MaxConnections == 0:
		return unknown("%s does not tell", r.Target)
	case r.IdleInTransaction > 0:
		return warning("see in pg_stat_activity who holds them: each keeps a connection and perhaps locks",
			"%s idle in a transaction on %s", plural(int64(r.IdleInTransaction), "client is", "clients are"), r.Target)
	case r.Hidden > 0:
		return unknown("none that this user is told of; %s hidden from it", plural(int64(r.Hidden), "client is", "clients are"))
	}
	return fine("none on %s", r.Target)
}

// checkpoints tells what of them is not needed any more.
func (a *after) checkpoints(ctx context.Context) engine.Check {
	all, err := a.store.Checkpoints(ctx, a.record.ID)
	if err != nil {
		return unknown("%v", err)
	}
	var size int64
	for _, c := range all {
		size += c.SizeBytes
	}
	switch n := int64(len(all)); {
	case n == 0:
		return fine("there are none")
	case n == 1 || a.record.Ending != engine.EndFinished:
		return fine("%s, %s, to go on from", plural(n, "checkpoint", "checkpoints"), engine.FormatBytes(size))
	default:
		c := fine("%s, %s; the run is over, and they serve forks only", plural(n, "checkpoint", "checkpoints"), engine.FormatBytes(size))
		c.Hint = "keep those that you would fork from"
		return mended(c, engine.MendFree, "")
	}
}
