// Package power reports the power source of the machine: a run of hours should not depend on a battery.
package power

import (
	"context"
	"errors"
)

// ErrUnknown means that this system does not report its power source.
var ErrUnknown = errors.New("this system does not tell")

// Source is the power source of the machine.
type Source struct {
	Battery bool // the machine runs on battery
	Percent int  // charge of the battery; -1 if unknown or if there is no battery
}

// Read returns the power source. It takes a moment. Its error wraps ErrUnknown if the source is unknown.
func Read(ctx context.Context) (Source, error) { return read(ctx) }
