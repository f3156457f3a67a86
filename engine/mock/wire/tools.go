package wire

import (
	"errors"
	"fmt"
)

// Tools are the fractions of a model's answers with calls of tools that do harm (0 to 1), drawn from the request and its seed.
type Tools struct {
	Again   float64 // the model asks for tools although it has results
	Unknown float64 // it asks for tools that it was not offered
	Misfit  float64 // the arguments do not fit the schema
}

// Validate reports everything that is wrong with t.
func (t Tools) Validate() error {
	var errs []error
	for _, share := range [...]float64{t.Again, t.Unknown, t.Misfit} {
		if !(share >= 0 && share <= 1) { // NaN too
			errs = append(errs, fmt.Errorf("a fraction of calls of tools is %v; it must be 0 to 1", share))
		}
	}
	return errors.Join(errs...)
}
