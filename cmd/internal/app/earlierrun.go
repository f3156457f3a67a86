package app

import (
	"context"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/forecast"
	"github.com/throng-sim/throng/engine/seconds"
	"github.com/throng-sim/throng/storage/sqlite"
)

const (
	// minSessions is the number of sessions that an interrupted or stopped run needs to be a basis for forecasts.
	minSessions = 20
	// manySessions is the number of sessions above which rare steps are unlikely to be missed.
	manySessions = 100
	// findTimeout bounds the search for an earlier run, sizeTimeout the measurement of its rows.
	findTimeout, sizeTimeout = 2 * time.Second, 300 * time.Millisecond
	// maxSeconds bounds the metrics rows that are read, one for each second.
	maxSeconds = 600
)

// EarlierRun holds measurements of an earlier run of the same scenario with the same parameters and services.
type EarlierRun struct {
	Run     engine.RunID
	At      time.Time
	record  engine.RunRecord
	totals  engine.Totals
	writing engine.RequestCounts // part of totals: requests for the population
	cpu     engine.Estimate      // seconds of one core per session
	disk    engine.Estimate      // bytes per session
	content engine.Estimate      // of requests and answers, bytes per session
	changed bool                 // a setting changed during the run
}

// EarlierRuns finds earlier runs in a store, and caches the last one. It is safe for concurrent use.
type EarlierRuns struct {
	store *sqlite.Store
	mu    sync.Mutex
	last  *EarlierRun
}

// NewEarlierRuns returns the earlier runs of a store. A nil store has none.
func NewEarlierRuns(store *sqlite.Store) *EarlierRuns { return &EarlierRuns{store: store} }

// Find returns the run that a forecast can be based on; nil if there is none, or the store is too slow. A finished run is preferred.
func (p *EarlierRuns) Find(ctx context.Context, l Forecaster) *EarlierRun {
	if p.store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	runs, err := p.store.Runs(ctx)
	if err != nil {
		return p.cached(l)
	}
	if r := l.best(runs); r != nil {
		if found := p.read(ctx, r); found != nil {
			return found
		}
		return p.cached(l)
	}
	return nil
}

// best returns the run that tells most about a launch: the newest finished one with the same parameters, else the newest finished one
// with another number of agents, else the newest that was stopped. It returns nil if there is none. The runs are sorted, newest first.
func (l Forecaster) best(runs []engine.RunRecord) (found *engine.RunRecord) {
	rank := func(r *engine.RunRecord) int {
		switch {
		case r.Ending != engine.EndFinished:
			return 0
		case l.Scenario.Source.Parameters["agents"] != r.Source.Parameters["agents"]:
			return 1
		}
		return 2
	}
	for i := range runs {
		if r := &runs[i]; l.resembles(r) && (found == nil || rank(r) > rank(found)) {
			found = r
		}
	}
	return found
}

// cached returns the run that was read last, if a launch resembles it: a run in progress can make the store slow.
func (p *EarlierRuns) cached(l Forecaster) *EarlierRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || !l.resembles(&p.last.record) {
		return nil
	}
	return p.last
}

// resembles reports whether a launch does the same as a run, and the run has enough sessions.
func (l Forecaster) resembles(r *engine.RunRecord) bool {
	if r.Damage != "" || r.InProgress || r.Fetched != nil || r.Settings.Replay != "" || r.Done == 0 || r.Ending != engine.EndFinished && r.Done < minSessions {
		return false
	}
	set, was := &l.Settings, &r.Settings
	return r.Source.Hash == l.Scenario.Source.Hash && sameAddresses(set.Services, was.Services) && set.Sequential == was.Sequential &&
		set.Simulation == was.Simulation && review.Played(set.Mock) == review.Played(was.Mock) && maps.Equal(set.Mock.Faults, was.Mock.Faults) &&
		reflect.DeepEqual(withoutCount(l.Scenario.Source.Parameters), withoutCount(r.Source.Parameters))
}

// withoutCount returns parameters without the number of agents, which does not change what a session takes.
func withoutCount(given map[string]string) map[string]string {
	rest := map[string]string{}
	for name, value := range given {
		if name != "agents" {
			rest[name] = value
		}
	}
	return rest
}

// read reads the measurements of a run, unless they are cached.
func (p *EarlierRuns) read(ctx context.Context, r *engine.RunRecord) *EarlierRun {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last != nil && p.last.Run == r.ID && p.last.record.Done == r.Done && p.last.record.Ended.Equal(r.Ended) {
		return p.last
	}
	totals, err := p.store.Totals(ctx, r.ID)
	if err != nil || totals.Ended() == 0 {
		return nil
	}
	writing, err := p.store.Writing(ctx, r.ID)
	if err != nil {
		return nil
	}
	run := &EarlierRun{Run: r.ID, At: r.Created, record: *r, totals: totals, writing: writing, cpu: p.cpu(ctx, r.ID)}
	if run.changed, err = p.changed(ctx, r.ID); err != nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, sizeTimeout)
	defer cancel()
	if d, err := p.store.Deletion(limited, r.ID); err == nil {
		run.disk = engine.Exactly(float64(d.Bytes)/float64(totals.Ended()), engine.Measured)
	}
	if n, err := p.store.ContentSize(limited, r.ID); err == nil && n > 0 && float64(n) < 0.9*float64(r.Settings.KeepContent) { // else it kept a part
		run.content = engine.Exactly(float64(n)/float64(totals.Ended()), engine.Measured)
	}
	p.last = run
	return run
}

// changed reports whether a setting, such as the limit, was changed during a run.
func (p *EarlierRuns) changed(ctx context.Context, run engine.RunID) (bool, error) {
	rows, err := p.store.Changes(ctx, run)
	return slices.ContainsFunc(rows, func(c engine.ChangeRow) bool { return engine.FindLiveSetting(c.What) != nil }), err
}

// cpu returns the seconds of one core per session, from the metrics of a run's first seconds; unknown for a short run.
func (p *EarlierRuns) cpu(ctx context.Context, run engine.RunID) engine.Estimate {
	var used, ended float64
	var before *engine.MetricsRow
	n := 0
	for m, err := range seconds.Whole(p.store.Metrics(ctx, run, time.Time{})) {
		if err != nil {
			return engine.Estimate{}
		}
		if before != nil && m.Phase == engine.Running && m.Ended > before.Ended {
			used += m.Host.ProcessCPU / 100 * m.At.Sub(before.At).Seconds()
			ended += float64(m.Ended - before.Ended)
		}
		kept := *m
		before = &kept
		if n++; n == maxSeconds {
			break
		}
	}
	if used == 0 || ended == 0 {
		return engine.Estimate{}
	}
	return engine.Exactly(used/ended, engine.Measured)
}

// apply replaces the expectations of a forecast by the measurements of the run.
func (k *EarlierRun) apply(l *Forecaster, o *forecast.Order, s *forecast.Session, m *forecast.Machine) {
	t, n := &k.totals, float64(k.totals.Ended())
	few := k.few(o)
	s.Time, s.Longest = k.time(o), k.longest(o.Agents)
	s.Thinks = engine.Exactly(0, engine.Measured)
	s.CPU = k.cpu
	if !few {
		s.Worked = k.worked(&l.Settings, o)
	}
	if k.disk.Known() && !few {
		s.Disk = k.disk
	}
	usage := map[string]*serviceUsage{}
	steps := map[string]chain.Asking{}
	for _, step := range l.Scenario.Chain.Asking() {
		steps[step.Path] = step
	}
	for _, f := range t.ByStep.Figures() {
		if step, ok := steps[f.Path]; ok {
			usageOf(usage, step.Service.Name).add(&f, step.Writes)
		}
	}
	for i := range s.Services {
		v := &s.Services[i]
		calls, writes := v.Calls, v.Writes
		usageOf(usage, v.Name).replace(v, n)
		v.CPU = engine.Estimate{} // part of the session's
		if few {
			seen := v.Calls.High
			v.Calls, v.Writes = missed(v.Calls, calls, n), missed(v.Writes, writes, n)
			more := v.Latency.Scale(max(v.Calls.High-seen, 0))
			s.Time = extended(s.Time, more)
			s.Longest = extended(s.Longest, v.Latency.Scale(max(calls.High-seen, 0)))
		}
	}
	k.models(s, n, o)
	if s.Content = k.content; !s.Content.Known() || few {
		s.Content = keptContent(s)
	}
	k.memory(o, m)
}

// few reports whether the run had so few sessions that a longer run may do things that it did not do.
func (k *EarlierRun) few(o *forecast.Order) bool {
	sessions := o.Sessions
	if sessions == 0 && o.Cycles > 0 {
		sessions = int64(o.Agents) * int64(o.Cycles)
	}
	n := k.totals.Ended()
	return n < manySessions && (sessions == 0 || sessions > n)
}

// missed widens the mean of n sessions to an interval within the bounds of the scenario. The margin is two standard errors
// of the mean, with the largest variance between the bounds, and the rule of three for events that did not occur (Hanley
// and Lippman-Hand, If Nothing Goes Wrong, Is Everything All Right?, 1983).
func missed(seen, bounds engine.Estimate, n float64) engine.Estimate {
	if !bounds.Known() || bounds.High <= bounds.Low {
		return seen
	}
	mean, most := seen.High, max(bounds.High, seen.High)
	margin := 2*math.Sqrt(mean*(most-mean)/n) + 3*most/n
	return engine.Between(max(mean-margin, min(bounds.Low, mean)), min(mean+margin, most), engine.Guessed)
}

// extended returns a time whose upper bound grows by the time of further requests.
func extended(time, more engine.Estimate) engine.Estimate {
	if !time.Known() || !more.Known() || more.High == 0 {
		return time
	}
	return engine.Between(time.Low, time.High+more.High, engine.Guessed)
}

// unthrottled returns the fraction of session time without throttling. Waiting for the journal is not throttling.
func (k *EarlierRun) unthrottled() float64 {
	t := &k.totals
	total := t.Total.Sum().Seconds()
	if total == 0 {
		return 1
	}
	throttled := (t.Throttled.Sum() - t.Waits[engine.ThrottledByJournal]).Seconds()
	return min(max(1-max(throttled, 0)/total, 0), 1)
}

// time returns the unthrottled time of a session in flight. At another limit it lies between the same time and a time that
// grows with the limit, as sessions compete for the machine.
func (k *EarlierRun) time(o *forecast.Order) engine.Estimate {
	t := &k.totals
	each := t.Total.Sum().Seconds() * k.unthrottled() / float64(t.Ended())
	was := min(float64(max(k.record.Limit, 1)), max(k.perCycle(), 1))
	now := float64(max(min(o.Limit, o.Agents), 1))
	return engine.Between(each, each*now/was, engine.Measured)
}

// longest returns the time of the longest session of a cycle with so many agents.
func (k *EarlierRun) longest(agents int) engine.Estimate {
	q := 1 - 1/float64(max(agents, 1))
	return engine.Exactly(k.totals.Total.Quantile(q).Seconds()*k.unthrottled(), engine.Measured)
}

// perCycle returns the average number of sessions in a cycle.
func (k *EarlierRun) perCycle() float64 {
	return float64(k.totals.Ended()) / float64(max(k.record.Cycle-k.record.ForkCycle, 1))
}

// worked returns the time that a session added to its cycle. It is known only if the settings and the number of sessions
// are about the same, and nothing was changed during the run.
func (k *EarlierRun) worked(set *engine.Settings, o *forecast.Order) engine.Estimate {
	was := &k.record.Settings
	same := !k.changed && set.Limit == was.Limit && set.Ceiling == was.Ceiling && set.Governor == was.Governor && set.Manual == was.Manual && set.MaxLLMCalls == was.MaxLLMCalls &&
		set.LLMRate == was.LLMRate && set.SequentialSteps == was.SequentialSteps
	worked := k.totals.Peaks.Worked.Seconds()
	if ratio := float64(o.Agents) / k.perCycle(); !same || worked == 0 || ratio < 0.8 || ratio > 1.25 {
		return engine.Estimate{}
	}
	return engine.Exactly(worked/float64(k.totals.Ended()), engine.Measured)
}

// memory scales the memory of the process to the number of agents.
func (k *EarlierRun) memory(o *forecast.Order, m *forecast.Machine) {
	if peak := float64(k.totals.Peaks.Memory); peak > 0 {
		m.Memory = forecast.Grown(peak, max(k.perCycle(), 1), float64(o.Agents))
	}
}

// models applies the measured model calls. Calls whose answers sessions share get fewer per session as sessions increase,
// or stay the same.
func (k *EarlierRun) models(s *forecast.Session, n float64, o *forecast.Order) {
	took := outlayOf(k.totals.AllRequests()).Minus(outlayOf(k.writing)) // this population may be written already
	u := &took.Usage
	shared := float64(k.totals.Shared.Requests - k.writing.Requests)
	for i := range s.Services {
		v := &s.Services[i]
		if !v.Model {
			continue
		}
		if shared > 0 {
			sessions := float64(o.Sessions)
			if sessions == 0 {
				sessions = float64(o.Agents * max(o.Cycles, 1))
			}
			v.Calls = v.Calls.Plus(engine.Between(shared/n, shared/max(sessions, 1), engine.Measured))
			shared = 0
		}
		if u.Calls == 0 {
			continue
		}
		calls := float64(u.Calls)
		v.Input, v.Output = engine.Exactly(float64(u.Input)/calls, engine.Measured), engine.Exactly(float64(u.Output)/calls, engine.Measured)
		switch {
		case u.Unpriced > 0 && !v.Cost.Known():
		case v.Cost.Known() && v.Cost.High == 0: // free
			v.Cost.Basis = engine.Measured
		default:
			v.Cost = engine.Exactly(float64(u.Cost)/1e9/calls, engine.Measured)
		}
	}
}

func outlayOf(a engine.RequestCounts) engine.Outlay {
	return engine.Outlay{Requests: a.Requests, Usage: a.Usage}
}

// serviceUsage counts the requests of a run to a service.
type serviceUsage struct {
	calls, writes float64
	busy, writing float64 // seconds
}

func usageOf(all map[string]*serviceUsage, service string) *serviceUsage {
	if all[service] == nil {
		all[service] = &serviceUsage{}
	}
	return all[service]
}

func (t *serviceUsage) add(f *engine.StepFigures, writes bool) {
	busy, calls := f.Service.Mean.Seconds()*float64(f.Service.Count), float64(f.Requests)
	t.calls, t.busy = t.calls+calls, t.busy+busy
	if writes {
		t.writes, t.writing = t.writes+calls, t.writing+busy
	}
}

// replace replaces the expectations of a service by the measurements of n sessions.
func (t *serviceUsage) replace(v *forecast.Service, n float64) {
	v.Calls, v.Writes = engine.Exactly(t.calls/n, engine.Measured), engine.Exactly(t.writes/n, engine.Measured)
	if t.calls > 0 {
		v.Latency = engine.Exactly(t.busy/t.calls, engine.Measured)
	}
	if v.WriteLatency = v.Latency; t.writes > 0 {
		v.WriteLatency = engine.Exactly(t.writing/t.writes, engine.Measured)
	}
}
