// Package findings turns the measured runs of an experiment into what a person reads: estimates, differences from the baseline,
// sentences, and what plots and tables show. It knows no scenario, no store and no screen, so that the window, the terminal and the
// report show the same figures.
package findings

import (
	"iter"
	"math"

	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// Table is the runs of an experiment with their measures.
type Table struct {
	Title    string
	Design   string // as in the file, such as grid
	Seed     uint64 // of the design and of what is drawn by statistics
	Factors  []Factor
	Measures []Measure
	Points   []Point
	Baseline int      // index of the point that the others are compared with; -1 if there is none
	Seeds    []uint64 // by replicate
	Runs     [][]Run  // by point and replicate
	// Until is the rule that adds replicates, and UntilOf the index of its measure; nil without one.
	Until   *statistics.Until
	UntilOf int
	Real    *RealData // nil without real data
}

// Factor is something that the experiment varies.
type Factor struct {
	Name   string
	Levels []string // in the order of the file; empty for a range
	Log    bool     // a range whose values are spaced evenly by their logarithms
}

// Measure is a figure of each run.
type Measure struct {
	Name string
	Kind statistics.Kind
	Unit string // such as s or $; "" for counts, and for shares from 0 to 1
}

// Point is a combination of values.
type Point struct {
	Label  string  // such as eagerness=2
	Values []Value // by factor
}

// Value is the value of a factor at a point.
type Value struct {
	Text   string
	Number float64 // NaN if the value is not a number
	Level  int     // index of the factor's levels; -1 for a range, and for a baseline that is not among the levels
	Unit   float64 // place in the factor's space, from 0 at its first level or the beginning of its range to 1; negative if not in it
}

// State is the state of a run of an experiment.
type State string

// The states of a run.
const (
	Waiting     State = "waiting"
	Running     State = "running"
	Interrupted State = "interrupted" // it continues where it was
	Done        State = "done"
	Failed      State = "failed"  // twice; statistics leave it out
	Skipped     State = "skipped" // by the user
)

// Missing reports whether a run in this state is still to be executed or is in progress.
func (s State) Missing() bool { return s != Done && s != Failed && s != Skipped }

// Run is a run of a point with a seed.
type Run struct {
	Identity string // the same in every experiment that contains the run
	ID       string // of the newest run in the store with this identity; "" if it was never started
	State    State
	Why      string    // it failed; "" if it did not
	Values   []float64 // by measure, NaN where the run has no value; nil if it is not done
	// Distances are by column of the real data; nil if the run is not done or there is no real data.
	Distances []Distance
}

// Count returns the number of runs, and how many of them are in a state. A run that several points share counts once.
func (t *Table) Count(state State) (n, of int) {
	for r := range t.distinct() {
		of++
		if r.State == state {
			n++
		}
	}
	return n, of
}

// distinct yields each run once.
func (t *Table) distinct() iter.Seq[*Run] {
	return func(yield func(*Run) bool) {
		seen := map[string]bool{}
		for _, point := range t.Runs {
			for i := range point {
				r := &point[i]
				if seen[r.Identity] {
					continue
				}
				seen[r.Identity] = true
				if !yield(r) {
					return
				}
			}
		}
	}
}

// Column returns the values of a measure at a point, by replicate; NaN where a run is not done.
func (t *Table) Column(point, measure int) []float64 {
	all := make([]float64, len(t.Runs[point]))
	for k := range all {
		if all[k] = math.NaN(); t.Runs[point][k].Values != nil {
			all[k] = t.Runs[point][k].Values[measure]
		}
	}
	return all
}

// toDo reports whether there are runs that will still have a result.
func (t *Table) toDo() bool {
	for r := range t.distinct() {
		if r.State == Waiting || r.State == Running || r.State == Interrupted {
			return true
		}
	}
	return false
}

// valued returns the number of runs with a value of a measure.
func (t *Table) valued(measure int) (n int) {
	for r := range t.distinct() {
		if r.Values != nil && !math.IsNaN(r.Values[measure]) && !math.IsInf(r.Values[measure], 0) {
			n++
		}
	}
	return n
}

// EffectPlot shows the differences of all points from the baseline in one measure, or, without a baseline, the estimates.
type EffectPlot struct {
	Measure  string
	Unit     string
	Baseline string // label of the baseline; "" if there is none, and the bars are estimates
	Bars     []EffectBar
}

// EffectBar is a point with its 95% interval.
type EffectBar struct {
	Point     int // index
	Label     string
	Runs      int
	Value     float64
	Low, High float64 // NaN if the interval is unknown
	Clear     bool    // significant after the corrections
	Note      string  // why the interval is unknown, or what to consider
}

// CurvePlot shows the mean of a measure over the values of a factor, with one line for each value of a second one.
type CurvePlot struct {
	Measure string
	Unit    string
	Factor  string
	By      string // second factor; "" if there is one line
	Numbers bool   // the values of the factor are numbers, and X is their place; else X is the index of the level
	Log     bool
	Counts  string // what the runs of a dot are, if not runs, such as pairs
	Lines   []CurveLine
}

// CurveLine is the points with one value of the second factor, by X.
type CurveLine struct {
	Label string
	Dots  []CurveDot
}

// CurveDot is the mean over all runs with a value of the factor, with its 95% interval.
type CurveDot struct {
	X         float64
	Text      string // the value of the factor
	Runs      int
	Mean      float64
	Low, High float64 // NaN if the interval is unknown
}

// SensitivityKind is the method of a sensitivity analysis.
type SensitivityKind string

// The methods.
const (
	Screening SensitivityKind = "Morris"                        // figures: µ*, µ, σ
	Indices   SensitivityKind = "Sobol"                         // figures: first order, total
	Tornado   SensitivityKind = "one factor at a time"          // figures: lowest and highest difference
	Shares    SensitivityKind = "main effects and interactions" // figure: share of the variance between points
)

// Sensitivity says how much each factor matters for a measure.
type Sensitivity struct {
	Measure string
	Unit    string // of the figures; "" for shares of the variance
	Method  SensitivityKind
	Figures []string    // names, in words
	Factors []Influence // most important first
	Note    string      // "" if there is nothing to say
}

// Influence is how much one factor matters, or two together.
type Influence struct {
	Name    string // of the factor, or of two
	Figures []Figure
}

// Figure is a value of [Sensitivity.Figures], with its interval if it has one.
type Figure struct {
	Value    float64
	Interval statistics.Interval
}
