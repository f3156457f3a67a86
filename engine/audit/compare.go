package audit

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// checkpoint compares the content of a checkpoint: the figures at the start of its cycle.
func (a *auditing) checkpoint(c *engine.CheckpointRow) {
	a.worst.checkpoint(c)
	group := "checkpoints"
	if n, ok := a.kept[c.At.UnixMicro()]; ok {
		group = fmt.Sprintf("checkpoint %d", n)
	}
	r, now, at := a.report, a.tally.snapshot(), &a.opened
	if a.before != nil && a.before.cycle == c.Cycle { // taken while that cycle's barrier was being committed
		at = a.before
	}
	equal(r, group, "cycle", "", c.Cycle, at.cycle)
	r.Check(group, "sessions that had ended", "", c.Done >= at.floor.ended() && c.Done <= now.ended(), c.Done, now.ended())
	if at.picture == nil {
		a.wrong("checkpoints of a cycle that is not open", group)
		return
	}
	t := &c.State.Totals
	r.totals(group, "", t, at.picture)
	candidates := append(slices.Clone(at.picture.inexact), at.since...)
	r.inexact(group, t.Inexact, candidates, len(at.picture.inexact) == 0)
	a.sharedBetween(group, &t.Shared)
}

// sharedBetween compares the requests of the run itself at the start of a checkpoint's cycle. Rows only bound them.
func (a *auditing) sharedBetween(group string, recorded *engine.RequestCounts) {
	var most []int64
	a.shared.figures(func(_ string, n int64) { most = append(most, n) })
	k := 0
	askedOf(recorded).figures(func(name string, n int64) {
		if name == requestsName {
			a.report.Check(group, "asked by the run itself: "+name, "", n <= most[k], n, most[k])
		}
		k++
	})
}

// inexact compares the recorded start of inexactness with its possible causes. exact allows the run to be exact too.
func (r *Report) inexact(group string, recorded *engine.Inexact, candidates []engine.Inexact, exact bool) {
	ok := recorded == nil && exact || recorded != nil && slices.Contains(candidates, *recorded)
	mine := (*engine.Inexact)(nil)
	if len(candidates) > 0 {
		mine = &candidates[0]
	}
	r.Check(group, "exact", "", ok, recorded, mine)
}

// end compares the recorded figures of the whole run.
func (a *auditing) end(ctx context.Context, j Journal) error {
	t, err := j.Totals(ctx, a.record.ID)
	if err != nil {
		return err
	}
	sessions, events, err := j.Counters(ctx, a.record.ID)
	if err != nil {
		return err
	}
	r, rec, p := a.report, a.record, a.tally.picture()
	equal(r, theRun, "sessions done", "", rec.Done, a.tally.firsts)
	equal(r, theRun, "sessions counted during the run", "", sessions, a.tally.firsts)
	equal(r, theRun, "events counted during the run", "", events, a.tally.emitted)
	equal(r, theRun, "cycle", "", rec.Cycle, a.open)
	if rec.Ending == engine.EndFinished && rec.Cycles > 0 && rec.Parent == "" && a.open >= rec.Cycles {
		equal(r, theRun, "sessions planned", "", rec.Total, a.tally.firsts)
	}
	equal(r, theRun, "ended", "", !rec.Ended.IsZero(), rec.Ending != engine.NotEnded)
	if rec.Parent == "" { // a fork may be inexact from its start
		r.inexact(theRun, rec.Inexact, p.inexact, len(p.inexact) == 0)
	}
	r.totals("totals", "", &t, p)
	r.inexact("totals", t.Inexact, p.inexact, len(p.inexact) == 0)
	r.asked(sharedGroup, "", askedOf(&t.Shared), &a.shared)
	a.worst.compare(r, rec, &t)
	a.spent(&t)
	for i := range rec.Verdict {
		a.judgment(&rec.Verdict[i], &t, p)
	}
	a.recordedOnly(p)
	return nil
}

// spent compares the recorded spending of the budget with the requests in the journal.
func (a *auditing) spent(t *engine.Totals) {
	own := t.Peaks.Unrecorded.Plus(outlay(&a.tally.asked)).Plus(outlay(&a.shared))
	recorded := t.Peaks.Spent
	if a.record.Ending == engine.NotEnded { // the spending of interrupted sessions is in their answers
		recorded = t.Spent()
	}
	closed := a.record.Ending == engine.EndFinished
	var all []int64
	figures := func(o engine.Outlay, f func(name string, n int64)) {
		(&asked{requests: o.Requests, usage: o.Usage}).figures(func(name string, n int64) {
			if name != "retries" && name != "refused (429)" && !isLabel(name) && !strings.HasPrefix(name, "throttled") {
				f(name, n)
			}
		})
	}
	figures(own, func(_ string, n int64) { all = append(all, n) })
	k := 0
	figures(recorded, func(name string, n int64) {
		a.report.Check("spent of the budget", name, "", n == all[k] || !closed && n >= all[k], n, all[k])
		k++
	})
	a.report.alone("spent of the budget", "outside of steps", t.Peaks.Unrecorded)
}

// outlay returns the spending of steps. Shared answers and calls that may have been paid twice are counted by steps only.
func outlay(a *asked) engine.Outlay {
	o := engine.Outlay{Requests: a.requests, Usage: a.usage}
	o.Usage.Hits, o.Usage.Again = 0, 0
	return o
}

// recordedOnly lists the figures that no session row contains.
func (a *auditing) recordedOnly(p *picture) {
	if a.worst.rows == 0 {
		return
	}
	for _, name := range []string{
		"CPU of the machine", "CPU of the process", "memory of the process", "free memory", "network in", "network out", "free disk",
		"connections", "connections of the server", "rows written per second", "unsent rows", "limit", "sessions in flight", "lag",
	} {
		a.report.alone(perSecond, name, fmt.Sprintf("%d seconds", a.worst.rows))
	}
}
