// Package forecast estimates a run before it starts: the length of its cycles and the reason, requests to services, models and the
// database, the cost, and what will not fit. It is pure: the caller knows a session from an earlier run, from the mock's profile or from
// the scenario, and each figure names its basis.
package forecast

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Order is the planned run.
type Order struct {
	Agents   int           // active agents
	Cycles   int           // 0: the run ends by Wall
	Sessions int64         // planned, if the warm-up has fewer than Agents in each cycle; 0: all
	Wall     time.Duration // no further cycle starts after this; used only if Cycles is 0
	// Every is the interval of cycles, and Scale the time scale from which it follows; 0 is as fast as possible.
	Every time.Duration
	Scale float64
	// Arrivals is the time in which the agents of a cycle arrive, and ArrivalWords describes it; 0 starts all together.
	Arrivals     time.Duration
	ArrivalWords string
	// Limit is the initial concurrency limit, and Ceiling the highest that a governor may set; 0: there is no governor.
	Limit, Ceiling int
	// LLMCalls is the limit of concurrent model calls, over all services; 0 is unlimited.
	LLMCalls int
	Budget   engine.Budget
	Writing  engine.Amount // the cost of writing the population, from the same budget
	Content  int64         // bytes of requests and answers that are kept at most
}

// Session is the average session.
type Session struct {
	// Time is its time in flight, in seconds, without throttling. If it is unknown, it is the sum of Thinks and the time of its service
	// calls.
	Time engine.Estimate
	// Longest is the time of the longest session of a cycle, in seconds. If it is unknown, all sessions are assumed to be equal.
	Longest engine.Estimate
	// Worked is the time that a session adds to its cycle, in seconds, if it was measured with the same number of agents and the same
	// limit. Then bounds are not used.
	Worked   engine.Estimate
	Thinks   engine.Estimate // time without calls, in seconds
	CPU      engine.Estimate // seconds of one core, without those of its calls; if unknown, the processor does not limit the run
	Disk     engine.Estimate // bytes in the journal
	Content  engine.Estimate // bytes of its requests and answers, compressed
	Services []Service
}

// Service is the use of a service by one session.
type Service struct {
	Name   string
	Model  bool // its calls are model calls
	Inside bool // it is the mock: its writes do not reach a database
	Calls  engine.Estimate
	Writes engine.Estimate // those of Calls that change data
	// Latency is the duration of a call, WriteLatency of a write; in seconds.
	Latency, WriteLatency engine.Estimate
	CPU                   engine.Estimate // seconds of one core for a call; if unknown, Session.CPU contains them
	Bound                 int             // limit of concurrent calls; 0 is unlimited
	Rate, MaxRate         float64         // rate limit in calls per second, at first and at most; 0 is unlimited
	// Of a model call; Cost is in US dollars.
	Input, Output, Cost engine.Estimate
}

// Machine is the machine of the run. Values of 0 are unknown, and negative ones of Database.
type Machine struct {
	Cores               int
	Available, DiskFree uint64             // bytes
	Database            engine.Connections // Server counts those of other clients
	// Memory is the memory of the process, in bytes. If it is unknown, it is guessed.
	Memory engine.Estimate
}

// Make returns the forecast of a run.
func Make(o Order, s Session, m Machine) engine.Forecast {
	f := engine.Forecast{Server: m.Database.Server, ServerMax: m.Database.Max}
	c := cycleOf(&o, &s, &m)
	f.Cycle, f.Binds = c.length, c.binds
	o.span(&f)
	f.Requests, f.Writes = f.Sessions.Times(s.total(calls)), f.Sessions.Times(s.total(writes))
	f.RequestRate, f.WriteRate = c.rate(s.total(calls)), c.rate(s.total(writes))
	f.Connections = c.connections()
	for i := range s.Services {
		v := &s.Services[i]
		f.Services = append(f.Services, engine.ServiceForecast{Name: v.Name, RequestRate: c.rate(v.Calls), WriteRate: c.rate(v.Writes)})
	}
	f.Calls = f.Sessions.Times(s.ofModels(func(*Service) engine.Estimate { return one }))
	f.Input = f.Sessions.Times(s.ofModels(func(v *Service) engine.Estimate { return v.Input }))
	f.Output = f.Sessions.Times(s.ofModels(func(v *Service) engine.Estimate { return v.Output }))
	f.Cost = f.Sessions.Times(s.ofModels(func(v *Service) engine.Estimate { return v.Cost }))
	f.Memory = m.Memory
	if !f.Memory.Known() {
		f.Memory = guessMemory(&o)
	}
	f.Disk = f.Sessions.Times(s.Disk)
	if kept := f.Sessions.Times(s.Content); kept.Known() {
		most := float64(o.Content)
		f.Content.Size = engine.Between(min(kept.Low, most), min(kept.High, most), kept.Basis)
	}
	f.Advice = advise(&o, &s, &m, &f)
	return f
}

var (
	one  = engine.Exactly(1, engine.Measured)
	none = engine.Exactly(0, engine.Measured)
)

func calls(v *Service) engine.Estimate  { return v.Calls }
func writes(v *Service) engine.Estimate { return v.Writes }

// total adds up a figure over the services.
func (s *Session) total(of func(*Service) engine.Estimate) engine.Estimate {
	sum := none
	for i := range s.Services {
		sum = sum.Plus(of(&s.Services[i]))
	}
	return sum
}

// ofModels adds up a figure over a session's model calls. Services without calls do not count.
func (s *Session) ofModels(each func(*Service) engine.Estimate) engine.Estimate {
	return s.total(func(v *Service) engine.Estimate {
		if !v.Model || v.Calls.Known() && v.Calls.High == 0 {
			return none
		}
		return v.Calls.Times(each(v))
	})
}

// span computes the number of cycles and sessions and the length of the run.
func (o *Order) span(f *engine.Forecast) {
	each, agents := f.Cycle, float64(o.Agents)
	period := engine.Between(max(each.Low, o.Every.Seconds()), max(each.High, o.Every.Seconds()), each.Basis)
	if o.Cycles > 0 {
		n := float64(o.Cycles)
		f.Cycles, f.Sessions = engine.Exactly(n, engine.Measured), engine.Exactly(agents*n, engine.Measured)
		if o.Sessions > 0 {
			f.Sessions = engine.Exactly(float64(o.Sessions), engine.Measured)
		}
		f.Length = period.Scale(n - 1).Plus(each)
		if o.Every == 0 && agents > 0 {
			f.Length = each.Scale(f.Sessions.High / agents)
		}
		return
	}
	wall := o.Wall.Seconds()
	if !each.Known() || each.Low <= 0 {
		return
	}
	f.Cycles = engine.Between(math.Ceil(wall/period.High), math.Ceil(wall/period.Low), each.Basis)
	f.Sessions = f.Cycles.Scale(agents)
	f.Length = engine.Between(wall, wall+each.High, each.Basis)
}

// Rules of thumb for memory, in bytes: of the process itself, an agent without memory, and a session in
const (
	baseLow, baseHigh     = 30e6, 250e6
	agentLow, agentHigh   = 200, 4e3
	flightLow, flightHigh = 30e3, 400e3

	// ownMemory is the largest memory of a process with a window and no agents. This part of a measurement does not depend on agents.
	ownMemory = 600e6
)

// Grown returns the memory of a number of agents, given the peak of a run with another number. It is at least the peak. At most, it grows
// by the guess for an agent or by the measured memory per agent, whichever is more.
func Grown(peak, was, agents float64) engine.Estimate {
	if agents <= was {
		return engine.Between(peak, peak*max(agents/was, 0.5), engine.Measured)
	}
	each, basis := float64(agentHigh), engine.Guessed
	if took := (peak - ownMemory) / was; took > each {
		each, basis = took, engine.Measured
	}
	return engine.Between(peak, peak+(agents-was)*each, basis)
}

func guessMemory(o *Order) engine.Estimate {
	agents, most := float64(o.Agents), float64(min(max(o.Limit, o.Ceiling), o.Agents))
	return engine.Between(baseLow+agents*agentLow+float64(min(o.Limit, o.Agents))*flightLow, baseHigh+agents*agentHigh+most*flightHigh, engine.Guessed)
}
