// Package calibrate is the screen that finds the recommended concurrency limit.
package calibrate

import (
	"context"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/calibrate"
)

// Choice is a scenario in the list.
type Choice struct{ Name, Title string }

// Order is a calibration to start.
type Order struct {
	Scenario string
	Given    map[string]string // parameters that differ from their defaults, as text
	Settings *engine.Settings  // nil: the settings of a new run of the scenario
	Allow    []string          // addresses that the user allows the file to call

	Levels       []int // if empty, levels double from 1 to Max
	Max, Repeats int   // 0 is the default
	Duration     time.Duration
	Others       Others
}

// Others is what to do if other programs use the CPU before a calibration.
type Others uint8

// The choices.
const (
	RefuseOthers  Others = iota // do not start; State.Foreign says how much they use
	WaitForOthers               // until they use little
	DespiteOthers               // measure; the result is not recommended
)

// State is a calibration in progress, or the newest one. It is immutable.
type State struct {
	Running bool
	// Doing describes the current measurement, and Left the remaining time; "" if unknown.
	Doing, Left string
	Share       float64 // completed share
	Found       *Found  // the result so far; nil before the first measurement
	Err         error   // why it ended early
	// Foreign is the percentage of the CPU that other programs use, so that the calibration waits or did not start; 0 otherwise.
	Foreign float64
}

// Found is the result of a calibration.
type Found struct {
	At           time.Time
	Title, About string // Title is the scenario's; About describes the machine, the services and the number of agents
	Levels       []calibrate.Level
	Curve        []Point
	Level        int // the recommended limit; 0 if none
	Low, High    int // its confidence interval
	Words        string
	Law          string // describes the fitted curve; "" if none
	UnderLoad    bool   // other programs distorted it, so that there is no recommendation
}

// Point is a point of the fitted curve, with its confidence interval.
type Point struct{ At, PerSecond, Low, High float64 }

// Machine describes this machine and its preset.
type Machine struct {
	Words  string
	Cores  int
	Memory uint64 // bytes; 0 if unknown
}

// Desk is what the screen needs from the application. Its methods may take long, except for State and Stop.
type Desk interface {
	// Choices lists the scenarios.
	Choices(ctx context.Context) ([]Choice, error)
	// Start starts a calibration. Errors are *engine.FieldError, joined.
	Start(ctx context.Context, o Order) error
	// State returns the newest calibration of this process, or nil.
	State() *State
	// Stop cancels the calibration.
	Stop()
	// Earlier lists previous calibrations on this machine, newest first. notice describes problems with how they are stored.
	Earlier(ctx context.Context) (all []Found, notice string, err error)
	Machine(ctx context.Context) (Machine, error)
}
