package answer

import (
	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/validation"
)

// Validation is the comparison of a run with real data.
type Validation struct {
	Run      engine.RunID `json:"run"`
	File     string       `json:"file"`
	Digest   string       `json:"sha256"`
	Level    float64      `json:"level"` // of the intervals
	Verdict  string       `json:"verdict"`
	Method   string       `json:"method"`
	Differs  bool         `json:"differs"` // some measure does
	Measures []Validated  `json:"measures"`
}

// Validated is a measure that was compared with real data. Figures that do not apply are missing.
type Validated struct {
	Column        string           `json:"column"`
	Figure        string           `json:"figure"`
	Kind          string           `json:"kind"` // number or category
	Per           string           `json:"per"`  // agent or session
	Differs       bool             `json:"differs"`
	Sentence      string           `json:"sentence"`
	Problem       string           `json:"problem,omitempty"` // why it was not compared
	Notes         []string         `json:"notes,omitempty"`
	Real          ValidatedSide    `json:"real"`
	Run           ValidatedSide    `json:"run"`
	Mean          *MeasureContrast `json:"difference_of_means,omitempty"` // by Welch's t-test
	Smirnov       *ValidatedTest   `json:"kolmogorov_smirnov,omitempty"`
	ChiSquare     *ValidatedTest   `json:"chi_square,omitempty"`
	CramersV      *float64         `json:"cramers_v,omitempty"`
	Wasserstein   *float64         `json:"wasserstein_1,omitempty"` // in the unit of the values
	JensenShannon *float64         `json:"jensen_shannon_bits,omitempty"`
	OnlyReal      []string         `json:"only_real,omitempty"` // categories
	OnlyRun       []string         `json:"only_run,omitempty"`
	Bins          []ValidatedBin   `json:"bins,omitempty"`
}

// ValidatedSide is a sample.
type ValidatedSide struct {
	Values  int                `json:"values"`
	Missing int                `json:"missing"`
	Figures map[string]float64 `json:"figures,omitempty"` // of numbers: mean, standard_deviation, median, lowest, highest
}

// ValidatedTest is a test with its p-value, also corrected for all tests of all measures.
type ValidatedTest struct {
	Statistic float64  `json:"statistic"`
	P         *float64 `json:"p,omitempty"`
	Adjusted  *float64 `json:"p_adjusted,omitempty"`
}

// ValidatedBin is a category, or the numbers of a range, with the counts of both sides.
type ValidatedBin struct {
	Name  string    `json:"name,omitempty"`
	Range []float64 `json:"range,omitempty"` // from and to
	Real  int       `json:"real"`
	Run   int       `json:"run"`
}

// NewValidation returns the comparison of a run with real data.
func NewValidation(run engine.RunID, r *validation.Result) Validation {
	v := Validation{
		Run: run, File: r.File, Digest: r.Digest, Level: validation.Level, Verdict: r.Verdict(), Method: r.Method(), Differs: r.Differ(), Measures: []Validated{},
	}
	for i := range r.Rows {
		v.Measures = append(v.Measures, newValidated(&r.Rows[i]))
	}
	return v
}

func newValidated(r *validation.Row) Validated {
	v := Validated{
		Column: r.Column, Figure: r.Figure, Kind: string(r.Kind), Per: string(r.Per), Differs: r.Differs(), Sentence: r.Sentence(), Problem: r.Problem, Notes: r.Notes,
		Real: newValidatedSide(&r.Real), Run: newValidatedSide(&r.Run), Smirnov: newValidatedTest(&r.Smirnov), ChiSquare: newValidatedTest(&r.ChiSquare),
		CramersV: known(r.CramersV), Wasserstein: known(r.Wasserstein), JensenShannon: known(r.JensenShannon), OnlyReal: r.OnlyReal, OnlyRun: r.OnlyRun,
	}
	if d := &r.Mean; known(d.Value) != nil {
		v.Mean = &MeasureContrast{newMeasureEstimate(d.Point, d.Value, d.Interval), d.Same, known(d.P), known(d.Adjusted), string(d.Test), d.Clear()}
	}
	for _, b := range r.Bins {
		bin := ValidatedBin{Name: b.Name, Real: b.Real, Run: b.Run}
		if known(b.Low) != nil {
			bin.Range = []float64{b.Low, b.High}
		}
		v.Bins = append(v.Bins, bin)
	}
	return v
}

func newValidatedSide(s *validation.Side) ValidatedSide {
	side := ValidatedSide{Values: s.N, Missing: s.Missing}
	for name, v := range map[string]float64{"mean": s.Mean, "standard_deviation": s.SD, "median": s.Median, "lowest": s.Lowest, "highest": s.Highest} {
		if known(v) != nil {
			if side.Figures == nil {
				side.Figures = map[string]float64{}
			}
			side.Figures[name] = v
		}
	}
	return side
}

func newValidatedTest(t *validation.Test) *ValidatedTest {
	if known(t.Statistic) == nil {
		return nil
	}
	return &ValidatedTest{t.Statistic, known(t.P), known(t.Adjusted)}
}
