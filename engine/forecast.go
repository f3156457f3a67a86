package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Basis is the source of an estimate. Lower nonzero values are better; zero means unknown.
type Basis uint8

// Sources of estimates: a measured earlier run, the latencies that the mock simulates, what the scenario or the
// settings specify, and rules of thumb.
const (
	NotKnown Basis = iota
	Measured
	FromProfile
	FromFile
	Guessed
)

var bases = [...]string{NotKnown: "not known", Measured: "measured", FromProfile: "profile", FromFile: "file", Guessed: "guess"}

func (b Basis) String() string { return bases[b] }

// MarshalText implements [encoding.TextMarshaler].
func (b Basis) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Basis) UnmarshalText(text []byte) error {
	for i, word := range bases {
		if word == string(text) {
			*b = Basis(i)
			return nil
		}
	}
	return fmt.Errorf("unknown basis of an estimate %q", text)
}

// Worse returns the worse of the two bases.
func (b Basis) Worse(other Basis) Basis {
	if b == NotKnown || other == NotKnown {
		return NotKnown
	}
	return max(b, other)
}

// Estimate is a predicted range from Low to High. The zero value is unknown.
type Estimate struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Basis Basis   `json:"basis"`
}

// Exactly returns an estimate of one value.
func Exactly(v float64, b Basis) Estimate { return Between(v, v, b) }

// Between returns an estimate between two values, in either order. If a value is not finite, the estimate is unknown.
func Between(a, b float64, basis Basis) Estimate {
	if basis == NotKnown || math.IsNaN(a+b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return Estimate{}
	}
	return Estimate{min(a, b), max(a, b), basis}
}

// MarshalJSON writes null for an unknown estimate.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if !e.Known() {
		return []byte("null"), nil
	}
	type plain Estimate
	return json.Marshal(plain(e))
}

// Known reports whether the estimate has a value.
func (e Estimate) Known() bool { return e.Basis != NotKnown }

// Times returns the product of two nonnegative estimates.
func (e Estimate) Times(o Estimate) Estimate {
	return Between(e.Low*o.Low, e.High*o.High, e.Basis.Worse(o.Basis))
}

// Plus returns the sum of two estimates.
func (e Estimate) Plus(o Estimate) Estimate {
	return Between(e.Low+o.Low, e.High+o.High, e.Basis.Worse(o.Basis))
}

// Scale multiplies the estimate by a nonnegative number.
func (e Estimate) Scale(f float64) Estimate { return Between(e.Low*f, e.High*f, e.Basis) }

// Middle returns the middle of the range.
func (e Estimate) Middle() float64 { return e.Low + (e.High-e.Low)/2 }

// Forecast is the expected time and resource use of a run, made before the run starts and stored with it.
type Forecast struct {
	Sessions Estimate `json:"sessions"`
	Cycles   Estimate `json:"cycles"`
	// Cycle is how long the sessions of a cycle take, in seconds, without the wait for its schedule. Binds describes what limits it.
	Cycle  Estimate `json:"cycle_seconds"`
	Binds  string   `json:"binds"`
	Length Estimate `json:"length_seconds"` // of the whole run

	Requests Estimate `json:"requests"` // of the whole run, without retries
	Writes   Estimate `json:"writes"`   // requests that change something: not GET, and SQL that writes
	// Per minute, while a cycle is active.
	RequestRate Estimate `json:"requests_per_minute"`
	WriteRate   Estimate `json:"writes_per_minute"`
	// Connections is the number of database connections that the writes need, plus a fifth.
	Connections Estimate `json:"db_connections"`

	// For models, over the whole run. Cost is in US dollars.
	Calls  Estimate `json:"model_calls"`
	Input  Estimate `json:"input_tokens"`
	Output Estimate `json:"output_tokens"`
	Cost   Estimate `json:"cost_usd"`

	Memory Estimate `json:"memory_bytes"` // of this process
	Disk   Estimate `json:"disk_bytes"`   // of the journal

	Content KeptContent `json:"content"`

	Services []ServiceForecast `json:"services,omitempty"`
	Writers  []string          `json:"writing_steps,omitempty"` // paths without iterations
	// Server and ServerMax are the used and the maximum connections of the database server; -1 if unknown.
	Server    int `json:"db_server_connections"`
	ServerMax int `json:"db_server_max"`

	// Run is the earlier run that was measured, at time At; "" if there is none.
	Run RunID     `json:"measured_in,omitempty"`
	At  time.Time `json:"measured_at,omitzero"`
	// Few is the number of sessions of that run if there were too few for a measurement; otherwise 0.
	Few int64 `json:"few_sessions,omitempty"`
	// Advice lists where the run exceeds resources, and what to do.
	Advice []string `json:"advice,omitempty"`
}

// KeptContent is the expected size of the requests and answers that the run keeps for its transcript.
type KeptContent struct {
	Size    Estimate `json:"bytes"`
	Missing string   `json:"missing,omitempty"` // why the run keeps none; "" if it does
}

// Doubt downgrades measured figures to guesses because the measured run had too few sessions.
func (f *Forecast) Doubt(sessions int64) {
	f.Few = sessions
	all := []*Estimate{
		&f.Cycle, &f.Length, &f.Cycles, &f.Sessions, &f.Requests, &f.Writes, &f.RequestRate, &f.WriteRate, &f.Connections,
		&f.Calls, &f.Input, &f.Output, &f.Cost, &f.Memory, &f.Disk, &f.Content.Size,
	}
	for i := range f.Services {
		all = append(all, &f.Services[i].RequestRate, &f.Services[i].WriteRate)
	}
	for _, e := range all {
		if e.Basis == Measured && e != &f.Sessions && e != &f.Cycles {
			e.Basis = Guessed
		}
	}
}

// ServiceForecast is the expected number of requests to a service per minute, while a cycle is active.
type ServiceForecast struct {
	Name        string   `json:"name"`
	RequestRate Estimate `json:"requests_per_minute"`
	WriteRate   Estimate `json:"writes_per_minute"`
}

// Basis returns the worst basis of the figures that depend on durations.
func (f *Forecast) Basis() Basis {
	worst := f.Cycle.Basis.Worse(f.RequestRate.Basis)
	if f.Calls.High > 0 {
		worst = worst.Worse(f.Cost.Basis)
	}
	return worst
}
