// Package compare is the screen "Compare": the differences between runs, over the cycles that all of them have completed.
package compare

import (
	"context"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/view"
)

// Desk is what the screen needs from the application. Its methods may take long.
type Desk interface {
	// Runs returns all runs, newest first.
	Runs(ctx context.Context) ([]engine.RunRecord, error)
	// Compare compares runs with the first of them. With seeds, each run stands for all runs of its setup, whatever their seeds.
	Compare(ctx context.Context, runs []engine.RunID, seeds bool) (*Comparison, error)
	// Curves returns the charts of runs over time.
	Curves(ctx context.Context, runs []engine.RunID) ([]*view.Curves, error)
}

// Comparison compares two or more runs over the cycles From to To-1.
type Comparison struct {
	From, To int
	Runs     []Run // the first is the baseline
	Rows     []Row
	Series   []Series
	Method   string // how runs are compared, in words
}

// Run is a compared run.
type Run struct {
	ID          engine.RunID
	Name        string
	Sessions    int64
	Seeds       int // runs of its setup that are compared as one
	Exact       bool
	Differences []string // from the baseline, as text
}

// Row is a measure.
type Row struct {
	Group, Name string
	First       string
	Others      []Cell
}

// Cell is a measure of a run other than the baseline.
type Cell struct {
	Value, Difference string
	Chance            string // probability that the difference is due to chance
	Clear             bool   // the difference is significant
}

// Series is a figure of all runs over the cycles; of several seeds their mean.
type Series struct {
	Name   string
	Kind   Figure
	Values [][]float64 // by run and cycle; NaN if missing
}

// Figure is the type of a series' values.
type Figure uint8

// The types of figures. Seconds are wall time.
const (
	Counts Figure = iota
	Seconds
)
