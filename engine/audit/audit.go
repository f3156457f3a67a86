// Package audit recomputes the figures of a run from its journal and compares them with the recorded ones. It counts in its own plain
// way, from rows in journal order. It writes nothing, and it never calls the code whose figures it checks.
package audit

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Journal is what an audit reads of a run.
type Journal interface {
	Run(ctx context.Context, id engine.RunID) (engine.RunRecord, error)
	// Totals returns the recorded figures, up to the end of the journal.
	Totals(ctx context.Context, id engine.RunID) (engine.Totals, error)
	// Journaled yields the rows of the journal in order: sessions one by one, all takes, in rows that may be reused, and checkpoints
	// without their Memory.
	Journaled(ctx context.Context, id engine.RunID) iter.Seq2[engine.Row, error]
	// Checkpoints lists the stored checkpoints.
	Checkpoints(ctx context.Context, id engine.RunID) ([]engine.CheckpointRecord, error)
	// Counters returns the sessions, without further takes, and the events that the run's own row counts.
	Counters(ctx context.Context, id engine.RunID) (sessions, events int64, err error)
}

// Run audits a run. A run in progress returns a *engine.FieldError, because its journal is incomplete. An interrupted run is compared
// with the content of its journal, a fork with its own rows.
func Run(ctx context.Context, j Journal, id engine.RunID) (*Report, error) {
	a, err := begin(ctx, j, id)
	if err != nil {
		return nil, fmt.Errorf("audit run %s: %w", id, err)
	}
	for row, err := range j.Journaled(ctx, a.record.ID) {
		if err != nil {
			return nil, fmt.Errorf("audit run %s: %w", id, err)
		}
		a.row(row)
	}
	if err := a.end(ctx, j); err != nil {
		return nil, fmt.Errorf("audit run %s: %w", id, err)
	}
	return a.report, nil
}

// Groups of figures.
const (
	theRun      = "the run"
	consistency = "the journal"
	perSecond   = "metrics, per second"
	soFar       = "metrics, so far"
	criteria    = "criteria"
	peaks       = "peaks"
	sharedGroup = "asked by the run itself"
)

// auditing is an audit in progress: the state after the rows read so far.
type auditing struct {
	record *engine.RunRecord
	report *Report
	tally  *tally

	open   int   // the open cycle
	roll   roll  // sessions and requests of the open cycle
	floor  floor // the minimum of the recorded figures
	takes  map[int]ending
	agents bitset // with any session

	shared asked
	// least and most are the bounds of shared since the last barrier, or since the start of the process: the loop has counted everything
	// older, since no session waits for it.
	least, most []int64

	kept   map[int64]int // numbers of checkpoints, by time in microseconds
	cycles map[int]bool  // cycles with a stored checkpoint at their start
	opened opening       // the start of the open cycle
	before *opening      // the start of the previous cycle, while its checkpoints can still appear

	seconds seconds
	worst   worst
	work    work
}

// opening is the start of a cycle.
type opening struct {
	cycle   int
	floor   floor
	picture *picture         // if a checkpoint is stored there
	since   []engine.Inexact // changes since then that made the run inexact
}

// floor is the minimum of the run's figures at some point: at a barrier, and at the start of a process.
type floor struct{ counts }

func begin(ctx context.Context, j Journal, id engine.RunID) (*auditing, error) {
	record, err := j.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if record.InProgress {
		return nil, &engine.FieldError{Field: "run", Problem: "is in progress, so its journal is incomplete", Hint: "stop it, or wait for its end"}
	}
	checkpoints, err := j.Checkpoints(ctx, record.ID)
	if err != nil {
		return nil, err
	}
	t := newTally()
	a := &auditing{
		record: &record, report: &Report{Run: record.ID}, tally: t, open: record.ForkCycle, takes: map[int]ending{},
		kept: map[int64]int{}, cycles: map[int]bool{}, seconds: newSeconds(t.room),
	}
	for i := range checkpoints {
		a.kept[checkpoints[i].At.UnixMicro()] = checkpoints[i].Number
		a.cycles[checkpoints[i].Cycle] = true
	}
	if i := record.Inexact; i != nil && i.Cycle < record.ForkCycle { // its parent was inexact, which the fork's own rows do not show
		a.tally.suspect(i)
	}
	a.openCycle()
	return a, nil
}

// openCycle records the state at the start of the open cycle.
func (a *auditing) openCycle() {
	a.roll.reset()
	a.work = work{floor: a.tally.snapshot()}
	clear(a.takes)
	a.floor = floor{a.tally.snapshot()}
	a.settle()
	a.opened = opening{cycle: a.open, floor: a.floor}
	if a.cycles[a.open] {
		a.opened.picture = a.tally.picture()
	}
}

// row processes the next row.
func (a *auditing) row(row engine.Row) {
	switch r := row.(type) {
	case engine.SessionRows:
		for i := range r {
			a.session(&r[i])
		}
	case engine.IntentRow:
		a.roll.intend(r.Place, r.Path)
	case engine.AnswerRow:
		step, _, _ := strings.Cut(r.Path, "!")                            // behind it is what belongs to the answer of the step, such as its cookies
		if !a.record.Settings.Record && !a.roll.intended(r.Place, step) { // a recording also stores read-only requests
			a.wrong("answers without an intent", fmt.Sprintf("%s, step %s", place(r.Place), r.Path))
		}
	case engine.SharedRow:
		a.sharedRow(&r)
	case engine.BarrierRow:
		a.barrier(&r)
	case engine.ChangeRow:
		a.change(&r)
	case engine.UnconfirmedRow:
		a.tally.suspect(r.Inexact())
	case engine.StartRow:
		a.start(&r)
	case engine.MetricsRow:
		a.metrics(&r)
	case engine.CheckpointRow:
		a.checkpoint(&r)
	}
}

func place(p engine.Place) string {
	return fmt.Sprintf("cycle %d, agent %d, take %d", p.Cycle, p.Agent, p.Take)
}

// wrong counts something that must not be in a journal.
func (a *auditing) wrong(what, where string) {
	a.report.Check(consistency, what, where, false, "present", "absent")
}

// session processes a take of a session.
func (a *auditing) session(s *engine.SessionRow) {
	a.tally.session(s)
	a.work.served += s.Service
	a.seconds.session(s)
	a.agents.add(s.Agent)
	a.worst.seen(s.Started.Add(s.Total))
	if s.Cycle != a.open {
		a.wrong("sessions of a cycle that is not open", place(s.Place))
	}
	if !a.roll.add(s.Place) {
		a.wrong("sessions twice, or takes out of order", place(s.Place))
	}
	if problem := unlike(s); problem != "" {
		a.wrong(problem, place(s.Place))
	}
	e := ending{s.Outcome, s.Class, s.Acted, int64(len(s.Events))}
	if e.bad() {
		a.takes[s.Agent] = e
	} else {
		delete(a.takes, s.Agent)
	}
}

// unlike describes a contradiction within a session's row, or returns "".
func unlike(s *engine.SessionRow) string {
	hasClass := s.Class != engine.NoError
	switch {
	case s.Outcome == engine.Unfinished || s.Outcome == engine.Cut:
		return "sessions that did not end"
	case (s.Outcome == engine.Failed || s.Outcome == engine.TimedOut) != hasClass:
		return "sessions whose class of error does not match their outcome"
	case s.Outcome == engine.TimedOut && s.Class != engine.Timeout:
		return "sessions that timed out with another class"
	case s.Queue < 0 || s.Throttled < 0 || s.Service < 0 || s.Total < 0:
		return "sessions with negative times"
	}
	for i := range s.Steps {
		r := &s.Steps[i]
		good := 0 // an answer that rejects a request may belong to no attempt
		for _, status := range r.Statuses {
			if status < 400 {
				good++
			}
		}
		switch {
		case good > r.Attempts:
			return "steps with more successful answers than attempts"
		case r.Redirects > 0 && r.Redirects >= r.Attempts:
			return "steps with more redirects than requests to redirect"
		case r.Rounds > 0 && r.Rounds >= r.Attempts:
			return "steps with more rounds of tools than requests"
		case r.Attempts < 0 || r.Redirects < 0 || r.Rounds < 0 || r.Throttled < 0 || r.Service < 0:
			return "steps with negative figures"
		}
	}
	return ""
}

// barrier processes the end of a cycle.
func (a *auditing) barrier(b *engine.BarrierRow) {
	where := fmt.Sprintf("cycle %d", b.Cycle)
	r := a.report
	equal(r, consistency, "cycles in order", where, b.Cycle, a.open)
	equal(r, consistency, "sessions of each cycle", where, b.Active, a.roll.agents())
	ended := a.tally.snapshot()
	equal(r, consistency, "sessions so far at each barrier", where, b.Sessions, ended.ended())
	for _, p := range a.roll.orphans() {
		p.Cycle = b.Cycle
		a.wrong("requests of sessions that never ended", place(p))
	}
	a.cycleWork(b, &ended, where)
	a.worst.barrier(b)
	before := a.opened
	a.open, a.before = b.Cycle+1, &before
	a.openCycle()
}

// work is the work of the open cycle's sessions, and the state at its start.
type work struct {
	floor  counts
	served time.Duration // service time of its sessions
	parted time.Duration // the part of served before the newest interruption
}

// cycleWork compares a barrier's figures of its cycle's sessions.
func (a *auditing) cycleWork(b *engine.BarrierRow, now *counts, where string) {
	r, before, w := a.report, &a.work.floor, &b.Work
	since := func(o engine.Outcome) int64 { return now.outcomes[o] - before.outcomes[o] }
	equal(r, consistency, "sessions ok of each cycle", where, w.OK, since(engine.OK)+since(engine.Stopped))
	equal(r, consistency, "sessions failed of each cycle", where, w.Failed, since(engine.Failed))
	equal(r, consistency, "sessions timed out of each cycle", where, w.TimedOut, since(engine.TimedOut))
	for _, f := range flowFigures {
		equal(r, consistency, f.name+" of each cycle", where, f.of(&w.Flow), f.of(&now.flow)-f.of(&before.flow))
	}
	held := now.flow.Throttled - before.flow.Throttled
	r.Check(consistency, heldName+" of each cycle", where, w.Flow.Throttled <= held, int64(w.Flow.Throttled), int64(held))
	equal(r, consistency, "busy time of each cycle", where, w.Busy, a.work.served-a.work.parted)
}

// change processes a mid-run change.
func (a *auditing) change(c *engine.ChangeRow) {
	a.worst.seen(c.At)
	switch c.What {
	case engine.RequeueChange:
		a.requeue(c)
	case engine.SleepChange, engine.ClockChange: // the times of rows do not show how long it took
		a.worst.slept = true
		a.seconds.slept = true
	}
	if c.Inexact != nil {
		a.tally.suspect(c.Inexact)
		a.opened.since = append(a.opened.since, *c.Inexact)
	}
}

// start processes the start of a process, which counts everything it found.
func (a *auditing) start(s *engine.StartRow) {
	equal(a.report, consistency, "processes began in the open cycle", stamp(s.At), s.Cycle, a.open)
	a.floor, a.before = floor{a.tally.snapshot()}, nil
	a.work.parted = a.work.served
	a.opened.floor = a.floor
	a.settle()
	a.seconds.start(s, a)
	a.worst.start(s)
}

func stamp(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05.000") }

// sharedRow processes a request of the run itself.
func (a *auditing) sharedRow(r *engine.SharedRow) {
	if r.Record == nil {
		return
	}
	a.shared.step(r.Record)
	k := 0
	a.shared.figures(func(_ string, n int64) {
		a.least[k], a.most[k] = min(a.least[k], n), max(a.most[k], n)
		k++
	})
}

// settle records that the loop has counted all requests of the run itself so far.
func (a *auditing) settle() {
	a.least = a.least[:0]
	a.shared.figures(func(_ string, n int64) { a.least = append(a.least, n) })
	a.most = append(a.most[:0], a.least...)
}
