// Package experiment reads the file of an experiment and plans its runs: factors, design, replicates, measures, the identity of
// every run and the order of runs. It starts nothing, stores nothing and reads no clock.
package experiment

import (
	"cmp"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/design"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/scenario"
	"github.com/throng-sim/throng/engine/script"
	"github.com/throng-sim/throng/engine/validation"
	"github.com/throng-sim/throng/engine/view"
)

// Ending is what the names of experiment files end in.
const Ending = ".experiment.yaml"

// Misnamed reports whether a file is an experiment by its text, but not by its name.
func Misnamed(name string, text []byte) bool {
	return !strings.HasSuffix(name, Ending) && namesScenario.Match(text)
}

// namesScenario matches a key that every experiment has, and no scenario.
var namesScenario = regexp.MustCompile(`(?m)^scenario:`)

// Experiment is a checked experiment.
type Experiment struct {
	Title      string
	Scenario   string             // as in the file: a path relative to the experiment, or the name of a built-in scenario
	Params     map[string]string  // parameters with the same value in every run, as on a command line
	Of         *scenario.Scenario // with these parameters, and all others at their defaults; nil if [Read] had no loader
	Factors    []Factor           // by name, whatever their order in the file
	Design     Design
	Replicates Replicates
	// Baseline has a value for each factor: the one in the file, or else the one that a run has without the experiment. If the
	// latter is not in the space of the design, it is the first level, or the beginning of the range.
	Baseline []Value
	// Compared is set if the file has a baseline. Its point is then part of every design other than morris and sobol.
	Compared  bool
	Measures  []Measure
	Functions *script.Env         // what the functions of the file define; nil if it has none
	Settings  []engine.Assignment // of every run, by name
	Budget    Budget
	Parallel  int                 // runs in progress at the same time; 1 or more
	Seed      uint64              // of the design and of the order of runs, not of the runs
	Against   *validation.Against // real data that runs are compared with: of the file, else of the scenario; nil without any

	functions string // as in the file
	ownData   bool   // Against is of the file
	report    *doc.Report
}

// Factor is something that an experiment varies.
type Factor struct {
	Name string // as in the file, such as params.eagerness
	Kind FactorKind
	// Path is the name of a parameter or setting, or the keys of a field below services in the scenario.
	Path   []string
	Levels []Value       // in the order of the file; empty for a range
	Range  *design.Range // of numbers, for sampled designs; nil if there are levels
	// At is the cycle from which on the value applies. Before it, the baseline applies. 0 applies it from the start.
	At int

	at *doc.Node // nil in an experiment that was not read
}

// FactorKind is the kind of thing that a factor varies.
type FactorKind uint8

// The kinds of factors.
const (
	Parameter  FactorKind = iota // params.NAME
	RunSetting                   // settings.NAME
	Service                      // service.NAME.FIELD
	Filter                       // population.filter
)

// Value is a value of a factor.
type Value struct {
	Text string // canonical, as on a command line
	JSON string // canonical, with its type
}

// Number returns the value as a number; false if it is a text, true or false.
func (v Value) Number() (float64, bool) {
	f, err := strconv.ParseFloat(v.JSON, 64)
	return f, err == nil
}

// Design says how the points follow from the factors.
type Design struct {
	Kind   DesignKind
	N      int       // points of random, lhs and halton, trajectories of morris, base points of sobol
	Levels int       // of a range in a Morris design
	Points [][]Value // of the kind points, with a value for each factor
}

// DesignKind is the name of a design in the file.
type DesignKind string

// The designs.
const (
	Grid       DesignKind = "grid"
	Zip        DesignKind = "zip"
	OneAtATime DesignKind = "one-at-a-time"
	Points     DesignKind = "points"
	Random     DesignKind = "random"
	LHS        DesignKind = "lhs"
	Halton     DesignKind = "halton"
	Morris     DesignKind = "morris"
	Sobol      DesignKind = "sobol"
)

// structured reports whether the position of a point is part of the design, so that no point may be added or removed.
func (k DesignKind) structured() bool { return k == Morris || k == Sobol }

// Replicates are the seeds of each point.
type Replicates struct {
	Seeds []uint64 // of the first replicates, without repetitions
	Until *Until   // nil runs these seeds and no others
}

// Until adds replicates until an interval is narrow enough.
type Until struct {
	HalfWidth float64 // of the 95% interval: a fraction of the mean if Relative is set, else in the unit of the measure
	Relative  bool
	Of        string // name of a measure
	AtMost    int    // replicates
}

// Seed returns the seed of a replicate, from 0 on. After the seeds in the file, it counts on from the largest one.
func (r *Replicates) Seed(replicate int) uint64 {
	if replicate < len(r.Seeds) {
		return r.Seeds[replicate]
	}
	largest := uint64(0)
	if len(r.Seeds) > 0 {
		largest = slices.Max(r.Seeds)
	}
	return largest + uint64(replicate-len(r.Seeds)) + 1
}

// Budget limits the experiment as a whole. 0 is unlimited.
type Budget struct {
	USD  float64
	Time time.Duration
}

// Warnings returns what is likely a mistake but does not keep the experiment from running.
func (e *Experiment) Warnings() []view.Problem { return view.Problems(e.report) }

// PrintWarnings writes what is likely a mistake but does not keep the experiment from running.
func (e *Experiment) PrintWarnings(w io.Writer) error { return e.report.Print(w) }

// Factor returns a factor by name; nil if there is none.
func (e *Experiment) Factor(name string) *Factor {
	i, found := slices.BinarySearchFunc(e.Factors, name, func(f Factor, name string) int { return cmp.Compare(f.Name, name) })
	if !found {
		return nil
	}
	return &e.Factors[i]
}

// spaces returns the factors for the designs.
func (e *Experiment) spaces() []design.Factor {
	all := make([]design.Factor, len(e.Factors))
	for i := range e.Factors {
		f := &e.Factors[i]
		all[i] = design.Factor{Name: f.Name, Levels: len(f.Levels)}
		if f.Range != nil {
			all[i].Range = *f.Range
		}
	}
	return all
}

// coordinate returns the place of a value in the factor's space. The level is -1 if the value is not among them.
func (f *Factor) coordinate(v Value) design.Coordinate {
	if f.Range == nil {
		level := slices.IndexFunc(f.Levels, func(l Value) bool { return l.JSON == v.JSON })
		return design.Coordinate{Level: level, Unit: float64(max(level, 0)) / float64(max(len(f.Levels)-1, 1))}
	}
	x, _ := v.Number()
	c := design.Coordinate{Level: -1, Value: x}
	c.Unit = f.Range.Unit(x)
	return c
}
