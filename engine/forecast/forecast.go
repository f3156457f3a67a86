// Package forecast says what a run will take before it starts: how long its cycles are and why, how much it asks of
// services, models and a database, what that costs, and where it will not fit. It is pure: whoever calls it knows what a
// session takes, from an earlier run, from the mock's profile or from the scenario, and each figure says which.
package forecast

import (
	"math"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Order is what would be run.
type Order struct {
	Agents   int           // that take part
	Cycles   int           // 0 ends by Wall
	Sessions int64         // planned, where the warm-up has fewer than Agents in each cycle; 0 is all
	Wall     time.Duration // after which no further cycle begins; counts only where Cycles is 0
	// Every is how often a cycle begins, Scale the time scale that this follows from; 0 is as fast as possible.
	Every time.Duration
	Scale float64
	// Limit is how many sessions are in flight at the start, Ceiling how many a governor may make of it; 0 is that none
	// moves it.
	Limit, Ceiling int
	// LLMCalls is how many calls of models go on at once, over all services together; 0 is any number.
	LLMCalls int
	Budget   engine.Budget
	Writing  engine.Amount // what the population takes that is still to be written, on the same budget
}

// Session is what one session takes, on average.
type Session struct {
	// Time is how long it is in flight, in seconds, without what holds it back; where it is not known, it is the sum of
	// Thinks and what its services take.
	Time engine.Estimate
	// Longest is the time of the longest of a cycle's sessions, in seconds; where it is not known, all are taken to be alike.
	Longest engine.Estimate
	// Worked is what it adds to the length of its cycle, in seconds, where that was measured with as many agents at the
	// same limit: no bound is asked then.
	Worked   engine.Estimate
	Thinks   engine.Estimate // that it waits by itself, in seconds
	CPU      engine.Estimate // seconds of one core, beside those of its calls; not known, the processor bounds nothing
	Disk     engine.Estimate // bytes of the journal
	Services []Service
}

// Service is what one session asks of a service.
type Service struct {
	Name   string
	Model  bool // its calls are those of a model
	Inside bool // it is the mock: its writes reach no database
	Calls  engine.Estimate
	Writes engine.Estimate // those of Calls that change something
	// Latency is how long a call takes, WriteLatency one that writes; in seconds.
	Latency, WriteLatency engine.Estimate
	CPU                   engine.Estimate // seconds of one core for a call; not known is that Session.CPU has them
	Bound                 int             // calls at once; 0 is any number
	Rate, MaxRate         float64         // calls per second that may start, at first and at most; 0 is as many as come
	// Of a call of a model; Cost is in US dollars.
	Input, Output, Cost engine.Estimate
}

// Machine is where it would run. What is 0 or, of Database, negative, is not known.
type Machine struct {
	Cores               int
	Available, DiskFree uint64             // bytes
	Database            engine.Connections // Server are those of others
	// Memory is what this process will need, in bytes; where it is not known it is guessed.
	Memory engine.Estimate
}

// Make says what a run takes.
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
	f.Advice = advise(&o, &s, &m, &f)
	return f
}

var (
	one  = engine.Exactly(1, engine.Measured)
	none = engine.Exactly(0, engine.Measured)
)

func calls(v *Service) engine.Estimate  { return v.Calls }
func writes(v *Service) engine.Estimate { return v.Writes }

// total adds something up over the services.
func (s *Session) total(of func(*Service) engine.Estimate) engine.Estimate {
	sum := none
	for i := range s.Services {
		sum = sum.Plus(of(&s.Services[i]))
	}
	return sum
}

// ofModels is what the calls of models of a session come to. What is not called matters to nobody.
func (s *Session) ofModels(each func(*Service) engine.Estimate) engine.Estimate {
	return s.total(func(v *Service) engine.Estimate {
		if !v.Model || v.Calls.Known() && v.Calls.High == 0 {
			return none
		}
		return v.Calls.Times(each(v))
	})
}

// span finds out how many cycles and sessions there are, and how long the run is.
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

// Rules of thumb for memory, in bytes: what the process takes by itself, an agent that remembers nothing, a session in
// flight.
const (
	baseLow, baseHigh     = 30e6, 250e6
	agentLow, agentHigh   = 200, 4e3
	flightLow, flightHigh = 30e3, 400e3

	// ownMemory is what a process with a window takes by itself, at most: of what was measured, so much says nothing of
	// agents.
	ownMemory = 600e6
)

// Grown is the memory for so many agents where a run of other ones took so many bytes at most: between the same, and more by
// what agents are guessed to take or did take, whichever is more.
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
