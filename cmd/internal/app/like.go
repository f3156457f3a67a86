package app

import (
	"context"
	"maps"
	"math"
	"reflect"
	"sync"
	"time"

	"github.com/throng-sim/throng/cmd/internal/app/review"
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/chain"
	"github.com/throng-sim/throng/engine/forecast"
	"github.com/throng-sim/throng/storage/sqlite"
)

const (
	// enough is how many sessions an interrupted or stopped run must have to go by. Of fewer, no run measures anything.
	enough = 20
	// many is how many sessions show what sessions do: of fewer, rare things may have been missed.
	many = 100
	// lookTime is how long looking for an earlier run may take, and weighTime how long weighing its rows.
	lookTime, weighTime = 2 * time.Second, 300 * time.Millisecond
	// someSeconds is how many seconds of a run's metrics are looked at.
	someSeconds = 600
)

// Like is what an earlier run of the same scenario, with the same parameters and services, took.
type Like struct {
	Run     engine.RunID
	At      time.Time
	record  engine.RunRecord
	totals  engine.Totals
	writing engine.Asked    // of totals: for the population
	cpu     engine.Estimate // seconds of one core for a session
	disk    engine.Estimate // bytes for a session
}

// Past finds earlier runs in a store, and keeps what it read last. It is safe for concurrent use.
type Past struct {
	store *sqlite.Store
	mu    sync.Mutex
	last  *Like
}

// NewPast looks into a store; nil is that there is none.
func NewPast(store *sqlite.Store) *Past { return &Past{store: store} }

// Like returns the newest run to go by; nil where there is none, or the store does not tell in time.
func (p *Past) Like(ctx context.Context, l Estimate) *Like {
	if p.store == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	runs, err := p.store.Runs(ctx)
	if err != nil {
		return nil
	}
	for i := range runs {
		if r := &runs[i]; l.resembles(r) {
			return p.read(ctx, r)
		}
	}
	return nil
}

// resembles reports whether a launch will do what a run did, and that run did enough of it.
func (l Estimate) resembles(r *engine.RunRecord) bool {
	if r.Damage != "" || r.InProgress || r.Fetched != nil || r.Settings.Replay != "" || r.Done == 0 || r.Ending != engine.EndFinished && r.Done < enough {
		return false
	}
	set, was := &l.Settings, &r.Settings
	return r.Source.Hash == l.Scenario.Source.Hash && sameAddresses(set.Services, was.Services) && set.Sequential == was.Sequential &&
		set.Simulation == was.Simulation && review.Played(set.Mock) == review.Played(was.Mock) && maps.Equal(set.Mock.Faults, was.Mock.Faults) &&
		reflect.DeepEqual(withoutCount(l.Scenario.Source.Parameters), withoutCount(r.Source.Parameters))
}

// withoutCount leaves out how many agents there are: sessions take the same.
func withoutCount(given map[string]string) map[string]string {
	rest := map[string]string{}
	for name, value := range given {
		if name != "agents" {
			rest[name] = value
		}
	}
	return rest
}

// read reads what a run took, unless it was read last.
func (p *Past) read(ctx context.Context, r *engine.RunRecord) *Like {
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
	like := &Like{Run: r.ID, At: r.Created, record: *r, totals: totals, writing: writing, cpu: p.processor(ctx, r.ID)}
	weighing, cancel := context.WithTimeout(ctx, weighTime)
	defer cancel()
	if d, err := p.store.Deletion(weighing, r.ID); err == nil {
		like.disk = engine.Exactly(float64(d.Bytes)/float64(totals.Ended()), engine.Measured)
	}
	p.last = like
	return like
}

// processor is what a session took of one core, by the metrics of a run's first seconds; not known of a short run.
func (p *Past) processor(ctx context.Context, run engine.RunID) engine.Estimate {
	var used, ended float64
	var before *engine.MetricsRow
	n := 0
	for m, err := range p.store.Metrics(ctx, run, time.Time{}) {
		if err != nil {
			return engine.Estimate{}
		}
		if before != nil && m.Phase == engine.Running && m.Ended > before.Ended {
			used += m.Host.ProcessCPU / 100 * m.At.Sub(before.At).Seconds()
			ended += float64(m.Ended - before.Ended)
		}
		kept := *m
		before = &kept
		if n++; n == someSeconds {
			break
		}
	}
	if used == 0 || ended == 0 {
		return engine.Estimate{}
	}
	return engine.Exactly(used/ended, engine.Measured)
}

// measure replaces what is expected of a session by what the earlier run took.
func (k *Like) measure(l *Estimate, o *forecast.Order, s *forecast.Session, m *forecast.Machine) {
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
	taken := map[string]*taken{}
	steps := map[string]chain.Asking{}
	for _, step := range l.Scenario.Chain.Asking() {
		steps[step.Path] = step
	}
	for _, f := range t.ByStep.Figures() {
		if step, ok := steps[f.Path]; ok {
			of(taken, step.Service.Name).add(&f, step.Writes)
		}
	}
	for i := range s.Services {
		v := &s.Services[i]
		calls, writes := v.Calls, v.Writes
		of(taken, v.Name).replace(v, n)
		v.CPU = engine.Estimate{} // it is in the session's
		if few {
			seen := v.Calls.High
			v.Calls, v.Writes = missed(v.Calls, calls, n), missed(v.Writes, writes, n)
			more := v.Latency.Scale(max(v.Calls.High-seen, 0))
			s.Time = further(s.Time, more)
			s.Longest = further(s.Longest, v.Latency.Scale(max(calls.High-seen, 0)))
		}
	}
	k.models(s, n, o)
	k.memory(o, m)
}

// few reports whether the run had so few sessions that more of them may do what none or hardly one did.
func (k *Like) few(o *forecast.Order) bool {
	sessions := o.Sessions
	if sessions == 0 && o.Cycles > 0 {
		sessions = int64(o.Agents) * int64(o.Cycles)
	}
	n := k.totals.Ended()
	return n < many && (sessions == 0 || sessions > n)
}

// missed is how often a session does something that n of them did so often on average: between what the scenario says
// at least and at most, by two standard errors of a mean (none is larger than between these bounds) and, for what none
// did, by the rule of three (Hanley and Lippman-Hand, If Nothing Goes Wrong, Is Everything All Right?, 1983).
func missed(seen, said engine.Estimate, n float64) engine.Estimate {
	if !said.Known() || said.High <= said.Low {
		return seen
	}
	mean, most := seen.High, max(said.High, seen.High)
	around := 2*math.Sqrt(mean*(most-mean)/n) + 3*most/n
	return engine.Between(max(mean-around, min(said.Low, mean)), min(mean+around, most), engine.Guessed)
}

// further is a time that may be longer by what else is asked.
func further(time, more engine.Estimate) engine.Estimate {
	if !time.Known() || !more.Known() || more.High == 0 {
		return time
	}
	return engine.Between(time.Low, time.High+more.High, engine.Guessed)
}

// free is the part of the time of sessions in which nothing but the journal held them back: that is no scarce thing.
func (k *Like) free() float64 {
	t := &k.totals
	total := t.Total.Sum().Seconds()
	if total == 0 {
		return 1
	}
	held := (t.Held.Sum() - t.Waits[engine.JournalGate]).Seconds()
	return min(max(1-max(held, 0)/total, 0), 1)
}

// time is how long a session was in flight, without what held it back. At another limit it would be between the same
// and as much longer as more sessions want the same machine.
func (k *Like) time(o *forecast.Order) engine.Estimate {
	t := &k.totals
	each := t.Total.Sum().Seconds() * k.free() / float64(t.Ended())
	was := min(float64(max(k.record.Limit, 1)), max(k.crowd(), 1))
	now := float64(max(min(o.Limit, o.Agents), 1))
	return engine.Between(each, each*now/was, engine.Measured)
}

// longest is the time of the longest of so many sessions.
func (k *Like) longest(agents int) engine.Estimate {
	q := 1 - 1/float64(max(agents, 1))
	return engine.Exactly(k.totals.Total.Quantile(q).Seconds()*k.free(), engine.Measured)
}

// crowd is how many sessions a cycle had.
func (k *Like) crowd() float64 {
	return float64(k.totals.Ended()) / float64(max(k.record.Cycle-k.record.ForkCycle, 1))
}

// worked is what a session added to its cycle; known where the same crowd ran in the same way.
func (k *Like) worked(set *engine.Settings, o *forecast.Order) engine.Estimate {
	was := &k.record.Settings
	alike := set.Limit == was.Limit && set.Ceiling == was.Ceiling && set.Governor == was.Governor && set.MaxLLMCalls == was.MaxLLMCalls &&
		set.LLMRate == was.LLMRate && set.SequentialSteps == was.SequentialSteps
	worked := k.totals.Peaks.Worked.Seconds()
	if ratio := float64(o.Agents) / k.crowd(); !alike || worked == 0 || ratio < 0.8 || ratio > 1.25 {
		return engine.Estimate{}
	}
	return engine.Exactly(worked/float64(k.totals.Ended()), engine.Measured)
}

// memory is what the process took, for as many agents as there are now.
func (k *Like) memory(o *forecast.Order, m *forecast.Machine) {
	if peak := float64(k.totals.Peaks.Memory); peak > 0 {
		m.Memory = forecast.Grown(peak, max(k.crowd(), 1), float64(o.Agents))
	}
}

// models are what calls of models took. Those whose answers sessions share become fewer for each, the more sessions
// there are, or not.
func (k *Like) models(s *forecast.Session, n float64, o *forecast.Order) {
	took := outlayOf(k.totals.Asked()).Minus(outlayOf(k.writing)) // another population may be there already
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
		case v.Cost.Known() && v.Cost.High == 0: // it is free here
			v.Cost.Basis = engine.Measured
		default:
			v.Cost = engine.Exactly(float64(u.Cost)/1e9/calls, engine.Measured)
		}
	}
}

func outlayOf(a engine.Asked) engine.Outlay {
	return engine.Outlay{Requests: a.Requests, Usage: a.Usage}
}

// taken is what the steps of a run asked of a service.
type taken struct {
	calls, writes float64
	busy, writing float64 // seconds
}

func of(all map[string]*taken, service string) *taken {
	if all[service] == nil {
		all[service] = &taken{}
	}
	return all[service]
}

func (t *taken) add(f *engine.StepFigures, writes bool) {
	busy, calls := f.Service.Mean.Seconds()*float64(f.Service.Count), float64(f.Requests)
	t.calls, t.busy = t.calls+calls, t.busy+busy
	if writes {
		t.writes, t.writing = t.writes+calls, t.writing+busy
	}
}

// replace puts what was measured over so many sessions in place of what is expected.
func (t *taken) replace(v *forecast.Service, n float64) {
	v.Calls, v.Writes = engine.Exactly(t.calls/n, engine.Measured), engine.Exactly(t.writes/n, engine.Measured)
	if t.calls > 0 {
		v.Latency = engine.Exactly(t.busy/t.calls, engine.Measured)
	}
	if v.WriteLatency = v.Latency; t.writes > 0 {
		v.WriteLatency = engine.Exactly(t.writing/t.writes, engine.Measured)
	}
}
