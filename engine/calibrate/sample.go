package calibrate

import (
	"math"
	"time"
)

// Sample is one measurement of a level, after its warm-up.
type Sample struct {
	Level   int           `json:"level"`
	Round   int           `json:"round"`
	Span    time.Duration `json:"span_ns"`    // duration of the measurement
	Ended   int64         `json:"ended"`      // sessions
	Failed  int64         `json:"failed"`     // those of Ended that failed or timed out
	Asked   int64         `json:"asked"`      // requests, without retries
	Refused int64         `json:"refused"`    // 429s
	P95     time.Duration `json:"p95_ns"`     // of sessions: the mean of the seconds' 95th percentiles; 0 is unknown
	Service time.Duration `json:"service_ns"` // mean duration of a request; 0 is unknown
	// Figures of the machine; negative is unknown. OwnCPU is Throng's part of CPU, Memory the fraction that is not available.
	CPU    float64 `json:"cpu_percent"`     // mean
	OwnCPU float64 `json:"own_cpu_percent"` // mean
	Memory float64 `json:"memory_share"`    // maximum
	// WorkersCPU is the part of OwnCPU that the workers of a fleet used; 0 without workers.
	WorkersCPU float64 `json:"workers_cpu_percent,omitempty"`
	// Clients is the maximum of the database server's clients, MaxClients its limit; negative is unknown.
	Clients    int `json:"clients"`
	MaxClients int `json:"max_clients"`
	// Fractions of the slots' time in which sessions were throttled: Paced by rates and refusals of services, Bounded by limits on their
	// concurrent calls.
	Paced    float64 `json:"paced_share"`
	Bounded  float64 `json:"bounded_share"`
	InFlight float64 `json:"in_flight"` // sessions, mean
}

// The bounds of a usable level. A branch of levels ends at the first level beyond one of them.
const (
	MaxErrors = 0.05 // fraction of sessions that failed
	MaxCPU    = 90.0 // percent
	MaxMemory = 0.85 // fraction
)

// Errors returns the fraction of the sessions that failed.
func (s *Sample) Errors() float64 {
	if s.Ended == 0 {
		return 0
	}
	return float64(s.Failed) / float64(s.Ended)
}

// counts reports whether the sample shows how many sessions the system can run.
func (s *Sample) counts() bool {
	return s.Ended > 0 && s.Span > 0 && s.Errors() <= MaxErrors
}

// Level is the measured result of a level.
type Level struct {
	Level   int      `json:"level"`
	Samples []Sample `json:"samples,omitempty"`
	// PerSecond is the mean throughput in sessions of the sweep's mix; Spread is the standard deviation between the measurements. Both
	// are 0 without usable samples.
	PerSecond float64       `json:"per_second"`
	Spread    float64       `json:"spread"`
	P95       time.Duration `json:"p95_ns"` // mean; 0 is unknown
	// Means of the samples, OwnCPU for Throng itself; negative is unknown.
	CPU    float64 `json:"cpu_percent"`
	OwnCPU float64 `json:"own_cpu_percent"`
	Memory float64 `json:"memory_share"`
	Errors float64 `json:"error_share"`    // of its sessions
	Over   Bound   `json:"over,omitempty"` // the first bound exceeded, or ""
	Note   string  `json:"note,omitempty"` // in words, or ""
}

// work converts samples to sessions per second of a common mix. Sessions differ: one that leaves immediately is hardly any work. Most of
// the cost is requests, so work counts requests if there are some, and divides them by the sweep's mean per session.
type work struct {
	perRequest float64 // sessions; 0 counts sessions themselves
}

// someRequests is the number of requests per session from which requests are counted.
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

// rate returns the sample's sessions per second; 0 if the sample does not count.
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

// mean is the mean of known values; negative values are unknown.
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

// value returns the mean, or -1 without known values.
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
