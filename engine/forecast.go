package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// Basis says what an estimate goes by, the best first; the zero value is that nobody knows.
type Basis uint8

// What estimates go by: an earlier run that was measured, the latencies that the mock plays, what the scenario or
// the settings say, and rules of thumb.
const (
	NotKnown Basis = iota
	Measured
	FromProfile
	FromFile
	Guessed
)

var bases = [...]string{NotKnown: "not known", Measured: "measured", FromProfile: "profile", FromFile: "file", Guessed: "guess"}

func (b Basis) String() string { return bases[b] }

// MarshalText writes the word of a basis.
func (b Basis) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads the word of a basis.
func (b *Basis) UnmarshalText(text []byte) error {
	for i, word := range bases {
		if word == string(text) {
			*b = Basis(i)
			return nil
		}
	}
	return fmt.Errorf("%q is nothing that an estimate goes by", text)
}

// Worse returns the worse of two.
func (b Basis) Worse(other Basis) Basis {
	if b == NotKnown || other == NotKnown {
		return NotKnown
	}
	return max(b, other)
}

// Estimate is a figure before the fact, from Low to High. The zero value is not known.
type Estimate struct {
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Basis Basis   `json:"basis"`
}

// Exactly is an estimate of one value.
func Exactly(v float64, b Basis) Estimate { return Between(v, v, b) }

// Between is an estimate between two values, in whatever order. What is no finite number is not known.
func Between(a, b float64, basis Basis) Estimate {
	if basis == NotKnown || math.IsNaN(a+b) || math.IsInf(a, 0) || math.IsInf(b, 0) {
		return Estimate{}
	}
	return Estimate{min(a, b), max(a, b), basis}
}

// MarshalJSON writes null for what is not known.
func (e Estimate) MarshalJSON() ([]byte, error) {
	if !e.Known() {
		return []byte("null"), nil
	}
	type plain Estimate
	return json.Marshal(plain(e))
}

// Known reports whether it says anything.
func (e Estimate) Known() bool { return e.Basis != NotKnown }

// Times is the product of two that are not negative.
func (e Estimate) Times(o Estimate) Estimate {
	return Between(e.Low*o.Low, e.High*o.High, e.Basis.Worse(o.Basis))
}

// Plus is the sum of two.
func (e Estimate) Plus(o Estimate) Estimate {
	return Between(e.Low+o.Low, e.High+o.High, e.Basis.Worse(o.Basis))
}

// Scale multiplies by a number that is not negative.
func (e Estimate) Scale(f float64) Estimate { return Between(e.Low*f, e.High*f, e.Basis) }

// Middle is the value between both.
func (e Estimate) Middle() float64 { return e.Low + (e.High-e.Low)/2 }

// Forecast is what a run is expected to take, said before it starts and kept with it.
type Forecast struct {
	Sessions Estimate `json:"sessions"`
	Cycles   Estimate `json:"cycles"`
	// Cycle is how long a cycle's sessions take, in seconds, without the wait for its schedule; Binds is what that
	// follows from, in words.
	Cycle  Estimate `json:"cycle_seconds"`
	Binds  string   `json:"binds"`
	Length Estimate `json:"length_seconds"` // of the whole run

	Requests Estimate `json:"requests"` // of the whole run, without retries
	Writes   Estimate `json:"writes"`   // those of them that change something: not GET, and sql that writes
	// Per minute, while a cycle has work.
	RequestRate Estimate `json:"requests_per_minute"`
	WriteRate   Estimate `json:"writes_per_minute"`
	// Connections are those that the writes need of a database, with a fifth more.
	Connections Estimate `json:"db_connections"`

	// Of models, over the whole run. Cost is in US dollars.
	Calls  Estimate `json:"model_calls"`
	Input  Estimate `json:"input_tokens"`
	Output Estimate `json:"output_tokens"`
	Cost   Estimate `json:"cost_usd"`

	Memory Estimate `json:"memory_bytes"` // of this process
	Disk   Estimate `json:"disk_bytes"`   // of the journal

	Services []ServiceForecast `json:"services,omitempty"`
	Writers  []string          `json:"writing_steps,omitempty"` // paths without iterations
	// Server and ServerMax are the connections of the database server that were in use and that it takes; -1 is not known.
	Server    int `json:"db_server_connections"`
	ServerMax int `json:"db_server_max"`

	// Run is the earlier run that figures were measured in, at At; "" is none.
	Run RunID     `json:"measured_in,omitempty"`
	At  time.Time `json:"measured_at,omitzero"`
	// Few is how many sessions that run had, where they are too few to measure anything by; 0 is that they are not.
	Few int64 `json:"few_sessions,omitempty"`
	// Advice says where it will not fit, and what to do.
	Advice []string `json:"advice,omitempty"`
}

// Doubt makes guesses of what was measured, in a run of so few sessions.
func (f *Forecast) Doubt(sessions int64) {
	f.Few = sessions
	all := []*Estimate{
		&f.Cycle, &f.Length, &f.Cycles, &f.Sessions, &f.Requests, &f.Writes, &f.RequestRate, &f.WriteRate, &f.Connections,
		&f.Calls, &f.Input, &f.Output, &f.Cost, &f.Memory, &f.Disk,
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

// ServiceForecast is what a service is expected to be asked, per minute, while a cycle has work.
type ServiceForecast struct {
	Name        string   `json:"name"`
	RequestRate Estimate `json:"requests_per_minute"`
	WriteRate   Estimate `json:"writes_per_minute"`
}

// Basis is the worst that the figures go by which depend on how long things take.
func (f *Forecast) Basis() Basis {
	worst := f.Cycle.Basis.Worse(f.RequestRate.Basis)
	if f.Calls.High > 0 {
		worst = worst.Worse(f.Cost.Basis)
	}
	return worst
}

// From says in words what the forecast goes by.
func (f *Forecast) From() string {
	text := map[Basis]string{
		NotKnown:    "uncertain: not everything is known before a first run",
		Measured:    "measured",
		FromProfile: "from the latencies of the mock and what the scenario says, until a first run is measured",
		FromFile:    "from what the scenario says, until a first run is measured",
		Guessed:     "a guess, until a first run is measured",
	}[f.Basis()]
	if f.Run == "" {
		return text
	}
	run := fmt.Sprintf("the run of %s (%s)", f.At.Local().Format("2006-01-02 15:04"), f.Run)
	switch {
	case f.Few == 1:
		return "a guess from the only session of " + run
	case f.Few > 1:
		return fmt.Sprintf("a guess from the %d sessions of %s", f.Few, run)
	case f.Basis() == Measured:
		return text + " in " + run
	}
	return "in part a guess, from " + run
}
