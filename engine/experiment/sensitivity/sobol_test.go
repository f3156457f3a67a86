package sensitivity

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// blocks returns the points of n blocks A, B, AB1, ..., ABk, drawn independently.
func blocks(r *rand.Rand, n, k int) (points [][]float64) {
	for range n {
		a, b := make([]float64, k), make([]float64, k)
		for f := range a {
			a[f], b[f] = r.Float64(), r.Float64()
		}
		points = append(points, a, b)
		for f := range k {
			ab := append([]float64(nil), a...)
			ab[f] = b[f]
			points = append(points, ab)
		}
	}
	return points
}

// ishigami is the function of Ishigami and Homma (1990) with a = 7 and b = 0.1, on the unit cube.
func ishigami(u []float64) float64 {
	x := make([]float64, 3)
	for i := range x {
		x[i] = math.Pi * (2*u[i] - 1)
	}
	return math.Sin(x[0]) + 7*math.Sin(x[1])*math.Sin(x[1]) + 0.1*math.Pow(x[2], 4)*math.Sin(x[0])
}

// ishigamiIndices are its analytic indices (Sobol and Levitan 1999): 0.3139, 0.4424, 0 and 0.5576, 0.4424, 0.2437.
func ishigamiIndices() (first, total []float64) {
	const a, b = 7.0, 0.1
	pi4 := math.Pow(math.Pi, 4)
	alone := 1 + b*pi4/5
	v1, v2, v13 := alone*alone/2, a*a/8, b*b*pi4*pi4*8/225
	v := v1 + v2 + v13
	return []float64{v1 / v, v2 / v, 0}, []float64{(v1 + v13) / v, v2 / v, v13 / v}
}

// gFunction is the g-function of Sobol with the coefficients of Saltelli and Sobol (1995), and its analytic indices.
var gCoefficients = []float64{0, 1, 4.5, 9, 99, 99, 99, 99}

func gFunction(x []float64) float64 {
	y := 1.0
	for i, a := range gCoefficients {
		y *= (math.Abs(4*x[i]-2) + a) / (1 + a)
	}
	return y
}

func gIndices() (first, total []float64) {
	v := 1.0
	part := func(a float64) float64 { return 1 / (3 * (1 + a) * (1 + a)) }
	for _, a := range gCoefficients {
		v *= 1 + part(a)
	}
	for _, a := range gCoefficients {
		first, total = append(first, part(a)/(v-1)), append(total, part(a)*v/(1+part(a))/(v-1))
	}
	return first, total
}

func TestAnalyticIndices(t *testing.T) {
	first, total := ishigamiIndices()
	for i, want := range []float64{0.3139, 0.4424, 0, 0.5576, 0.4424, 0.2437} {
		if got := append(first, total...)[i]; math.Abs(got-want) > 5e-5 {
			t.Errorf("Ishigami's index %d is %.4f, the literature says %.4f", i, got, want)
		}
	}
	first, total = gIndices()
	for i, want := range []float64{0.7165, 0.1791, 0.0237, 0.0072} {
		if math.Abs(first[i]-want) > 1e-3 || total[i] < first[i] {
			t.Errorf("index %d of the g-function is %.4f, the literature says %.4f", i, first[i], want)
		}
	}
}

func TestSobol(t *testing.T) {
	for _, c := range []struct {
		name     string
		factors  int
		f        func([]float64) float64
		analytic func() (first, total []float64)
	}{
		{"Ishigami", 3, ishigami, ishigamiIndices},
		{"g-function", 8, gFunction, gIndices},
	} {
		points := blocks(rand.New(rand.NewPCG(11, 12)), 4096, c.factors)
		d, err := Sobol(values(points, c.f), c.factors, 1)
		if err != nil {
			t.Fatal(err)
		}
		first, total := c.analytic()
		for f, x := range d.Factors {
			if math.Abs(x.First-first[f]) > 0.05 || math.Abs(x.Total-total[f]) > 0.03 || x.Factor != f {
				t.Errorf("%s, factor %d: %.3f and %.3f, want %.3f and %.3f", c.name, f, x.First, x.Total, first[f], total[f])
			}
			if !x.OfFirst.Contains(x.First) || !x.OfTotal.Contains(x.Total) || x.OfTotal.HalfWidth() > 0.05 || x.OfFirst.Note != "" {
				t.Errorf("%s, factor %d: intervals %+v, %+v", c.name, f, x.OfFirst, x.OfTotal)
			}
		}
		if d.Blocks != 4096 || d.Missing != 0 {
			t.Errorf("%s: %d blocks, %d missing", c.name, d.Blocks, d.Missing)
		}
	}
}

// TestSimulationSobol holds the coverage of the intervals over 400 experiments of 256 independent blocks; each has six intervals.
func TestSimulationSobol(t *testing.T) {
	first, total := ishigamiIndices()
	r := rand.New(rand.NewPCG(13, 14))
	const experiments = 400
	var hits [6]int
	for e := range experiments {
		d, err := Sobol(values(blocks(r, 256, 3), ishigami), 3, uint64(e))
		if err != nil {
			t.Fatal(err)
		}
		for f, x := range d.Factors {
			if x.OfFirst.Contains(first[f]) {
				hits[f]++
			}
			if x.OfTotal.Contains(total[f]) {
				hits[3+f]++
			}
		}
	}
	for i, n := range hits {
		share := float64(n) / experiments
		t.Logf("interval %d covers %.1f%%", i, 100*share)
		if share < 0.92 || share > 0.98 { // the standard error of 400 experiments is 1.1%
			t.Errorf("interval %d covers %.1f%%, want 93 to 97%%", i, 100*share)
		}
	}
}

func TestSobolWithoutFigures(t *testing.T) {
	points := blocks(rand.New(rand.NewPCG(15, 16)), 50, 3)
	y := values(points, ishigami)
	whole, err := Sobol(y[5:], 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if i := whole.Factors[0].OfTotal; !i.Known() || !strings.Contains(i.Note, "rough: 49 blocks") {
		t.Errorf("interval %+v, want a rough one", i)
	}
	y[3] = math.NaN()
	d, err := Sobol(y, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d.Blocks != 49 || d.Missing != 1 || d.Factors[0] != whole.Factors[0] {
		t.Errorf("a missing value: %+v, want the 49 other blocks: %+v", d, whole)
	}
	for _, c := range []struct {
		values []float64
		note   string
	}{
		{make([]float64, 25), "does not vary"},
		{[]float64{math.NaN(), 1, 2, 3, 4}, "no block"},
		{[]float64{1, 2, 3, 4, 5}, "1 blocks have all their values"},
	} {
		d, err := Sobol(c.values, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		if i := d.Factors[0].OfTotal; i.Known() || !strings.Contains(i.Note, c.note) {
			t.Errorf("%v: interval %+v, want unknown: %s", c.values, i, c.note)
		}
	}
	for _, c := range []struct {
		n, factors int
		want       string
	}{{0, 3, "0 values are not blocks of 5"}, {7, 3, "7 values are not blocks of 5"}, {6, 0, "0 factors"}} {
		if _, err := Sobol(make([]float64, c.n), c.factors, 1); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d values, %d factors: error %v, want %q", c.n, c.factors, err, c.want)
		}
	}
}

func BenchmarkSobol(b *testing.B) {
	y := values(blocks(rand.New(rand.NewPCG(1, 2)), 1024, 8), gFunction)
	for b.Loop() {
		if _, err := Sobol(y, 8, 1); err != nil {
			b.Fatal(err)
		}
	}
}
