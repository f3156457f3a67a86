package pace

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

var begin = time.Date(2026, 1, 2, 8, 0, 0, 0, time.UTC)

// provider is a service with quotas per second that refill evenly up to a maximum.
type provider struct {
	requests, tokens reservoir
	headers          bool                                  // it sends quota headers
	whole            bool                                  // in whole seconds
	windows          time.Duration                         // it counts in windows of that length instead
	names            bool                                  // its refusals contain Retry-After: 1
	quota            func(since time.Duration) (r float64) // requests per second that it accepts now; nil uses the reservoir
}

type reservoir struct {
	perSec, most, level float64 // perSec 0 sets no limit
	at                  time.Time
}

func newReservoir(perSec, most float64) reservoir { return reservoir{perSec, most, most, begin} }

func (r *reservoir) fill(now time.Time) {
	r.level = min(r.most, r.level+r.perSec*now.Sub(r.at).Seconds())
	r.at = now
}

func (r *reservoir) says(windows time.Duration, whole bool, now time.Time) Allowance {
	a := Allowance{Known: r.perSec > 0, Limit: r.most, Remaining: float64(int(max(r.level, 0)))}
	if windows > 0 {
		a.Reset = windows - now.Sub(r.at)
	} else {
		a.Reset = time.Duration((r.most - r.level) / r.perSec * float64(time.Second))
	}
	if whole {
		a.Reset = (a.Reset + time.Second - 1).Truncate(time.Second)
	}
	return a
}

// take answers a request.
func (s *provider) take(now time.Time, tokens float64) (ok bool, wait time.Duration, q Quota) {
	if s.quota != nil {
		s.requests.perSec = s.quota(now.Sub(begin))
	}
	for _, r := range [...]*reservoir{&s.requests, &s.tokens} {
		if s.windows == 0 {
			r.fill(now)
		} else if now.Sub(r.at) >= s.windows {
			r.at, r.level = r.at.Add(now.Sub(r.at).Truncate(s.windows)), r.most
		}
	}
	ok = s.requests.level >= 1 && (s.tokens.perSec == 0 || s.tokens.level >= tokens)
	if ok {
		s.requests.level--
		s.tokens.level -= tokens
	}
	if s.headers {
		q = Quota{s.requests.says(s.windows, s.whole, now), s.tokens.says(s.windows, s.whole, now)}
	}
	if wait = Unnamed; s.names {
		wait = time.Second
	}
	return ok, wait, q
}

// plant is a provider, a rate limiter and callers that send as fast as they may, in virtual time.
type plant struct {
	provider *provider
	limiter  *Limiter
	random   *rand.Rand
	now      time.Time
	events   events
	made     int // events so far
	callers  []*caller
	waiting  map[*Turn]*caller
	refused  bool // just now
	seconds  []second
	fails    float64 // share of requests that are answered by a 5xx
}

type second struct{ ok, refused int }

type event struct {
	at time.Time
	n  int // of simultaneous events, the one created first
	do func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at.Before(e[j].at) || e[i].at.Equal(e[j].at) && e[i].n < e[j].n
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

func (p *plant) after(d time.Duration, do func()) {
	p.made++
	heap.Push(&p.events, event{p.now.Add(d), p.made, do})
}

// between draws a time.
func (p *plant) between(a, b time.Duration) time.Duration {
	return a + time.Duration(p.random.Int64N(int64(b-a)))
}

type caller struct {
	plant  *plant
	turn   *Turn
	asked  int // counts requests, so that an old timer is recognized
	joined time.Time
	longs  time.Duration // the longest wait
}

func (c *caller) join(ticket uint64) {
	c.turn = c.plant.limiter.Join(c.plant.now, ticket)
	c.plant.waiting[c.turn] = c
	if ticket == 0 {
		c.joined = c.plant.now
	}
	c.ask()
}

func (c *caller) ask() {
	p := c.plant
	c.asked++
	wait := c.turn.Ask(p.now)
	if wait.For == 0 {
		c.send()
		return
	}
	if wait.For == aWhile {
		return
	}
	asked := c.asked
	p.after(wait.For, func() {
		if c.turn != nil && c.asked == asked {
			c.ask()
		}
	})
}

// send lets the request arrive a little later, and its response after that.
func (c *caller) send() {
	p := c.plant
	left, ticket := p.now, c.turn.Ticket
	c.longs = max(c.longs, p.now.Sub(c.joined))
	delete(p.waiting, c.turn)
	c.turn = nil
	tokens := 50 + 100*p.random.Float64()
	p.after(p.between(5*time.Millisecond, 60*time.Millisecond), func() {
		ok, wait, quota := p.provider.take(p.now, tokens)
		i := int(p.now.Sub(begin) / time.Second)
		for len(p.seconds) <= i {
			p.seconds = append(p.seconds, second{})
		}
		if !ok {
			p.seconds[i].refused++
			p.after(p.between(10*time.Millisecond, 100*time.Millisecond), func() {
				p.limiter.Observe(p.now, quota)
				p.limiter.Refuse(p.now, left, wait)
				p.refused = true
				c.join(ticket)
			})
			return
		}
		p.seconds[i].ok++
		p.after(p.between(200*time.Millisecond, 2*time.Second), func() {
			p.limiter.Observe(p.now, quota)
			p.limiter.Spent(int(tokens))
			if p.random.Float64() < p.fails {
				p.limiter.Trouble(p.now)
			}
			c.join(0)
		})
	})
}

// run runs a number of callers for a time.
func (p *plant) run(callers int, length time.Duration) {
	p.random, p.now, p.waiting = rand.New(rand.NewPCG(1, 2)), begin, map[*Turn]*caller{}
	for range callers {
		c := &caller{plant: p}
		p.callers = append(p.callers, c)
		p.after(p.between(0, time.Second), func() { c.join(0) })
	}
	for p.events.Len() > 0 && p.now.Before(begin.Add(length)) {
		e := heap.Pop(&p.events).(event)
		p.now = e.at
		e.do()
		p.listen()
	}
}

// listen lets woken callers ask again: usually the first in the queue, after a refusal all of them.
func (p *plant) listen() {
	for told := true; told; {
		told = false
		for at := p.limiter.queue.Front(); at != nil; at = at.Next() {
			turn := at.Value.(*Turn)
			select {
			case <-turn.wake:
				told = true
				p.waiting[turn].ask()
			default:
			}
			if told || !p.refused {
				break
			}
		}
	}
	p.refused = false
}

// over returns the outcome of the requests between two seconds.
func (p *plant) over(from, to int) (perSec, refused float64) {
	var all second
	for _, s := range p.seconds[from:to] {
		all.ok += s.ok
		all.refused += s.refused
	}
	return float64(all.ok) / float64(to-from), float64(all.refused) / float64(max(all.ok+all.refused, 1))
}

var llm = Limits{Start: 10, Floor: 1, Ceiling: 50}

// TestAgainstAProvider is the acceptance test of the rate limiter: 372 callers against 20 requests per second for ten
// minutes. It checks that after the first minute less than 2% of requests are refused and at least 90% of the quota is
// used.
func TestAgainstAProvider(t *testing.T) {
	for _, c := range []struct {
		name     string
		provider provider
		fails    float64
	}{
		{"Retry-After: 1", provider{requests: newReservoir(20, 20), names: true}, 0},
		{"Retry-After: 1, little saved up", provider{requests: newReservoir(20, 5), names: true}, 0},
		{"Retry-After: 1, a minute saved up", provider{requests: newReservoir(20, 1200), names: true}, 0},
		{"and 1% failures", provider{requests: newReservoir(20, 20), names: true}, 0.01},
		{"with headers", provider{requests: newReservoir(20, 20), names: true, headers: true}, 0},
		{"with headers, per minute", provider{requests: newReservoir(20, 1200), names: true, headers: true}, 0},
		{"headers in whole seconds", provider{requests: newReservoir(20, 20), names: true, headers: true, whole: true}, 0},
		{"headers, no time named", provider{requests: newReservoir(20, 1200), headers: true}, 0},
		{"windows of a minute", provider{requests: newReservoir(20, 1200), names: true, headers: true, windows: time.Minute}, 0},
		{"tokens bind", provider{requests: newReservoir(40, 2400), tokens: newReservoir(2000, 120_000), names: true, headers: true}, 0},
		{"tokens bind, windows", provider{requests: newReservoir(40, 2400), tokens: newReservoir(2000, 120_000), names: true, headers: true, windows: time.Minute}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &plant{provider: &c.provider, limiter: New(llm), fails: c.fails}
			p.run(372, 10*time.Minute)
			perSec, refused := p.over(60, 599)
			var longest time.Duration
			for _, c := range p.callers {
				longest = max(longest, c.longs)
			}
			t.Logf("%.2f requests a second, %.2f%% refused; the longest wait for a turn %v; %d moves", perSec, 100*refused, longest, len(p.limiter.Moves()))
			if perSec < 18 || refused > 0.02 {
				t.Errorf("want at least 18, and at most 2%%")
			}
			if longest > 372*time.Second/10 {
				t.Errorf("somebody waited %v", longest)
			}
		})
	}
}

// TestAQuotaThatDropsAndComesBack lowers the quota from 20 to 5 requests per second for two minutes, and checks that
// the rate follows.
func TestAQuotaThatDropsAndComesBack(t *testing.T) {
	for _, headers := range []bool{false, true} {
		t.Run(fmt.Sprint("headers ", headers), func(t *testing.T) {
			s := &provider{requests: newReservoir(20, 20), names: true, headers: headers, quota: func(since time.Duration) float64 {
				if since > 3*time.Minute && since < 5*time.Minute {
					return 5
				}
				return 20
			}}
			p := &plant{provider: s, limiter: New(llm)}
			p.run(372, 10*time.Minute)
			for _, phase := range []struct {
				name        string
				from, to    int
				least, most float64
			}{
				{"before", 60, 180, 18, 0.02},
				{"less", 200, 300, 4.5, 0.05},
				{"again", 420, 599, 18, 0.02},
			} {
				perSec, refused := p.over(phase.from, phase.to)
				t.Logf("%s: %.2f requests a second, %.2f%% refused", phase.name, perSec, 100*refused)
				if perSec < phase.least || refused > phase.most {
					t.Errorf("%s: want at least %v a second and at most %v refused", phase.name, phase.least, phase.most)
				}
			}
		})
	}
}
