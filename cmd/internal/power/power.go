// Package power tells what the machine draws its power from: a run of hours should not hang on a battery.
package power

import (
	"context"
	"errors"
)

// ErrUnknown is that this system does not tell.
var ErrUnknown = errors.New("this system does not tell")

// Source is what the machine draws from.
type Source struct {
	Battery bool // it draws from one now
	Percent int  // charge of that; -1 is not known, or there is none
}

// Read asks the system. It takes a moment; its error wraps ErrUnknown where nobody tells.
func Read(ctx context.Context) (Source, error) { return read(ctx) }
