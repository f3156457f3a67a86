// Package meter limits one evaluation of a script: how many operations it takes and how many bytes it builds. Each
// operation is charged before it runs, so that a runaway script fails its own evaluation and nothing else.
package meter

import (
	"errors"
	"fmt"
	"math"

	"go.starlark.net/starlark"
)

// Causes that end an evaluation from outside the script's own logic; test with errors.Is.
var (
	// ErrTooLong means that an evaluation used up its steps.
	ErrTooLong = errors.New("the script runs too long")
	// ErrTooBig means that a value, or everything an evaluation built, exceeds its limit.
	ErrTooBig = errors.New("the script builds too much data")
	// ErrStopped means that the evaluation's Done channel was closed.
	ErrStopped = errors.New("the script was stopped")
)

// Limits bound one evaluation. They are counts, not times, so that a script fails the same way on every machine.
type Limits struct {
	// Steps is how many operations an evaluation may take. Work inside an operation (copying, comparing, searching)
	// counts by its size. 0 means 5 million, a few tenths of a second.
	Steps uint64
	// Bytes is how much an evaluation may build, including dropped values. 0 means 32 MB.
	Bytes int64
}

// OrDefaults returns the limits with the defaults in place of zeros.
func (l Limits) OrDefaults() Limits {
	if l.Steps == 0 {
		l.Steps = 5_000_000
	}
	if l.Bytes == 0 {
		l.Bytes = 32 << 20
	}
	return l
}

const (
	interval     = 10_000 // steps between checks of the Done channel
	bytesPerStep = 64     // bytes of work inside an operation that count as one step
)

// MaxDepth limits the nesting of lists, dicts and records.
const MaxDepth = 200

// ErrTooDeep is the ErrTooBig for a value that is nested deeper than MaxDepth.
var ErrTooDeep = TooBig("nested deeper than %d levels, or contains itself", MaxDepth)

// Approximate memory sizes of values in the Starlark library, in bytes.
const (
	ElemSize  = 16 // an element of a list: an interface
	ListSize  = 64
	DictSize  = 560 // its first eight entries are inline
	EntrySize = 128
)

// Meter counts the steps and bytes of one evaluation. Its goroutine owns it.
type Meter struct {
	steps, pause, maxSteps uint64 // pause is the count at which the limits are checked next
	bytes, maxBytes        int64
	built                  bool
	done                   <-chan struct{}
	sketch                 *sketch // keys that this evaluation put into tables; nil until the first
}

// Start sets the meter to zero for an evaluation with these limits. Closing done stops the evaluation.
func (m *Meter) Start(l Limits, done <-chan struct{}) {
	if m.sketch != nil {
		clear(m.sketch[:])
	}
	*m = Meter{
		pause: min(interval, l.Steps), maxSteps: l.Steps, maxBytes: l.Bytes, done: done, sketch: m.sketch,
	}
}

// Step charges n steps.
func (m *Meter) Step(n int) error {
	m.steps += uint64(n)
	if m.steps < m.pause {
		return nil
	}
	return m.check()
}

// check checks the step limit and the Done channel once per interval.
func (m *Meter) check() error {
	if m.steps >= m.maxSteps {
		return &limitError{ErrTooLong, fmt.Sprintf("the script runs too long: more than %d steps", m.maxSteps)}
	}
	select {
	case <-m.done:
		return ErrStopped
	default:
	}
	m.pause = min(m.steps+interval, m.maxSteps)
	return nil
}

// Work charges the steps for processing n bytes.
func (m *Meter) Work(n int) error { return m.Step(n / bytesPerStep) }

// Charge charges n bytes before they are allocated, and the steps for filling them.
func (m *Meter) Charge(n int) error {
	m.built = true
	if m.bytes += int64(n); m.bytes > m.maxBytes || n < 0 {
		m.bytes = m.maxBytes + 1
		return TooBig("the script builds too much data: more than %s", size(m.maxBytes))
	}
	return m.Step(n / bytesPerStep)
}

// size formats a limit.
func size(bytes int64) string {
	if bytes < 1<<20 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d MB", bytes>>20)
}

// ChargeMany charges n times size bytes; the product may overflow.
func (m *Meter) ChargeMany(n, size int) error {
	if n > 0 && size > math.MaxInt/n {
		return m.Charge(-1)
	}
	return m.Charge(n * size)
}

// ChargeResult charges the long int or list of names that a library function returned.
func (m *Meter) ChargeResult(v starlark.Value) error {
	switch v := v.(type) {
	case starlark.Int:
		if _, small := v.Int64(); !small {
			return m.Charge(ListSize + v.BigInt().BitLen()/8)
		}
	case *starlark.List:
		return m.Charge(ListSize + 2*ElemSize*v.Len())
	}
	return nil
}

// Left returns how many bytes may still be charged.
func (m *Meter) Left() int { return int(max(m.maxBytes-m.bytes, 0)) }

// Built reports whether the evaluation charged any bytes. If not, its result comes from its inputs.
func (m *Meter) Built() bool { return m.built }

// Each calls f for the elements of a sequence and charges a step for each.
func (m *Meter) Each(seq starlark.Iterable, f func(starlark.Value) error) error {
	iter := seq.Iterate()
	defer iter.Done()
	var v starlark.Value
	for iter.Next(&v) {
		if err := m.Step(1); err != nil {
			return err
		}
		if err := f(v); err != nil {
			return err
		}
	}
	return nil
}

// Collect returns the elements of a sequence and charges size bytes for each of them.
func (m *Meter) Collect(seq starlark.Iterable, size int) ([]starlark.Value, error) {
	n := max(starlark.Len(seq), 0)
	if err := m.ChargeMany(n, size); err != nil {
		return nil, err
	}
	if err := m.Charge(ListSize); err != nil {
		return nil, err
	}
	out := make([]starlark.Value, 0, n)
	err := m.Each(seq, func(v starlark.Value) error {
		if len(out) >= n {
			if err := m.Charge(2 * size); err != nil {
				return err
			}
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

// limitError is one of the limit errors with details.
type limitError struct {
	kind error
	text string
}

func (e *limitError) Error() string { return e.text }
func (e *limitError) Unwrap() error { return e.kind }

// TooBig returns an ErrTooBig with its own text.
func TooBig(format string, args ...any) error {
	return &limitError{ErrTooBig, fmt.Sprintf(format, args...)}
}

// TooLong returns an ErrTooLong with its own text.
func TooLong(format string, args ...any) error {
	return &limitError{ErrTooLong, fmt.Sprintf(format, args...)}
}
