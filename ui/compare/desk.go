// Package compare is the screen "Compare": what runs differ in, over the cycles that all of them have done.
package compare

import (
	"context"

	"github.com/throng-sim/throng/engine"
)

// Desk is what the screen asks for. Its methods may take long.
type Desk interface {
	// Runs returns all runs, newest first.
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	// Compare compares runs with the first of them.
	Compare(ctx context.Context, runs []engine.RunID) (*Comparison, error)
}

// Comparison is what two or more runs gave in the cycles From to To-1.
type Comparison struct {
	From, To int
	Runs     []Run // the first is what the others are compared with
	Rows     []Row
	Series   []Series
	Notes    []string // how it was compared
}

// Run is one of the runs that are compared.
type Run struct {
	ID          engine.RunID
	Sessions    int64
	Exact       bool
	Differences []string // from the first, in words
}

// Row is a measure.
type Row struct {
	Group, Name string
	First       string
	Others      []Cell
}

// Cell is a measure of another run than the first.
type Cell struct {
	Value, Difference string
	Chance            string // that the difference is nothing else
	Clear             bool   // it is something else
}

// Series is a figure of all runs over the cycles.
type Series struct {
	Name   string
	Kind   Figure
	Values [][]float64 // by run and cycle; NaN where there is none
}

// Figure is what the values of a series are.
type Figure uint8

// The kinds of figures. Seconds are of wall time.
const (
	Counts Figure = iota
	Seconds
)
