package forecast

import (
	"fmt"
	"math"

	"github.com/throng-sim/throng/engine"
)

// corner is one of the cases from which the bounds of a figure follow: sessions send many or few requests, which are either slow, with
// the initial limit, or fast, with the highest limit of the governor.
type corner struct{ much, slow bool }

var corners = []corner{{false, false}, {false, true}, {true, false}, {true, true}}

func pick(e engine.Estimate, high bool) float64 {
	if high {
		return e.High
	}
	return e.Low
}

// bound is a lower bound of the length of a cycle.
type bound struct {
	words   string
	basis   engine.Basis
	seconds func(at corner) float64
}

// cycle is the time that the sessions of a cycle take.
type cycle struct {
	order   *Order
	session *Session
	length  engine.Estimate
	binds   string
	seconds map[corner]float64
	basis   engine.Basis
}

// cycleOf returns the longest bound. Each follows from the utilization law: a resource that serves n visits of s seconds in m slots is
// busy for n·s/m (Denning and Buzen, The Operational Analysis of Queueing Network Models, 1978). The resources are the slots for
// sessions, the concurrent calls of each service and of all models, the rates of the rate limiters, and the processor.
func cycleOf(o *Order, s *Session, m *Machine) *cycle {
	c := &cycle{order: o, session: s, seconds: map[corner]float64{}, basis: engine.Measured}
	bounds := c.bounds(m)
	c.find(bounds)
	if s.Worked.Known() {
		c.basis = s.Worked.Basis
		for _, at := range corners {
			c.seconds[at] = max(float64(o.Agents)*pick(s.Worked, at.slow), o.Arrivals.Seconds())
		}
	}
	least, most := math.Inf(1), 0.0
	for _, v := range c.seconds {
		least, most = min(least, v), max(most, v)
	}
	c.length = engine.Between(least, most, c.basis)
	return c
}

// find finds the longest of the bounds, for each corner and overall.
func (c *cycle) find(bounds []bound) {
	most, least := -1.0, math.Inf(1)
	for _, at := range corners {
		for _, b := range bounds {
			c.seconds[at] = max(c.seconds[at], b.seconds(at))
		}
		least = min(least, c.seconds[at])
	}
	for _, b := range bounds {
		if b.basis == engine.NotKnown { // any bound may be the longest
			c.basis = engine.NotKnown
		}
		high, all := 0.0, 0.0
		for _, at := range corners {
			high = max(high, b.seconds(at))
			all += b.seconds(at)
		}
		if high >= least { // this bound may be the longest
			c.basis = c.basis.Worse(b.basis)
		}
		if all > most {
			most, c.binds = all, b.words
		}
	}
}

func (c *cycle) bounds(m *Machine) []bound {
	o, s, agents := c.order, c.session, float64(c.order.Agents)
	time := c.time()
	all := []bound{{limitWords(o), time.basis, func(at corner) float64 {
		return c.waves(time.seconds(at), float64(o.concurrency(at)), at)
	}}}
	if o.Arrivals > 0 { // the last agent to arrive still has its session to run
		all = append(all, bound{"the arrivals: " + o.ArrivalWords, time.basis.Worse(engine.FromFile), func(at corner) float64 {
			return o.Arrivals.Seconds() + time.seconds(at)
		}})
	}
	models := bound{fmt.Sprintf("the %d concurrent model calls", o.LLMCalls), engine.Measured, func(corner) float64 { return 0 }}
	for i := range s.Services {
		v := &s.Services[i]
		busy := func(at corner) float64 { return agents * pick(v.Calls, at.much) * pick(v.Latency, at.slow) }
		basis := v.Calls.Basis.Worse(v.Latency.Basis)
		if v.Bound > 0 {
			all = append(all, bound{fmt.Sprintf("the %d concurrent calls of %s", v.Bound, v.Name), basis, func(at corner) float64 {
				return busy(at) / float64(v.Bound)
			}})
		}
		if v.Rate > 0 {
			all = append(all, bound{rateWords(v), v.Calls.Basis.Worse(engine.FromFile), func(at corner) float64 {
				rate := v.Rate
				if !at.slow {
					rate = max(v.Rate, v.MaxRate)
				}
				return agents * pick(v.Calls, at.much) / rate
			}})
		}
		if v.Model && o.LLMCalls > 0 {
			before := models.seconds
			models.basis = models.basis.Worse(basis)
			models.seconds = func(at corner) float64 { return before(at) + busy(at)/float64(o.LLMCalls) }
		}
	}
	all = append(all, models)
	if m.Cores > 0 && s.CPU.Known() {
		cpu := c.processor()
		all = append(all, bound{fmt.Sprintf("the processor, of %d cores", m.Cores), cpu.basis, func(at corner) float64 {
			return agents * cpu.seconds(at) / float64(m.Cores)
		}})
	}
	return all
}

// processor returns the CPU time of a session on one core.
func (c *cycle) processor() bound {
	s := c.session
	basis := s.CPU.Basis
	for i := range s.Services {
		if v := &s.Services[i]; v.CPU.Known() {
			basis = basis.Worse(v.CPU.Basis.Worse(v.Calls.Basis))
		}
	}
	return bound{"", basis, func(at corner) float64 {
		sum := pick(s.CPU, at.slow)
		for i := range s.Services {
			v := &s.Services[i]
			sum += pick(v.Calls, at.much) * pick(v.CPU, at.slow)
		}
		return sum
	}}
}

// time returns how long a session is in flight.
func (c *cycle) time() bound {
	s := c.session
	if s.Time.Known() {
		return bound{"", s.Time.Basis, func(at corner) float64 { return pick(s.Time, at.slow) }}
	}
	own := c.processor()
	basis := own.basis.Worse(s.Thinks.Basis)
	for i := range s.Services {
		v := &s.Services[i]
		basis = basis.Worse(v.Calls.Basis.Worse(v.Latency.Basis))
	}
	return bound{"", basis, func(at corner) float64 {
		sum := own.seconds(at) + pick(s.Thinks, at.much)
		for i := range s.Services {
			v := &s.Services[i]
			sum += pick(v.Calls, at.much) * pick(v.Latency, at.slow)
		}
		return sum
	}}
}

// concurrency returns the number of sessions in flight.
func (o *Order) concurrency(at corner) int {
	n := o.Limit
	if !at.slow {
		n = max(o.Limit, o.Ceiling)
	}
	return max(min(n, o.Agents), 1)
}

// waves returns how long the sessions of a cycle take in a number of slots, given the mean time of a session. If a free slot takes the
// next session immediately, the cycle ends between the mean (or the longest session) and the sum of both (Graham, Bounds on
// Multiprocessing Timing Anomalies, 1969). Equal sessions run in waves, and the last wave may not be full.
func (c *cycle) waves(each, places float64, at corner) float64 {
	agents, longest := float64(c.order.Agents), c.session.Longest
	mean := agents * each / places
	switch {
	case longest.Known() && at.slow && agents > 0:
		return mean + longest.High*(1-1/places)
	case longest.Known() && agents > 0:
		return max(mean, longest.Low)
	case at.slow:
		return math.Ceil(agents/places) * each
	}
	return mean
}

func limitWords(o *Order) string {
	if o.Ceiling > o.Limit && o.Agents > o.Limit {
		return fmt.Sprintf("the concurrency limit, %d to %d", o.Limit, min(o.Ceiling, o.Agents))
	}
	return fmt.Sprintf("the concurrency limit, %d", min(o.Limit, max(o.Agents, 1)))
}

func rateWords(v *Service) string {
	if v.MaxRate > v.Rate {
		return fmt.Sprintf("the rate of %s, %g to %g calls a second", v.Name, v.Rate, v.MaxRate)
	}
	return fmt.Sprintf("the rate of %s, %g calls a second", v.Name, v.Rate)
}

// rate returns how often per minute something happens, given its number per session.
func (c *cycle) rate(each engine.Estimate) engine.Estimate {
	return c.over(each.Basis, func(at corner) float64 { return pick(each, at.much) })
}

// Spare is the factor for spare connections, so that not all of them are busy all the time.
const Spare = 1.2

// connections returns the connections that the writes of all services keep busy, times [Spare]: writes a minute divided by the writes
// that one connection can take in a minute (Little's law). Writes of the mock need none.
func (c *cycle) connections() engine.Estimate {
	basis := engine.Measured
	for i := range c.session.Services {
		if v := &c.session.Services[i]; !v.Inside && (!v.Writes.Known() || v.Writes.High > 0) {
			basis = basis.Worse(v.Writes.Basis.Worse(v.WriteLatency.Basis))
		}
	}
	return c.over(basis, func(at corner) (busy float64) {
		for i := range c.session.Services {
			v := &c.session.Services[i]
			if v.Inside {
				continue
			}
			busy += pick(v.Writes, at.much) * pick(v.WriteLatency, at.slow) / 60
		}
		return busy
	}).Scale(Spare)
}

// over returns an amount per session as an amount per minute of a cycle.
func (c *cycle) over(basis engine.Basis, each func(at corner) float64) engine.Estimate {
	least, most := math.Inf(1), 0.0
	for _, at := range corners {
		v := 60 * float64(c.order.Agents) * each(at)
		if v > 0 {
			v /= c.seconds[at]
		}
		least, most = min(least, v), max(most, v)
	}
	return engine.Between(least, most, basis.Worse(c.basis))
}
