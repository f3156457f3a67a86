package validation

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/stat"

	"github.com/throng-sim/throng/engine/experiment/findings"
	tests "github.com/throng-sim/throng/engine/experiment/statistics"
	"github.com/throng-sim/throng/engine/validation/distance"
)

// Level is the confidence of intervals; 1 - Level is the significance level of the tests of all measures together.
const Level = tests.Level

// Fewest is how many values both sides of a comparison need.
const Fewest = 5

// Result is the comparison of a run with real data.
type Result struct {
	File, Digest string
	Rows         []Row
	// Shared says why the agents of the run are not independent of each other; "" if they are. Their tests then find too much.
	Shared string
}

// Row is the comparison of one measure. Figures that do not apply are NaN.
type Row struct {
	Measure
	Real, Run Side
	// Mean is the difference of the mean of the run from that of the real data, by Welch's t-test; Adjusted is corrected for all tests of
	// the result.
	Mean tests.Difference
	// Smirnov is the largest distance of the distribution functions.
	Smirnov       Test
	ChiSquare     Test
	CramersV      float64 // effect size of ChiSquare
	Pooled        int     // categories that ChiSquare counted as one
	Wasserstein   float64 // in the unit of the values
	JensenShannon float64 // in bits: over the bins for numbers, which it depends on then
	Bins          []Bin   // the shares of both sides
	OnlyReal      []string
	OnlyRun       []string
	Problem       string // why nothing was compared; "" if it was
	Notes         []string
}

// Test is a statistic with its p-value, and the p-value corrected for all tests of the result by the method of Holm (1979).
type Test struct{ Statistic, P, Adjusted float64 }

// Side is a sample. Mean, SD and the others are NaN for categories.
type Side struct {
	N, Missing       int
	Mean, SD, Median float64
	Lowest, Highest  float64
}

// Bin is a category, or the numbers from Low up to High, with the count of both sides. High belongs to the last bin only.
type Bin struct {
	Name      string // of a category
	Low, High float64
	Real, Run int
}

// Compare compares the values of a run with the real data.
func (a *Against) Compare(run []Values) *Result {
	r := &Result{File: a.File, Digest: a.Digest, Rows: make([]Row, len(a.Measures))}
	for i := range a.Measures {
		r.Rows[i] = newRow(a.Measures[i], &a.real[i], &run[i])
	}
	var family []*float64 // all p-values, which Holm's method replaces
	for i := range r.Rows {
		row := &r.Rows[i]
		row.Mean.Adjusted, row.Smirnov.Adjusted, row.ChiSquare.Adjusted = row.Mean.P, row.Smirnov.P, row.ChiSquare.P
		family = append(family, &row.Mean.Adjusted, &row.Smirnov.Adjusted, &row.ChiSquare.Adjusted)
	}
	p := make([]float64, len(family))
	for i, at := range family {
		p[i] = *at
	}
	for i, adjusted := range tests.Holm(p) {
		*family[i] = adjusted
	}
	return r
}

// Differs reports whether a test of the row is significant among all tests of the result.
func (r *Row) Differs() bool {
	const alpha = 1 - Level
	return r.Mean.Adjusted < alpha || r.Smirnov.Adjusted < alpha || r.ChiSquare.Adjusted < alpha
}

// Compared reports whether there was enough to compare.
func (r *Row) Compared() bool { return r.Problem == "" }

// Distance returns the figures of the row for a comparison of several runs.
func (r *Row) Distance() findings.Distance {
	d := findings.Distance{
		Total: r.Smirnov.Statistic, Mean: r.Mean.Value, Smirnov: r.Smirnov.Statistic, Wasserstein: r.Wasserstein, JensenShannon: r.JensenShannon,
		ChiSquare: r.ChiSquare.Statistic, CramersV: r.CramersV, Differs: r.Differs(), Problem: r.Problem,
	}
	if r.Kind == Category && r.Compared() {
		d.Total = distance.TotalVariation(counts(r.Bins))
	}
	return d
}

func newRow(m Measure, real, run *Values) Row {
	nan := math.NaN()
	none := Test{nan, nan, nan}
	r := Row{
		Measure: m, Real: newSide(real), Run: newSide(run), Smirnov: none, ChiSquare: none, CramersV: nan, Wasserstein: nan, JensenShannon: nan,
		Mean: tests.Difference{Value: nan, P: nan, Interval: tests.Interval{Low: nan, High: nan}},
	}
	r.remark(real, run)
	if r.Problem != "" {
		return r
	}
	if m.Kind == Number {
		r.numbers(real.Numbers, run.Numbers)
	} else {
		r.categories(real.Texts, run.Texts)
	}
	return r
}

func newSide(v *Values) Side {
	s := Side{N: v.Len(), Missing: v.Missing}
	e := tests.Summarize(v.Numbers, tests.Number, 0) // NaN without numbers
	s.Mean, s.SD, s.Median, s.Lowest, s.Highest = e.Mean, e.SD, e.Median, e.Min, e.Max
	return s
}

// numbers compares numbers.
func (r *Row) numbers(real, run []float64) {
	x, y := slices.Sorted(slices.Values(real)), slices.Sorted(slices.Values(run))
	r.Smirnov.Statistic, r.Smirnov.P = distance.Smirnov(x, y)
	r.Wasserstein = distance.Wasserstein(x, y)
	r.Mean = tests.Welch(real, run)
	r.Bins = histogram(x, y)
	r.JensenShannon = divergence(r.Bins)
}

// categories compares texts.
func (r *Row) categories(real, run []string) {
	r.Bins = categories(real, run)
	x, y := counts(r.Bins)
	c := distance.ChiSquare(x, y)
	r.ChiSquare.Statistic, r.ChiSquare.P, r.CramersV, r.Pooled = c.Statistic, c.P, c.CramersV, c.Pooled
	r.JensenShannon = divergence(r.Bins)
	for i := range r.Bins {
		switch b := &r.Bins[i]; {
		case b.Run == 0:
			r.OnlyReal = append(r.OnlyReal, b.Name)
		case b.Real == 0:
			r.OnlyRun = append(r.OnlyRun, b.Name)
		}
	}
}

func counts(bins []Bin) (real, run []int) {
	for i := range bins {
		real, run = append(real, bins[i].Real), append(run, bins[i].Run)
	}
	return real, run
}

func divergence(bins []Bin) float64 { return distance.JensenShannon(counts(bins)) }

// categories counts the texts of both sides, those that are frequent in the real data first.
func categories(real, run []string) []Bin {
	at := map[string]int{}
	var all []Bin
	bin := func(text string) *Bin {
		i, known := at[text]
		if !known {
			i = len(all)
			at[text] = i
			all = append(all, Bin{Name: text, Low: math.NaN(), High: math.NaN()})
		}
		return &all[i]
	}
	for _, text := range real {
		bin(text).Real++
	}
	for _, text := range run {
		bin(text).Run++
	}
	slices.SortFunc(all, func(a, b Bin) int {
		return cmp.Or(cmp.Compare(b.Real, a.Real), cmp.Compare(b.Run, a.Run), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// mostBins bounds the bins of a histogram.
const mostBins = 30

// histogram returns the counts of both sorted samples in common bins: one for each number if these are whole and few, else bins of equal
// width by the rule of Freedman and Diaconis (1981) for all values together.
func histogram(x, y []float64) []Bin {
	all := append(slices.Clone(x), y...)
	slices.Sort(all)
	low, high := all[0], all[len(all)-1]
	whole := !slices.ContainsFunc(all, func(v float64) bool { return v != math.Trunc(v) })
	n, width := 1, 1.0
	switch spread := stat.Quantile(0.75, stat.Empirical, all, nil) - stat.Quantile(0.25, stat.Empirical, all, nil); {
	case whole && high-low < mostBins:
		n = int(high-low) + 1
		low, high = low-0.5, high+0.5
	case low == high:
		low, high = low-0.5, high+0.5
	case spread > 0:
		n = int(min(mostBins, max(5, math.Ceil((high-low)/(2*spread/math.Cbrt(float64(len(all))))))))
	default:
		n = mostBins
	}
	width = (high - low) / float64(n)
	bins := make([]Bin, n)
	for i := range bins {
		bins[i].Low, bins[i].High = low+float64(i)*width, low+float64(i+1)*width
		if whole && width == 1 {
			bins[i].Name = strconv.FormatFloat(low+0.5+float64(i), 'f', -1, 64)
		}
	}
	place := func(v float64) int { return min(n-1, max(0, int((v-low)/width))) }
	for _, v := range x {
		bins[place(v)].Real++
	}
	for _, v := range y {
		bins[place(v)].Run++
	}
	return bins
}
