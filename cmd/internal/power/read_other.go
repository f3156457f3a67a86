//go:build !linux && !darwin

package power

import "context"

func read(context.Context) (Source, error) { return Source{}, ErrUnknown }
