package design

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// cube returns k factors with the range from 0 to 1.
func cube(k int) []Factor {
	all := make([]Factor, k)
	for i := range all {
		all[i] = Factor{Name: "f" + string(rune('a'+i)), Range: Range{To: 1}}
	}
	return all
}

// lists returns factors with these numbers of levels.
func lists(levels ...int) []Factor {
	all := cube(len(levels))
	for i := range all {
		all[i].Levels = levels[i]
	}
	return all
}

// levelsOf returns the levels of points, one text a point.
func levelsOf(points []Point) string {
	var all []string
	for _, p := range points {
		text := ""
		for _, c := range p {
			text += string(rune('0' + c.Level))
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

func TestGridZipAndOneAtATime(t *testing.T) {
	grid, err := Grid(lists(2, 3))
	if got, want := levelsOf(grid), "00 01 02 10 11 12"; err != nil || got != want {
		t.Errorf("grid: got %s, %v, want %s", got, err, want)
	}
	zip, err := Zip(lists(3, 1, 3))
	if got, want := levelsOf(zip), "000 101 202"; err != nil || got != want {
		t.Errorf("zip: got %s, %v, want %s", got, err, want)
	}
	f := lists(3, 2)
	one, err := OneAtATime(f, Point{f[0].level(1), f[1].level(0)})
	if got, want := levelsOf(one), "10 00 20 11"; err != nil || got != want {
		t.Errorf("one-at-a-time: got %s, %v, want %s", got, err, want)
	}
	r := []Factor{{Name: "x", Range: Range{From: 2, To: 8}}}
	one, err = OneAtATime(r, Point{{Level: -1, Value: 5, Unit: 0.5}})
	var values []float64
	for _, p := range one {
		values = append(values, p[0].Value)
	}
	if want := []float64{5, 2, 8}; err != nil || !reflect.DeepEqual(values, want) {
		t.Errorf("one-at-a-time over a range: got %v, %v, want %v", values, err, want)
	}
}

func TestDesignsRefuse(t *testing.T) {
	for name, c := range map[string]struct {
		make func() ([]Point, error)
		want string
	}{
		"a range in a grid":    {func() ([]Point, error) { return Grid(cube(1)) }, "fa: a range has no levels for the design grid"},
		"a range in a zip":     {func() ([]Point, error) { return Zip(cube(1)) }, "no levels for the design zip"},
		"a zip of 2 and 3":     {func() ([]Point, error) { return Zip(lists(2, 3)) }, "fb: has 3 levels, and fa has 2"},
		"a huge grid":          {func() ([]Point, error) { return Grid(lists(100, 100, 100)) }, "1000000 points, more than 100000"},
		"a huge sample":        {func() ([]Point, error) { return Random(cube(1), MostPoints+1, 1) }, "more than 100000"},
		"one level in Morris":  {func() ([]Point, error) { return Morris(lists(1, 2), 3, 4, 1) }, "fa: has one level only"},
		"Morris with 1 level":  {func() ([]Point, error) { return Morris(cube(1), 3, 1, 1) }, "at least 2 levels"},
		"21 factors for Sobol": {func() ([]Point, error) { return Sobol(cube(21), 4, 1) }, "21 factors, more than 20"},
		"no baseline":          {func() ([]Point, error) { return OneAtATime(cube(2), nil) }, "a baseline value for every factor"},
	} {
		_, err := c.make()
		if of, ok := errors.AsType[*Error](err); !ok || !strings.Contains(of.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// designs are the sampled designs with a seed.
var designs = map[string]func(f []Factor, n int, seed uint64) ([]Point, error){
	"random": Random, "lhs": LatinHypercube, "halton": Halton, "sobol": Sobol,
	"morris": func(f []Factor, n int, seed uint64) ([]Point, error) { return Morris(f, n, MorrisLevels, seed) },
}

// someFactors draws factors of every kind.
func someFactors(t *rapid.T) []Factor {
	n := rapid.IntRange(1, 6).Draw(t, "factors")
	all := cube(n)
	for i := range all {
		if rapid.Bool().Draw(t, "list") {
			all[i].Levels = rapid.IntRange(2, 7).Draw(t, "levels")
			continue
		}
		from := rapid.IntRange(1, 20).Draw(t, "from")
		all[i].Range = Range{
			From: float64(from), To: float64(from + rapid.IntRange(1, 1000).Draw(t, "width")),
			Log: rapid.Bool().Draw(t, "log"), Whole: rapid.Bool().Draw(t, "whole"),
		}
	}
	return all
}

// TestRepeatableAndInRange checks that a design repeats with its seed, changes with it, stays in the range of every
// factor, and that the designs that can grow keep their points.
func TestRepeatableAndInRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		factors, seed := someFactors(t), rapid.Uint64().Draw(t, "seed")
		name := rapid.SampledFrom([]string{"random", "lhs", "halton", "sobol", "morris"}).Draw(t, "design")
		n := rapid.IntRange(1, 20).Draw(t, "n")
		points, err := designs[name](factors, n, seed)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := designs[name](factors, n, seed)
		if !reflect.DeepEqual(points, again) {
			t.Fatal("the same seed returned other points")
		}
		for _, p := range points {
			for j, c := range p {
				f := &factors[j]
				if c.Unit < 0 || c.Unit > 1 {
					t.Fatalf("place %v", c.Unit)
				}
				if f.Levels > 0 && (c.Level < 0 || c.Level >= f.Levels || c.Value != 0) {
					t.Fatalf("level %+v of %d", c, f.Levels)
				}
				if f.Levels == 0 && (c.Level != -1 || c.Value < f.Range.From || c.Value > f.Range.To || f.Range.Whole && c.Value != math.Trunc(c.Value)) {
					t.Fatalf("value %+v of %+v", c, f.Range)
				}
			}
		}
		if name == "lhs" {
			return
		}
		more, err := designs[name](factors, n+5, seed)
		if err != nil || !reflect.DeepEqual(more[:len(points)], points) {
			t.Fatalf("a larger %s has other points: %v", name, err)
		}
	})
}

// TestSeedsDiffer checks that the seed matters.
func TestSeedsDiffer(t *testing.T) {
	for name, of := range designs {
		a, _ := of(cube(3), 16, 1)
		b, _ := of(cube(3), 16, 2)
		if reflect.DeepEqual(a, b) {
			t.Errorf("%s: two seeds return the same points", name)
		}
	}
}

// TestWithoutRepetitions checks that random and halton points differ, and are all points there are if more are asked for.
func TestWithoutRepetitions(t *testing.T) {
	for _, name := range []string{"random", "halton"} {
		points, err := designs[name](lists(2, 3), 6, 7)
		if err != nil || len(points) != 6 || len(distinct(points, 6)) != 6 {
			t.Errorf("%s: got %s, %v, want all 6 points", name, levelsOf(points), err)
		}
		if more, _ := designs[name](lists(2, 3), 9, 7); len(more) != 6 {
			t.Errorf("%s: got %d of 6 points", name, len(more))
		}
	}
	if points, _ := LatinHypercube(lists(2), 6, 1); len(points) != 6 {
		t.Errorf("lhs: got %d points, want 6", len(points))
	}
}

// TestAFurtherFactorKeepsTheOthers checks that draws depend on names, not on positions.
func TestAFurtherFactorKeepsTheOthers(t *testing.T) {
	for _, name := range []string{"random", "lhs"} {
		two, _ := designs[name](cube(2), 10, 3)
		turned, _ := designs[name]([]Factor{cube(2)[1], {Name: "new", Range: Range{To: 1}}, cube(2)[0]}, 10, 3)
		for i := range two {
			if two[i][0] != turned[i][2] || two[i][1] != turned[i][0] {
				t.Fatalf("%s: point %d changed: %v, %v", name, i, two[i], turned[i])
			}
		}
	}
}

// TestLatinHypercubeStrata checks that each of n strata of every factor holds one point.
func TestLatinHypercubeStrata(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 50).Draw(t, "n")
		points, err := LatinHypercube(cube(3), n, rapid.Uint64().Draw(t, "seed"))
		if err != nil {
			t.Fatal(err)
		}
		for j := range 3 {
			hits := make([]int, n)
			for _, p := range points {
				hits[int(p[j].Unit*float64(n))]++
			}
			for stratum, h := range hits {
				if h != 1 {
					t.Fatalf("factor %d: stratum %d of %d has %d points", j, stratum, n, h)
				}
			}
		}
	})
}

// discrepancy returns the centered L2 discrepancy, squared (Hickernell, A generalized discrepancy and quadrature error bound,
// Mathematics of Computation 67, 1998).
func discrepancy(points []Point) float64 {
	n, k := float64(len(points)), len(points[0])
	one, two := 0.0, 0.0
	for _, x := range points {
		product := 1.0
		for j := range k {
			d := math.Abs(x[j].Unit - 0.5)
			product *= 1 + d/2 - d*d/2
		}
		one += product
		for _, y := range points {
			product := 1.0
			for j := range k {
				a, b := x[j].Unit, y[j].Unit
				product *= 1 + math.Abs(a-0.5)/2 + math.Abs(b-0.5)/2 - math.Abs(a-b)/2
			}
			two += product
		}
	}
	return math.Pow(13.0/12, float64(k)) - 2/n*one + two/(n*n)
}

// TestDiscrepancy checks that Halton and Sobol points cover the space more evenly than random ones.
func TestDiscrepancy(t *testing.T) {
	for seed := range uint64(20) {
		random, _ := Random(cube(4), 256, seed)
		halton, _ := Halton(cube(4), 256, seed)
		all, _ := Sobol(cube(4), 256, seed)
		var sobol []Point
		for i := 0; i < len(all); i += 6 {
			sobol = append(sobol, all[i])
		}
		r, h, s := discrepancy(random), discrepancy(halton), discrepancy(sobol)
		if h > r/3 || s > r/3 {
			t.Errorf("seed %d: random %.2g, Halton %.2g, Sobol %.2g", seed, r, h, s)
		}
	}
}

// TestLogRange checks that a logarithmic range is even by its logarithms, and that each whole number has its share.
func TestLogRange(t *testing.T) {
	r := Range{From: 1, To: 1000, Log: true}
	for unit, want := range map[float64]float64{0: 1, 1.0 / 3: 10, 2.0 / 3: 100, 1: 1000} {
		if got := r.at(unit); math.Abs(got-want) > 1e-9*want {
			t.Errorf("at %v: got %v, want %v", unit, got, want)
		}
	}
	r = Range{From: 1, To: 4, Whole: true}
	counts := map[float64]int{}
	for i := range 400 {
		counts[r.at((float64(i)+0.5)/400)]++
	}
	if want := map[float64]int{1: 100, 2: 100, 3: 100, 4: 100}; !reflect.DeepEqual(counts, want) {
		t.Errorf("got %v, want %v", counts, want)
	}
}
