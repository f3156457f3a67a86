package app

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/config"
	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/health"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/engine/view"
	"github.com/throng-sim/throng/storage/postgres"
	"github.com/throng-sim/throng/storage/sqlite"
)

// checkTime bounds one check; latestShown bounds the listed occurrences of an error.
const (
	checkTime   = 10 * time.Second
	latestShown = 3
)

// finishedRun is a run to check after its end.
type finishedRun struct {
	store  *sqlite.Store
	record *engine.RunRecord
}

// postRunChecks is the table of all checks after a run.
var postRunChecks = []struct {
	name string
	find func(a *finishedRun, ctx context.Context) engine.Check
}{
	{"Success criteria", (*finishedRun).criteria},
	{"Completed sessions", (*finishedRun).done},
	{"Errors", (*finishedRun).errors},
	{"Unconfirmed requests", (*finishedRun).unconfirmed},
	{"Failed agents", (*finishedRun).failed},
	{"Model usage", (*finishedRun).usage},
	{"Metrics", (*finishedRun).anomalies},
	{"Unsent rows", (*finishedRun).unsent},
	{"Open transactions", (*finishedRun).transactions},
	{"Unneeded checkpoints", (*finishedRun).checkpoints},
}

// CheckAfterRun checks a run after its end: success, failures, and leftovers such as unsent rows. It may query the database
// that results go to. Each check takes at most ten seconds; one that cannot finish has the grade unknown.
func CheckAfterRun(ctx context.Context, store *sqlite.Store, record *engine.RunRecord) []engine.Check {
	a := &finishedRun{store, record}
	all := make([]engine.Check, len(postRunChecks))
	var wait sync.WaitGroup
	for i, c := range postRunChecks {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTime)
			defer cancel()
			all[i] = c.find(a, ctx)
			all[i].Name = c.name
		})
	}
	wait.Wait()
	if view.CriteriaMet(record) { // the scenario's own criteria decide what is a problem
		for i := range all {
			if all[i].Grade == engine.GradeProblem {
				all[i].Grade = engine.GradeWarning
			}
		}
	}
	return all
}

// criteria checks which success criteria the run met.
func (a *finishedRun) criteria(context.Context) engine.Check {
	var missed, open []string
	for _, j := range a.record.Verdict {
		switch {
		case j.Unknown:
			open = append(open, j.Criterion.Name())
		case !j.Passed:
			missed = append(missed, fmt.Sprintf("%s %s: was %s", j.Criterion.Name(), j.Criterion.Text, j.Shown))
		}
	}
	met, all := len(a.record.Verdict)-len(missed)-len(open), len(a.record.Verdict)
	switch {
	case all == 0 && a.record.Ending == engine.NotEnded:
		return unknown("the run has not ended")
	case all == 0:
		return unknown("the scenario defines no success criteria")
	case len(missed) > 0:
		return problem("see the changes and the errors", "%d of %d met\n%s", met, all, strings.Join(missed, "\n"))
	case len(open) > 0:
		return warning("", "%d of %d met; unknown: %s", met, all, strings.Join(open, ", "))
	}
	return fine("all %d met", all)
}

// done checks whether all planned sessions ended.
func (a *finishedRun) done(context.Context) engine.Check {
	r := a.record
	so := plural(r.Done, "session", "sessions")
	if r.Total > 0 {
		so = fmt.Sprintf("%s of %s", engine.FormatCount(r.Done), plural(r.Total, "session", "sessions"))
	}
	switch {
	case r.InProgress:
		return unknown("%s so far; the run is in progress", so)
	case r.Ending == engine.EndFinished && view.Why(r) != "":
		return problem("see the errors", "%s ended: %s", so, view.Why(r))
	case r.Ending == engine.EndFinished:
		return fine("%s ended", so)
	case r.Ending == engine.EndHopeless:
		return problem(NextSteps(r), "%s ended: %s", so, r.Reason)
	case r.Ending == engine.EndFailed:
		return problem("fix the cause, then resume the run; its results so far are stored", "%s ended: %s", so, r.Reason)
	}
	why := r.State()
	if r.Reason != "" {
		why += ": " + r.Reason
	}
	return warning("resume the run to complete it", "%s ended; %s", so, why)
}

// errors lists the error classes with their latest occurrences.
func (a *finishedRun) errors(ctx context.Context) engine.Check {
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
	if share := float64(bad) / float64(max(a.record.Done, 1)); share >= highFailureShare {
		return problem("see the step and the service that most errors name", "%s", text)
	}
	return warning("see the step and the service that most errors name", "%s", text)
}

// shownUnconfirmed bounds the listed requests that may have been executed twice.
const shownUnconfirmed = 20

// unconfirmed lists the changing requests that may have been executed twice.
func (a *finishedRun) unconfirmed(ctx context.Context) engine.Check {
	doubts, err := a.store.Unconfirmed(ctx, a.record.ID, shownUnconfirmed)
	switch {
	case err != nil:
		return unknown("%v", err)
	case doubts.All == 0:
		return fine("none: each retried changing request is known to have been executed once")
	}
	name := a.names(ctx)
	_ = doubts.Call(func(agent int) (string, error) { return name(agent), nil }) // it does not fail
	return problem(engine.UnconfirmedAdvice, "%s\n%s", doubts.Sentence(), strings.Join(doubts.Lines(), "\n"))
}

// highFailureShare is the fraction of failed sessions from which failures are a problem, not exceptions.
const highFailureShare = 0.05

// names returns the function that names agents. If their IDs are unknown, it returns their indexes.
func (a *finishedRun) names(ctx context.Context) func(agent int) string {
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

// usage checks the usage of models.
func (a *finishedRun) usage(ctx context.Context) engine.Check {
	totals, err := a.store.Totals(ctx, a.record.ID)
	if err != nil {
		return unknown("%v", err)
	}
	u := totals.SentRequests().Usage
	return review.Usage(&u)
}

// failed names the agents with failed sessions.
func (a *finishedRun) failed(ctx context.Context) engine.Check {
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
	return withFix(warning("the export lists all of them in sessions.csv", "%s", text), engine.FixExport, "")
}

// anomalies lists metrics that crossed a health threshold, and gaps.
func (a *finishedRun) anomalies(ctx context.Context) engine.Check {
	changes, err := a.store.Changes(ctx, a.record.ID)
	if err != nil {
		return unknown("%v", err)
	}
	look := health.NewAnomalies(a.record, changes)
	rows := 0
	var length time.Duration
	for m, err := range seconds.Shown(a.store.Metrics(ctx, a.record.ID, time.Time{})) {
		if err != nil {
			return unknown("%v", err)
		}
		look.See(m)
		rows++
		length += seconds.Interval(m)
	}
	if rows == 0 {
		return unknown("no metrics were recorded")
	}
	var lines []string
	worst := health.Warning
	for _, n := range look.All() {
		worst = max(worst, n.Level)
		lines = append(lines, fmt.Sprintf("%s: %s for %s, first at %s; worst value %s (%s)", n.Metric, n.Level,
			engine.FormatDuration(time.Duration(n.Seconds)*time.Second), n.Since.Local().Format("15:04:05"), n.Worst, n.Threshold))
	}
	if look.Gaps > 0 {
		lines = append(lines, fmt.Sprintf("no metrics for %s, first at %s: the machine slept, or the run was interrupted",
			engine.FormatDuration(look.Gaps), look.GapSince.Local().Format("15:04:05")))
	}
	switch {
	case len(lines) == 0:
		return fine("no anomalies in %s", plural(int64(math.Ceil(length.Seconds())), "second", "seconds"))
	case worst == health.Critical:
		return problem("", "%s\n%s", plural(int64(len(lines)), "anomaly", "anomalies"), strings.Join(lines, "\n"))
	}
	return warning("", "%s\n%s", plural(int64(len(lines)), "anomaly", "anomalies"), strings.Join(lines, "\n"))
}

// unsent lists the databases that have not confirmed all rows.
func (a *finishedRun) unsent(ctx context.Context) engine.Check {
	all, err := a.store.Sendings(ctx, a.record.ID)
	if err != nil {
		return unknown("%v", err)
	}
	if len(all) == 0 {
		return fine("the results are stored on this machine only")
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
	return withFix(warning("nothing is lost: rows stay on this machine until the database confirms them", "%s", strings.Join(waiting, "; ")), engine.FixSend, "")
}

// transactions checks the database server for clients idle in a transaction.
func (a *finishedRun) transactions(ctx context.Context) engine.Check {
	if !a.record.Settings.Remote {
		return fine("the results are not sent to a database")
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
		return withFix(unknown("%s does not answer: %v", db.Target(), err), engine.FixAgain, "")
	case r.MaxConnections == 0:
		return unknown("%s does not report its connections", r.Target)
	case r.IdleInTransaction > 0:
		return warning("find them in pg_stat_activity: each holds a connection, and possibly locks",
			"%s idle in a transaction on %s", plural(int64(r.IdleInTransaction), "client is", "clients are"), r.Target)
	case r.Hidden > 0:
		return unknown("none visible to this user; %s hidden", plural(int64(r.Hidden), "client is", "clients are"))
	}
	return fine("none on %s", r.Target)
}

// checkpoints checks for checkpoints that are no longer needed.
func (a *finishedRun) checkpoints(ctx context.Context) engine.Check {
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
		return fine("none")
	case n == 1 || a.record.Ending != engine.EndFinished:
		return fine("%s, %s, for resuming", plural(n, "checkpoint", "checkpoints"), engine.FormatBytes(size))
	default:
		c := fine("%s, %s; the run has ended, so only forks need them", plural(n, "checkpoint", "checkpoints"), engine.FormatBytes(size))
		c.Hint = "keep those that you want to fork from"
		return withFix(c, engine.FixFree, "")
	}
}
