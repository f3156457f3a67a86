package calibrate

import (
	"math"
	"time"
)

// Sample is what one measurement of a level gave, after its warm-up.
type Sample struct {
	Level   int           `json:"level"`
	Round   int           `json:"round"`
	Span    time.Duration `json:"span_ns"`    // in which the sessions below ended
	Ended   int64         `json:"ended"`      // sessions
	Failed  int64         `json:"failed"`     // of them those that failed or timed out
	Asked   int64         `json:"asked"`      // requests, repetitions not counted
	Refused int64         `json:"refused"`    // 429s
	P95     time.Duration `json:"p95_ns"`     // of sessions: the mean of the seconds' 95th percentiles; 0 is not known
	Service time.Duration `json:"service_ns"` // that a request took, mean; 0 is not known
	// Of the machine; negative is not known. OwnCPU is what Throng itself used of it, Memory the share that the system
	// cannot give any more.
	CPU    float64 `json:"cpu_percent"`     // mean
	OwnCPU float64 `json:"own_cpu_percent"` // mean
	Memory float64 `json:"memory_share"`    // the highest
	// Clients of the database server, the most, and how many it takes; negative is not known.
	Clients    int `json:"clients"`
	MaxClients int `json:"max_clients"`
	// Shares of the time of all places in which sessions were throttled: by rates and refusals of services, and by
	// bounds on their calls at once.
	Paced    float64 `json:"paced_share"`
	Bounded  float64 `json:"bounded_share"`
	InFlight float64 `json:"in_flight"` // sessions, mean
}

// The bounds at which a branch of levels ends.
const (
	MaxErrors = 0.05 // share of sessions that failed
	MaxCPU    = 90.0 // percent
	MaxMemory = 0.85 // share
)

// Errors is the share of the sessions that failed.
func (s *Sample) Errors() float64 {
	if s.Ended == 0 {
		return 0
	}
	return float64(s.Failed) / float64(s.Ended)
}

// counts reports whether the sample says how many sessions can be carried out.
func (s *Sample) counts() bool {
	return s.Ended > 0 && s.Span > 0 && s.Errors() <= MaxErrors
}

// Level is what is known of a level.
type Level struct {
	Level   int      `json:"level"`
	Samples []Sample `json:"samples,omitempty"`
	// PerSecond is how many sessions of the sweep's mix end in a second, mean; Spread is the standard deviation between
	// the measurements. Both are 0 where nothing counts.
	PerSecond float64       `json:"per_second"`
	Spread    float64       `json:"spread"`
	P95       time.Duration `json:"p95_ns"` // mean; 0 is not known
	// Means of the samples, OwnCPU of what Throng itself used; negative is not known.
	CPU    float64 `json:"cpu_percent"`
	OwnCPU float64 `json:"own_cpu_percent"`
	Memory float64 `json:"memory_share"`
	Errors float64 `json:"error_share"`    // of its sessions
	Over   Bound   `json:"over,omitempty"` // the first bound that it went beyond; "" is none
	Note   string  `json:"note,omitempty"` // in words; "" is that there is nothing to say
}

// work turns what samples did into sessions per second of a common mix. Sessions differ: one that leaves at once is no
// work. What costs is what they ask, so that requests are counted where there are some, and shown as so many sessions
// as the sweep had for them.
type work struct {
	perRequest float64 // sessions; 0 counts sessions themselves
}

// someRequests is how many requests a session has to have for them to be counted.
const someRequests = 0.1

func mixOf(samples []Sample) work {
	var ended, requests int64
	for i := range samples {
		if s := &samples[i]; s.counts() {
			ended += s.Ended
			requests += s.Asked
		}
	}
	if float64(requests) < someRequests*float64(ended) || requests == 0 {
		return work{}
	}
	return work{float64(ended) / float64(requests)}
}

// rate is the sample's sessions per second; 0 where it counts for nothing.
func (w work) rate(s *Sample) float64 {
	switch {
	case !s.counts():
		return 0
	case w.perRequest > 0:
		return float64(s.Asked) * w.perRequest / s.Span.Seconds()
	}
	return float64(s.Ended) / s.Span.Seconds()
}

// levelsOf sums up the samples of a plan's levels.
func levelsOf(all []int, samples []Sample) []Level {
	mix := mixOf(samples)
	levels := make([]Level, len(all))
	for i, n := range all {
		l := &levels[i]
		l.Level = n
		for _, s := range samples {
			if s.Level == n {
				l.Samples = append(l.Samples, s)
			}
		}
		l.sum(mix)
	}
	return levels
}

func (l *Level) sum(mix work) {
	var rates []float64
	var ended, failed int64
	var p95 time.Duration
	timed := 0
	var cpu, own, memory mean
	for i := range l.Samples {
		s := &l.Samples[i]
		if r := mix.rate(s); r > 0 {
			rates = append(rates, r)
		}
		ended += s.Ended
		failed += s.Failed
		if s.P95 > 0 {
			p95 += s.P95
			timed++
		}
		cpu.add(s.CPU)
		own.add(s.OwnCPU)
		memory.add(s.Memory)
	}
	l.CPU, l.OwnCPU, l.Memory = cpu.value(), own.value(), memory.value()
	if len(l.Samples) == 0 {
		return
	}
	l.P95 = p95 / time.Duration(max(timed, 1))
	if ended > 0 {
		l.Errors = float64(failed) / float64(ended)
	}
	l.PerSecond, l.Spread = meanAndSpread(rates)
	switch {
	case l.Errors > MaxErrors:
		l.Over = Failures
	case l.CPU > MaxCPU:
		l.Over = CPU
	case l.Memory > MaxMemory:
		l.Over = Memory
	}
}

// mean is of what is known: negative values are not.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(v float64) {
	if v >= 0 {
		m.sum += v
		m.n++
	}
}

// value is -1 where nothing is known.
func (m *mean) value() float64 {
	if m.n == 0 {
		return -1
	}
	return m.sum / float64(m.n)
}

func meanAndSpread(values []float64) (center, spread float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		center += v / float64(len(values))
	}
	if len(values) < 2 {
		return center, 0
	}
	for _, v := range values {
		spread += (v - center) * (v - center)
	}
	return center, math.Sqrt(spread / float64(len(values)-1))
}
