package audit

import (
	"fmt"
	"maps"
	"slices"

	"github.com/throng-sim/throng/engine"
)

// counts are the additive figures of a run at some point.
type counts struct {
	outcomes map[engine.Outcome]int64
	errors   map[engine.Class]int64
	acted    int64
	events   int64
	steps    int64
	asked    asked
	flow     engine.Flow
}

// snapshot returns a copy of the counts.
func (t *tally) snapshot() counts {
	c := t.counts
	c.outcomes, c.errors = maps.Clone(t.outcomes), maps.Clone(t.errors)
	return c
}

func (c *counts) ended() (n int64) {
	for _, k := range c.outcomes {
		n += k
	}
	return n
}

func (c *counts) bad() int64 { return c.outcomes[engine.Failed] + c.outcomes[engine.TimedOut] }

// stepPicture is the compared part of a step.
type stepPicture struct {
	*stepTally
	service digest
}

// picture is all figures of a run at some point.
type picture struct {
	counts
	failed                      []int // agents, ascending
	inexact                     []engine.Inexact
	total, service, held, queue digest
	response                    digest // from the intended start
	byStep                      map[string]stepPicture
	crowded                     bool
}

func (t *tally) picture() *picture {
	p := &picture{
		counts: t.snapshot(), failed: slices.Sorted(maps.Keys(t.failures)), inexact: slices.Clone(t.inexact), crowded: t.crowded,
		total: t.total.digest(), service: t.service.digest(), held: t.held.digest(), queue: t.queue.digest(), response: t.response.digest(), byStep: map[string]stepPicture{},
	}
	for path, s := range t.byStep {
		own := *s
		p.byStep[path] = stepPicture{&own, s.service.digest()}
	}
	return p
}

// totals compares recorded figures with a picture, except for the requests of the run itself.
func (r *Report) totals(group, where string, t *engine.Totals, p *picture) {
	for o := range t.Outcomes {
		equal(r, group, "sessions "+engine.Outcome(o).String(), where, t.Outcomes[o], p.outcomes[engine.Outcome(o)])
	}
	for c := range t.Errors {
		equal(r, group, "errors "+className(engine.Class(c)), where, t.Errors[c], p.errors[engine.Class(c)])
	}
	equal(r, group, "acted", where, t.Acted, p.acted)
	equal(r, group, "events", where, t.Events, p.events)
	equal(r, group, "steps", where, t.Steps, p.steps)
	own := askedOf(&engine.RequestCounts{Usage: t.Usage, Requests: t.Requests, Retries: t.Retries, RateLimited: t.RateLimited, Labels: t.Labels, Waits: t.Waits})
	r.asked(group, where, own, &p.asked)
	r.flow(group, where, &t.Flow, &p.flow)
	r.distribution(group, "latency", where, &t.Total, &p.total)
	r.distribution(group, "service time", where, &t.Service, &p.service)
	r.distribution(group, "held time", where, &t.Throttled, &p.held)
	r.distribution(group, "queued", where, &t.Queue, &p.queue)
	if p.response.count > 0 || t.Response.Count() > 0 {
		r.distribution(group, "latency from the intended start", where, &t.Response, &p.response)
	}
	failed, all := t.Failures(len(p.failed) + mostRows)
	r.Check(group, "failed agents", where, slices.Equal(failed, p.failed) && all == len(p.failed), some(failed, all), some(p.failed, len(p.failed)))
	if p.crowded {
		r.alone(group, "figures of steps", fmt.Sprintf("%d of %d steps", len(t.ByStep.List), len(p.byStep)))
		return
	}
	r.steps(group+", by step", where, t.ByStep.Figures(), p)
}

// some lists the first of some agents, and their number.
func some(agents []int, all int) string {
	return fmt.Sprintf("%d %v", all, agents[:min(len(agents), 10)])
}

// asked compares the requests to services.
func (r *Report) asked(group, where string, recorded, recomputed *asked) {
	var mine []int64
	recomputed.figures(func(_ string, n int64) { mine = append(mine, n) })
	i := 0
	recorded.figures(func(name string, n int64) {
		equal(r, group, name, where, n, mine[i])
		i++
	})
}

func (r *Report) flow(group, where string, recorded, recomputed *engine.Flow) {
	for _, f := range flowFigures {
		equal(r, group, f.name, where, f.of(recorded), f.of(recomputed))
	}
	r.Check(group, heldName, where, recorded.Throttled <= recomputed.Throttled, int64(recorded.Throttled), int64(recomputed.Throttled))
}

// heldName is a figure that older versions did not record. A run that an older version started lacks a part of it.
const heldName = "held time of these, in ns"

var flowFigures = []struct {
	name string
	of   func(f *engine.Flow) int64
}{
	{"concurrent steps", func(f *engine.Flow) int64 { return f.Parallel }},
	{"steps alone", func(f *engine.Flow) int64 { return f.Sequential }},
	{"steps failed", func(f *engine.Flow) int64 { return f.Failed }},
	{"steps timed out", func(f *engine.Flow) int64 { return f.TimedOut }},
	{"sessions with concurrent steps", func(f *engine.Flow) int64 { return f.Chains }},
	{"busy time of these, in ns", func(f *engine.Flow) int64 { return int64(f.Busy) }},
	{"wall time of these, in ns", func(f *engine.Flow) int64 { return int64(f.Wall) }},
}

// steps compares the figures of each step.
func (r *Report) steps(group, where string, recorded []engine.StepFigures, p *picture) {
	paths := make([]string, 0, len(recorded))
	for i := range recorded {
		f := &recorded[i]
		paths = append(paths, f.Path)
		mine, ok := p.byStep[f.Path]
		if !ok {
			continue
		}
		for status, n := range f.Statuses {
			equal(r, group, f.Path+" "+engine.StepStatus(status).String(), where, n, mine.statuses[status])
		}
		equal(r, group, f.Path+" requests", where, f.Requests, mine.requests)
		equal(r, group, f.Path+" retries", where, f.Retries, mine.retries)
		equal(r, group, f.Path+" refused (429)", where, f.RateLimited, mine.limited)
		equal(r, group, f.Path+" size of answers", where, f.Size, mine.size)
		r.described(group, f.Path+" service time", where, &f.Service, &mine.service)
	}
	mine := slices.Sorted(maps.Keys(p.byStep))
	r.Check(group, "steps", where, slices.Equal(paths, mine), paths, mine)
}

// className returns the display name of a class.
func className(c engine.Class) string {
	if c == engine.NoError {
		return "without a class"
	}
	return c.String()
}
