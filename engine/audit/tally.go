package audit

import (
	"slices"
	"strings"

	"github.com/throng-sim/throng/engine"
)

// tooMany is the status of an answer that asks to try again later. Such an answer is not an attempt.
const tooMany = 429

// asked are the requests to services, counted from the records of steps.
type asked struct {
	requests, retries, limited int64

	labels engine.Labels
	usage  engine.Usage
	waits  engine.Waits
}

func (a *asked) step(s *engine.StepRecord) {
	if s.Attempts > 0 {
		a.requests += int64(s.Attempts)
		a.retries += int64(s.Attempts-s.Redirects-s.Rounds) - 1
	}
	if s.Attempts > 0 || s.Label == engine.Recorded { // a recording answers without an attempt
		a.labels[s.Label]++
	}
	a.limited += refusals(s)
	a.usage.Add(s.Usage)
	if s.Waits != nil {
		for gate, d := range s.Waits {
			a.waits[gate] += d
		}
	}
}

// refusals counts a step's answers with status 429.
func refusals(s *engine.StepRecord) (n int64) {
	for _, status := range s.Statuses {
		if status == tooMany {
			n++
		}
	}
	return n
}

const (
	requestsName = "requests"
	labelPrefix  = "steps with requests: "
)

func isLabel(name string) bool { return strings.HasPrefix(name, labelPrefix) }

// figures lists the figures by name, so that two values can be compared one by one.
func (a *asked) figures(f func(name string, n int64)) {
	f(requestsName, a.requests)
	f("retries", a.retries)
	f("refused (429)", a.limited)
	for l := engine.Fresh; l <= engine.Unconfirmed; l++ {
		f(labelPrefix+l.String(), a.labels[l])
	}
	f("model calls", a.usage.Calls)
	f("tokens in", a.usage.Input)
	f("tokens out", a.usage.Output)
	f("tokens in from a service's cache", a.usage.Cached)
	f("tokens in written to a service's cache", a.usage.Written)
	f("tokens in that a cache makes cheaper", a.usage.Cacheable)
	f("cost, in billionths of a dollar", a.usage.Cost)
	f("calls without a price", a.usage.Unpriced)
	f("calls with estimated tokens", a.usage.Estimated)
	f("calls with usage that contradicts itself", a.usage.Doubtful)
	f("answers from the cache", a.usage.Hits)
	f("calls that may have been paid twice", a.usage.Again)
	f("calls answered in batches", a.usage.Batched)
	for _, g := range engine.ThrottleCauses() {
		f("throttled by "+g.String()+", in ns", int64(a.waits[g]))
	}
}

// askedOf converts the engine's record.
func askedOf(r *engine.RequestCounts) *asked {
	return &asked{r.Requests, r.Retries, r.RateLimited, r.Labels, r.Usage, r.Waits}
}

// stepTally are the figures of a step over all its iterations.
type stepTally struct {
	statuses                   [engine.StepCanceled + 1]int64
	requests, retries, limited int64
	size                       int64 // of answers
	service                    values
}

// ending is the contribution of a session's last take.
type ending struct {
	outcome engine.Outcome
	class   engine.Class
	acted   bool
	events  int64
}

func (e ending) bad() bool { return e.outcome == engine.Failed || e.outcome == engine.TimedOut }

// tally are the figures of a run according to its rows, counted in the plainest way.
type tally struct {
	room *room

	counts
	failures map[int]int // last takes that failed or timed out, by agent

	sessions, firsts int64 // all takes; first takes
	emitted          int64 // events of all takes
	// inexact are the earliest cause of inexactness and further ones in the same session.
	inexact []engine.Inexact

	total, service, held, queue, response values

	byStep map[string]*stepTally
	// crowded reports that there are more steps than a run has figures for.
	crowded bool
}

func newTally() *tally {
	r := &room{mostValues}
	return &tally{
		room: r, counts: counts{outcomes: map[engine.Outcome]int64{}, errors: map[engine.Class]int64{}}, failures: map[int]int{}, byStep: map[string]*stepTally{},
		total: values{room: r}, service: values{room: r}, held: values{room: r}, queue: values{room: r}, response: values{room: r},
	}
}

// session counts a take of a session.
func (t *tally) session(s *engine.SessionRow) {
	t.sessions++
	if s.Take == 0 {
		t.firsts++
	}
	t.emitted += int64(len(s.Events))
	t.end(s.Agent, ending{s.Outcome, s.Class, s.Acted, int64(len(s.Events))}, 1)
	t.total.add(s.Total)
	t.service.add(s.Service)
	t.held.add(s.Throttled)
	t.queue.add(s.Queue)
	if s.Open {
		t.response.add(s.Latency())
	}
	if s.Outcome == engine.TimedOut {
		t.suspect(&engine.Inexact{Cycle: s.Cycle, Agent: s.Agent, Path: s.Path, Why: "timed out"})
	} else if s.Outcome == engine.Failed && timing(s.Class) {
		t.suspect(&engine.Inexact{Cycle: s.Cycle, Agent: s.Agent, Path: s.Path, Why: "gave up after its retries: " + s.Class.String()})
	}
	beside := false
	for i := range s.Steps {
		t.step(s, &s.Steps[i])
		beside = beside || s.Steps[i].Parallel && carriedOut(&s.Steps[i])
	}
	if beside {
		t.flow.Chains++
		t.flow.Busy += s.Service
		t.flow.Wall += s.Total
		t.flow.Throttled += s.Throttled
	}
}

// end counts the end of a session, or subtracts it: times is 1 or -1.
func (t *tally) end(agent int, e ending, times int64) {
	t.outcomes[e.outcome] += times
	if e.bad() {
		t.errors[e.class] += times
		t.failures[agent] += int(times)
		if t.failures[agent] == 0 {
			delete(t.failures, agent)
		}
	}
	if e.acted {
		t.acted += times
	}
	t.events += times * e.events
}

func carriedOut(s *engine.StepRecord) bool {
	return s.Status == engine.StepOK || s.Status == engine.StepFailed || s.Status == engine.StepTimedOut
}

func (t *tally) step(s *engine.SessionRow, r *engine.StepRecord) {
	t.steps++
	t.asked.step(r)
	if r.Label == engine.Unconfirmed {
		t.suspect((&engine.UnconfirmedRow{Place: s.Place, Path: r.Path}).Inexact())
	}
	of := t.stepOf(r.Path)
	of.statuses[r.Status]++
	of.limited += refusals(r)
	of.size += r.Size
	if r.Attempts > 0 {
		of.requests += int64(r.Attempts)
		of.retries += int64(r.Attempts-r.Redirects-r.Rounds) - 1
	}
	if !carriedOut(r) {
		return
	}
	if r.Label != engine.Replayed && r.Label != engine.Recorded {
		of.service.add(r.Service)
	}
	if timing(r.Class) {
		t.suspect(&engine.Inexact{Cycle: s.Cycle, Agent: s.Agent, Path: r.Path, Why: "a step gave up: " + r.Class.String()})
	}
	switch r.Status {
	case engine.StepFailed:
		t.flow.Failed++
	case engine.StepTimedOut:
		t.flow.TimedOut++
	case engine.StepOK, engine.StepSkipped, engine.StepCanceled:
	}
	if r.Parallel {
		t.flow.Parallel++
	} else {
		t.flow.Sequential++
	}
}

func (t *tally) stepOf(path string) *stepTally {
	of := t.byStep[path]
	if of != nil {
		return of
	}
	name := withoutIterations(path)
	if of = t.byStep[name]; of == nil {
		if len(t.byStep) >= engine.MostSteps {
			t.crowded = true
		}
		of = &stepTally{service: values{room: t.room}}
		t.byStep[name] = of
	}
	return of
}

// withoutIterations returns a path without the parts in brackets.
func withoutIterations(path string) string {
	var name strings.Builder
	for {
		before, rest, found := strings.Cut(path, "[")
		name.WriteString(before)
		if !found {
			return name.String()
		}
		if _, path, found = strings.Cut(rest, "]"); !found {
			return name.String() + "[" + rest
		}
	}
}

// suspect keeps the earliest cause of inexactness.
func (t *tally) suspect(i *engine.Inexact) {
	if i == nil {
		return
	}
	if len(t.inexact) > 0 {
		was := &t.inexact[0]
		if was.Cycle < i.Cycle || was.Cycle == i.Cycle && was.Agent < i.Agent {
			return
		}
		if was.Cycle > i.Cycle || was.Agent > i.Agent {
			t.inexact = nil
		}
	}
	if !slices.Contains(t.inexact, *i) {
		t.inexact = append(t.inexact, *i)
	}
}

// timing reports whether a failure of the class may depend on timing or chance (EXACTNESS.md section 1).
func timing(c engine.Class) bool {
	return c == engine.RateLimited || c == engine.Timeout || c == engine.ServerError || c == engine.Network || c == engine.BadAnswer
}
