package govern

import (
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

var begin = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

// plant simulates a run and its environment in virtual time. Functions take the time since the start.
type plant struct {
	agents int     // of a cycle
	mean   float64 // work of a session in seconds without a queue: browse or checkout, ±20%

	slower func(t float64) float64            // factor of the work; nil is 1
	knee   func(t float64) float64            // concurrent sessions served at full speed; nil is unlimited
	fails  func(t float64, n int) float64     // fraction of sessions that fail; nil: no failures
	away   func(t float64) bool               // all sessions fail immediately
	quota  float64                            // sessions a second that may start to work, others are throttled; 0 is unlimited
	cpu    func(t float64, n float64) float64 // of the machine with n at work, without noise
	uses   float64                            // percent of the machine that Throng uses for each session at work; 0 is unknown
	own    float64                            // connections that a session holds
	others func(t float64) float64            // connections of other clients
	most   int                                // connections that the server accepts; 0: no server
	memory func(t float64, n int) (available, own float64)

	rng     *rand.Rand
	t       float64
	limit   int
	flights []flight
	left    int // sessions of the cycle that have not started
	cycle   int
	ended   int64
	failed  int64
	tokens  float64
	served  float64 // seconds of work that each session at work has received
	soonest float64 // no session is due earlier
	lastEnd float64
	breaker engine.BreakerState
	probe   bool

	sum    float64 // seconds that the sessions of the reading were served
	r      engine.Reading
	atWork float64 // integral of the sessions at work over the reading
	busy   float64 // of the reading
	total  int64
	losses int64
}

type flight struct {
	due   float64 // the value of served at which it ends; for a throttled session, its work
	began float64
	held  bool
	fails bool
}

const tick = 0.04 // seconds

func (p *plant) start(seed uint64, limit int) {
	p.rng = rand.New(rand.NewPCG(seed, 5))
	p.limit, p.left = limit, p.agents
}

// second simulates a second and returns its reading.
func (p *plant) second() engine.Reading {
	p.r = engine.Reading{Span: time.Second, Phase: engine.Running, Limit: p.limit, Connections: engine.Connections{Own: -1, Server: -1, Max: -1}}
	p.sum = 0
	p.atWork = 0
	p.busy = 0
	for range int(1 / tick) {
		p.step()
	}
	r := &p.r
	if p.breaker != engine.BreakerClosed {
		r.Phase = engine.Paused
	}
	r.At, r.Busy, r.InFlight = begin.Add(p.since()), min(p.busy, 1), len(p.flights)
	r.Cycle, r.CycleEnded, r.CycleFailed, r.CycleTotal = p.cycle, p.ended, p.failed, int64(p.agents)
	if len(p.flights) > 0 {
		r.Oldest = []engine.Activity{{Began: begin.Add(time.Duration(p.flights[0].began * float64(time.Second)))}}
	}
	r.LastEnd = begin.Add(time.Duration(p.lastEnd * float64(time.Second)))
	r.Service.Count = r.Ended
	if r.Ended > 0 {
		r.Service.Mean = time.Duration(p.sum / float64(r.Ended) * float64(time.Second))
	}
	p.machine(r)
	return *r
}

func (p *plant) since() time.Duration { return time.Duration(p.t * float64(time.Second)) }

func (p *plant) machine(r *engine.Reading) {
	if p.cpu != nil {
		r.Host.CPU = min(100, max(0, p.cpu(p.t, p.atWork)+4*p.rng.NormFloat64()))
		r.Host.ProcessCPU = min(p.uses*p.atWork, 100) * float64(runtime.NumCPU())
	}
	if p.memory != nil {
		free, own := p.memory(p.t, len(p.flights))
		r.Host.MemoryTotal, r.Host.Available, r.Host.Memory = 16e9, uint64(max(free, 0)), uint64(own)
	}
	if p.most > 0 {
		own := int(math.Round(p.own * float64(len(p.flights))))
		server := own + int(math.Round(p.others(p.t)+p.rng.NormFloat64()))
		r.Connections = engine.Connections{Own: own, InUse: own, Server: min(server, p.most), Max: p.most}
	}
}

// step advances by a tick: the sessions at work share the service (processor sharing).
func (p *plant) step() {
	p.t += tick
	p.admit()
	if len(p.flights) >= p.limit && p.left > 0 {
		p.busy += tick
	}
	working := len(p.flights)
	if p.quota > 0 {
		working = p.release()
	}
	p.atWork += float64(working) * tick
	speed := 1.0
	if p.knee != nil {
		speed = min(1, p.knee(p.t)/max(float64(working), 1))
	}
	p.served += speed * tick
	if p.served >= p.soonest {
		p.end()
	}
	if p.left == 0 && len(p.flights) == 0 {
		p.cycle, p.left, p.ended, p.failed = p.cycle+1, p.agents, 0, 0
	}
}

// release lets throttled sessions start as the quota allows, and returns the number at work.
func (p *plant) release() int {
	working := 0
	p.tokens = min(p.tokens+p.quota*tick, 2)
	for i := range p.flights {
		f := &p.flights[i]
		if f.held && p.tokens >= 1 {
			p.tokens--
			f.held, f.began = false, p.t
			f.due += p.served
			p.soonest = min(p.soonest, f.due)
		}
		if !f.held {
			working++
		}
	}
	return working
}

// end ends the sessions that are due.
func (p *plant) end() {
	p.soonest = math.Inf(1)
	kept := p.flights[:0]
	for i := range p.flights {
		switch f := &p.flights[i]; {
		case f.held:
			kept = append(kept, *f)
		case f.due > p.served:
			p.soonest = min(p.soonest, f.due)
			kept = append(kept, *f)
		default:
			p.finish(f)
		}
	}
	p.flights = kept
}

func (p *plant) admit() {
	for p.left > 0 && (p.probe || p.breaker == engine.BreakerClosed && len(p.flights) < p.limit) {
		p.probe = false
		p.left--
		work := p.mean * 0.52
		if p.rng.Float64() < 0.3 {
			work = p.mean * 2.12 // checkout
		}
		work *= 0.8 + 0.4*p.rng.Float64()
		if p.slower != nil {
			work *= p.slower(p.t)
		}
		f := flight{due: work, began: p.t, held: p.quota > 0}
		if p.fails != nil {
			f.fails = p.rng.Float64() < p.fails(p.t, len(p.flights)+1)
		}
		if p.away != nil && p.away(p.t) {
			f.fails, f.due, f.held = true, 0.3, false
		}
		if !f.held {
			f.due += p.served
			p.soonest = min(p.soonest, f.due)
		}
		p.flights = append(p.flights, f)
	}
}

func (p *plant) finish(f *flight) {
	p.sum += p.t - f.began
	p.r.Ended++
	p.ended++
	p.total++
	p.lastEnd = p.t
	if f.fails {
		p.r.Failed++
		p.failed++
		p.losses++
	}
}

// trace is the course of a limit.
type trace struct {
	limits []int
	probes []bool // dips of the latency governor
	totals []int64
	words  []string
	orders []engine.Orders
}

// drive steers a plant for some seconds, and checks the invariants of a governor.
func drive(t testing.TB, governor *Governor, p *plant, seconds int) *trace {
	t.Helper()
	tr := &trace{}
	for range seconds {
		r := p.second()
		o := governor.Steer(r)
		s := governor.steering
		if o.Limit != r.Limit && (o.Limit < s.Floor || o.Limit > s.Ceiling) {
			t.Fatalf("%v: %d → %d is not within %d and %d", p.since(), r.Limit, o.Limit, s.Floor, s.Ceiling)
		}
		if o.Limit > r.Limit && r.Busy < busyEnough {
			t.Fatalf("%v: %d → %d although the limit was the bound for %.2f of the time", p.since(), r.Limit, o.Limit, r.Busy)
		}
		if (o.Why != "") != (o.Limit != r.Limit) || o.By == "" {
			t.Fatalf("%v: %d → %d by %q: %q", p.since(), r.Limit, o.Limit, o.By, o.Why)
		}
		if o.Why != "" {
			tr.words = append(tr.words, p.since().String()+" "+o.By+" "+o.Why)
			if strings.HasSuffix(o.Why, ": ") {
				t.Fatalf("%v: a move without a reason: %q", p.since(), o.Why)
			}
		}
		p.limit, p.breaker, p.probe = o.Limit, o.Breaker, o.Probe
		l := governor.signals[latencySignal].(*latency)
		tr.limits = append(tr.limits, o.Limit)
		tr.probes = append(tr.probes, l.probe != nil && o.Limit < l.probe.back || o.By == "latency" && o.Limit < min(l.want, s.Ceiling))
		tr.totals = append(tr.totals, p.total)
		tr.orders = append(tr.orders, o)
	}
	return tr
}

// figures describe how a limit settled near a knee. Probes do not count as moves; their share of the time is separate.
type figures struct {
	converged   int     // seconds until the limit stayed within 15% of its final mean
	distance    float64 // of that mean from the knee, as a fraction of the knee
	oscillation float64 // largest distance from the mean
	probing     float64 // share of the time
}

// settled evaluates a trace from some second on, by its mean.
func (tr *trace) settled(from int, knee float64) figures {
	var rest []float64
	f := figures{}
	for i := from; i < len(tr.limits); i++ {
		if tr.probes[i] {
			f.probing++
			continue
		}
		rest = append(rest, float64(tr.limits[i]))
	}
	f.probing /= float64(len(tr.limits) - from)
	mean := 0.0
	for _, v := range rest {
		mean += v / float64(len(rest))
	}
	f.distance = mean/knee - 1
	for _, v := range rest {
		f.oscillation = max(f.oscillation, math.Abs(v/mean-1))
	}
	for i, n := range tr.limits {
		if !tr.probes[i] && math.Abs(float64(n)/mean-1) > 0.15 {
			f.converged = i + 1
		}
	}
	return f
}

func constant(v float64) func(float64) float64 { return func(float64) float64 { return v } }

// governorOf returns the named governor with bounds 1 to 100.
func governorOf(t testing.TB, governor string) *Governor {
	t.Helper()
	return governorWith(t, engine.Steering{Governor: governor, Floor: 1, Ceiling: 100, StallAfter: time.Minute})
}

func governorWith(t testing.TB, s engine.Steering) *Governor {
	t.Helper()
	p, err := New(s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func contains(s, part string) bool { return strings.Contains(s, part) }
