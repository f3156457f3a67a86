// Package calibrate is the screen on which a person finds how many sessions at once are worth it.
package calibrate

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
)

// Choice is a scenario that can be picked.
type Choice struct{ Name, Title string }

// Order is what is to be measured.
type Order struct {
	Scenario string
	Given    map[string]string // parameters that differ from their default, as texts
	Settings *engine.Settings  // nil is what a new run of the scenario begins with
	Allow    []string          // addresses that the person allows the file to call

	Levels       []int // empty doubles from 1 to Max
	Max, Repeats int   // 0 is the default
	Duration     time.Duration
}

// State is a sweep, under way or the newest that ended. It never changes.
type State struct {
	Running bool
	// Doing is what is measured now, Left the time that is left, in words; "" is not known.
	Doing, Left string
	Share       float64 // of it that is done
	Found       *Found  // what was measured so far; nil before anything was
	Err         error   // why it ended before its end
}

// Found is what a sweep found.
type Found struct {
	At           time.Time
	Title, About string // of the scenario; the machine, the services and how many agents
	Levels       []Level
	Curve        []Point
	Level        int // that is recommended; 0 is none
	Low, High    int // its interval
	Words        string
	Law          string // the curve in words; "" is none
}

// Level is one that was to be measured.
type Level struct {
	Level             int
	Measured, Over    bool
	PerSecond, Spread float64 // 0 is that nothing counts
	P95               time.Duration
	CPU, Memory       float64 // percent; negative is not known
	Errors            float64 // percent
	Note              string
}

// Point is one of the fitted curve, with its interval.
type Point struct{ At, PerSecond, Low, High float64 }

// Machine is this one, and what presets say of it.
type Machine struct {
	Words  string
	Cores  int
	Memory uint64 // bytes; 0 is not known
}

// Desk is what the screen asks for. Its methods may take long, but for State and Stop.
type Desk interface {
	// Choices lists the scenarios.
	Choices(ctx context.Context) ([]Choice, error)
	// Start begins a sweep. Mistakes are *engine.FieldError, joined.
	Start(ctx context.Context, o Order) error
	// State is the newest sweep of this process; nil without one.
	State() *State
	// Stop gives the sweep up.
	Stop()
	// Earlier lists what earlier sweeps on this machine found, newest first. notice is what a person should know of how
	// they are kept.
	Earlier(ctx context.Context) (all []Found, notice string, err error)
	Machine(ctx context.Context) (Machine, error)
}
