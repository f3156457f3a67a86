package nearest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/nearest"
)

// table returns an experiment with a distance for each point and seed, in one column unless there are more names.
func table(points, seeds int, of func(point, seed int) float64, columns ...string) *findings.Table {
	t := &findings.Table{Title: "T", Baseline: -1, Real: &findings.RealData{File: "real.csv"}, Factors: []findings.Factor{{Name: "params.a"}}}
	for _, name := range append([]string{"spend"}, columns...) {
		t.Real.Columns = append(t.Real.Columns, findings.RealColumn{Name: name, Figure: "events.buy.total.sum", Numbers: true})
	}
	for k := range seeds {
		t.Seeds = append(t.Seeds, uint64(k+1))
	}
	for p := range points {
		t.Points = append(t.Points, findings.Point{Label: "a=" + strconv.Itoa(p), Values: []findings.Value{{Text: strconv.Itoa(p), Number: float64(p)}}})
		var runs []findings.Run
		for k := range seeds {
			d := of(p, k)
			r := findings.Run{Identity: fmt.Sprint(p, k), State: findings.Done, Values: []float64{}}
			for range t.Real.Columns {
				nan := math.NaN()
				one := findings.Distance{Total: d, Mean: -d, Smirnov: d, Wasserstein: 10 * d, JensenShannon: d / 2, ChiSquare: nan, CramersV: nan, Differs: d > 0.3}
				if math.IsNaN(d) {
					one = findings.Distance{Total: nan, Mean: nan, Smirnov: nan, Wasserstein: nan, JensenShannon: nan, ChiSquare: nan, CramersV: nan, Problem: "The run has no values."}
				}
				r.Distances = append(r.Distances, one)
			}
			runs = append(runs, r)
		}
		t.Runs = append(t.Runs, runs)
	}
	return t
}

// TestChance holds the claims over made-up experiments: a point is seldom found nearest if all are as near, and the nearest point is seldom
// called farther.
func TestChance(t *testing.T) {
	const experiments, points, seeds = 200, 4, 12
	for name, planted := range map[string]float64{"none": 0, "small": 0.02, "large": 0.2} {
		clear, wrong := 0, 0
		for i := range uint64(experiments) {
			r := rand.New(rand.NewPCG(i, 11))
			luck := make([]float64, seeds) // of all points
			for k := range luck {
				luck[k] = 0.02 * r.NormFloat64()
			}
			ranked := nearest.Rank(table(points, seeds, func(p, k int) float64 {
				d := 0.3 + luck[k] + 0.03*r.NormFloat64()
				if p == 2 {
					d -= planted
				}
				return d
			}))
			if ranked.Overall.Clear() {
				clear++
			}
			if ranked.Overall.Rank(2) == nearest.Farther {
				wrong++
			}
		}
		if wrong > experiments/20 {
			t.Errorf("%s: the nearest point is called farther in %d of %d experiments", name, wrong, experiments)
		}
		if planted == 0 && clear > experiments/20 || planted == 0.2 && clear < experiments-5 {
			t.Errorf("%s: a point is found nearest in %d of %d experiments", name, clear, experiments)
		}
	}
}

// TestSentences says what was found, and what is unknown.
func TestSentences(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	apart := func(by float64) func(p, k int) float64 {
		return func(p, _ int) float64 { return 0.1 + by*float64(p) + 0.01*r.Float64() }
	}
	unfinished := table(2, 12, apart(0.2))
	unfinished.Runs[1][3].State, unfinished.Runs[1][3].Values, unfinished.Runs[1][3].Distances = findings.Waiting, nil, nil
	for _, c := range []struct {
		table *findings.Table
		want  string
	}{
		{table(2, 12, apart(0.2)), "a=0 is nearer to real.csv than the other point, by more than chance: its distance is 0.1"},
		{table(5, 12, apart(0.2)), "a=0 is nearest to real.csv, by more than chance against each of the 4 other points: its distance is 0.1"},
		{table(5, 12, func(p, k int) float64 { return 0.4 + 0.1*float64((p+2*k)%5) }), "No point is nearest to real.csv by more than chance. a="},
		{table(3, 12, func(p, k int) float64 { return []float64{0.1 + 0.01*float64(k%2), 0.105, 0.9}[p] }), ", but a="},
		{table(2, 1, apart(0.2)), "No point is nearest to real.csv by more than chance. a=0 has the smallest distance, 0.10"},
		{table(2, 1, apart(0.2)), ". A single run says nothing about chance; add seeds"},
		{table(1, 12, apart(0.2)), "a=0 has the distance 0.10"},
		{unfinished, "So far (23 of 24 runs): a=0 is nearer"},
		{table(2, 2, func(int, int) float64 { return math.NaN() }), "No run can be compared with real.csv. spend: The run has no values"},
	} {
		if got := nearest.Rank(c.table).Sentences()[0].Text; !strings.Contains(got, c.want) {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if nearest.Rank(&findings.Table{}) != nil {
		t.Error("an experiment without real data is ranked")
	}
}

// TestMissingDistances leaves out points and runs without a distance, and says so.
func TestMissingDistances(t *testing.T) {
	r := nearest.Rank(table(3, 12, func(p, k int) float64 {
		if p == 0 || p == 1 && k == 2 {
			return math.NaN()
		}
		return float64(p)/4 + 0.01*float64(k%3)
	}, "visits"))
	of := &r.Overall
	if of.Nearest != 1 || !of.Clear() || of.Estimates[1].N != 11 || of.Rank(0) != "" || of.Rank(2) != nearest.Farther || of.Chance(0) != findings.Unknown {
		t.Errorf("%+v", of)
	}
	if notes := r.Notes(); len(notes) != 2 || notes[0] != "In spend, runs of 2 points could not be compared, and have no distance: The run has no values." {
		t.Errorf("%q", notes)
	}
	if c := &r.Columns[0]; !slices.Equal(c.Differs, []int{0, 0, 12}) || c.Differing(2) != "12 of 12" || !slices.Equal(c.Shown(), []int{0, 1, 2, 3}) {
		t.Errorf("%+v", c)
	}
}

// TestSheet checks the rows: all columns together at each point, then each column.
func TestSheet(t *testing.T) {
	r := nearest.Rank(table(2, 12, func(p, k int) float64 { return 0.2 + 0.3*float64(p) + 0.01*float64((k+p)%3) }, "visits"))
	sheet := r.Sheet()
	if len(sheet.Rows) != 6 {
		t.Fatalf("%d rows", len(sheet.Rows))
	}
	cell := func(row int, column string) string {
		at := slices.IndexFunc(sheet.Columns, func(c findings.Column) bool { return c.Name == column })
		if at < 0 || len(sheet.Rows[row]) != len(sheet.Columns) {
			t.Fatalf("no column %s, or %d cells in %d columns", column, len(sheet.Rows[row]), len(sheet.Columns))
		}
		return sheet.Rows[row][at]
	}
	number := func(row int, column string) float64 {
		v, err := strconv.ParseFloat(cell(row, column), 64)
		if err != nil {
			t.Errorf("%s is %q", column, cell(row, column))
		}
		return v
	}
	near := func(got, want float64) bool { return math.Abs(got-want) < 1e-9 }
	if cell(0, "column") != "*" || cell(0, "rank") != "nearest" || cell(0, "farther") != "" || cell(1, "rank") != "farther" || cell(4, "column") != "visits" || cell(1, "ks") != "" {
		t.Errorf("%q", sheet.Rows)
	}
	if !near(number(1, "farther"), 0.3) || !near(number(3, "wasserstein"), 5.1) || !near(number(3, "mean_difference"), -0.51) || !near(number(3, "runs_that_differ"), 12) {
		t.Errorf("%q", sheet.Rows)
	}
	if number(1, "farther_low") >= 0.3 || number(1, "p_adjusted") > 0.001 || cell(3, "chi_square") != "" || cell(1, "params.a") != "1" {
		t.Errorf("%q", sheet.Rows)
	}
}
