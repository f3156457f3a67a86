package statistics

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// shopping is a small experiment: three points, ten seeds, measures of all kinds, one of them without values and one that is equal everywhere.
func shopping() []Measure {
	r := rand.New(rand.NewPCG(25, 1))
	luck := draw(10, r.NormFloat64)
	of := func(base, effect, noise float64) (all [][]float64) {
		for p := range 3 {
			var row []float64
			for _, x := range luck {
				row = append(row, base+0.3*base*x+effect*float64(p)+noise*r.NormFloat64())
			}
			all = append(all, row)
		}
		return all
	}
	lost := of(5, 1, 0.5)
	lost[1][3], lost[2] = math.NaN(), nil
	equal := make([][]float64, 3)
	for p := range equal {
		equal[p] = make([]float64, 10)
	}
	share := of(0.5, 0.05, 0.01)
	return []Measure{
		{"acted", Share, share},
		{"orders", Number, of(40, 3, 2)},
		{"cost", Cost, of(1, 0, 0.1)},
		{"latency p95", Timing, of(200, 60, 20)},
		{"with a failed point", Number, lost},
		{"returns", Number, equal},
	}
}

// TestTable compares a whole table with its golden text.
func TestTable(t *testing.T) {
	var b strings.Builder
	for _, row := range Table(shopping(), 0, true, 1) {
		fmt.Fprintf(&b, "%s\n", row.Name)
		for p, e := range row.Estimates {
			fmt.Fprintf(&b, "  point %d: n %d, missing %d, mean %.4g, median %.4g, sd %.4g, %s\n", p, e.N, e.Missing, e.Mean, e.Median, e.SD, text(e.Interval))
		}
		for p, d := range row.Against[1:] {
			fmt.Fprintf(&b, "  point %d against 0: %.4g, %s, p %.4g (%s), joint %s, adjusted %.4g, %s %.3g, margin %.4g, correlation %.2f, saved %.0f, same %v, note %q\n",
				p+1, d.Value, text(d.Interval), d.P, d.Test, text(d.Joint), d.Adjusted, d.Effect.Name, d.Effect.Value, d.Margin, d.Pairing.Correlation,
				d.Pairing.Saved, d.Same, d.Note)
		}
	}
	const name = "testdata/table.golden"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("the table differs from %s (rewrite it with -update):\n%s", name, got)
	}
}

func text(i Interval) string { return fmt.Sprintf("%.4g to %.4g (%s)", i.Low, i.High, i.Method) }

// TestTableShape: the baseline has no difference, and without a baseline there is none at all.
func TestTableShape(t *testing.T) {
	measures := shopping()
	for _, row := range Table(measures, 1, true, 1) {
		if len(row.Estimates) != 3 || len(row.Against) != 3 || row.Against[1].Note != "this is the baseline" || !math.IsNaN(row.Against[1].Adjusted) {
			t.Errorf("%s: %d estimates, %d differences, baseline %+v", row.Name, len(row.Estimates), len(row.Against), row.Against[1])
		}
		for _, d := range row.Against {
			if d.Joint.Known() && (d.Joint.Low > d.Interval.Low || d.Joint.High < d.Interval.High) {
				t.Errorf("%s: joint interval %+v, single %+v", row.Name, d.Joint, d.Interval)
			}
			if d.Adjusted < d.P || math.IsNaN(d.Adjusted) != math.IsNaN(d.P) {
				t.Errorf("%s: adjusted %v, p %v", row.Name, d.Adjusted, d.P)
			}
		}
	}
	for _, baseline := range []int{-1, 3} {
		for _, row := range Table(measures, baseline, true, 1) {
			if row.Against != nil {
				t.Errorf("baseline %d: %d differences", baseline, len(row.Against))
			}
		}
	}
	if rows := Table(nil, 0, true, 1); len(rows) != 0 {
		t.Errorf("no measures: %v", rows)
	}
}

// TestOnePoint: with one point there is nothing to correct.
func TestOnePoint(t *testing.T) {
	for _, paired := range []bool{true, false} {
		d := AgainstBaseline(sleep1, [][]float64{sleep2}, Number, paired)[0]
		single := Differ(sleep1, sleep2, Number, paired)
		if d.Adjusted != single.P || d.Value != single.Value {
			t.Errorf("paired %v: adjusted %v, p %v", paired, d.Adjusted, single.P)
		}
	}
	if all := AgainstBaseline(sleep1, nil, Number, true); len(all) != 0 {
		t.Errorf("no points: %v", all)
	}
	for _, d := range Dunnett([]float64{1, 1}, [][]float64{{2, 2}, nil}) {
		if d.Joint.Known() || d.Note == "" || !math.IsNaN(d.Adjusted) {
			t.Errorf("Dunnett without variation: %+v", d)
		}
	}
}

// TestUnvariedPoint: a point that differs from the baseline by the same amount in all pairs keeps its exact p-value among others.
func TestUnvariedPoint(t *testing.T) {
	x := []float64{1, 4, 2, 8, 5, 7, 3}
	y := mapped(x, func(a float64) float64 { return a + 2 })
	z := []float64{2, 4, 3, 7, 5, 9, 4}
	all := AgainstBaseline(x, [][]float64{y, z}, Number, true)
	if d := all[0]; d.P != 2.0/128 || d.Adjusted != 4.0/128 || d.Interval.Known() || d.Same {
		t.Errorf("equal shift: %+v", d)
	}
	if d := all[1]; !d.Joint.Known() || d.Adjusted < d.P {
		t.Errorf("the other point: %+v", d)
	}
}

// TestAnyValues: no value makes a function panic, and no bound is infinite.
func TestAnyValues(t *testing.T) {
	finite := func(t *rapid.T, what string, i Interval) {
		if math.IsInf(i.Low, 0) || math.IsInf(i.High, 0) || i.Low > i.High || math.IsNaN(i.Low) != math.IsNaN(i.High) || !i.Known() && i.Note == "" {
			t.Fatalf("%s: %+v", what, i)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		values := func(name string) []float64 {
			return rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, math.NaN(), math.MaxFloat64, -math.MaxFloat64, 5e-324})), 0, 14).Draw(t, name)
		}
		x, y := values("x"), values("y")
		for kind := Number; kind <= Timing; kind++ {
			e := Summarize(x, kind, 1)
			finite(t, "estimate", e.Interval)
			for _, paired := range []bool{true, false} {
				for _, d := range AgainstBaseline(x, [][]float64{y, x, nil}, kind, paired) {
					finite(t, "difference", d.Interval)
					finite(t, "joint", d.Joint)
					if d.P < 0 || d.P > 1 || d.Adjusted < d.P {
						t.Fatalf("p %v, adjusted %v", d.P, d.Adjusted)
					}
				}
			}
		}
		for _, d := range Dunnett(x, [][]float64{y, x}) {
			finite(t, "Dunnett", d.Joint)
		}
		finite(t, "bootstrap", Bootstrap(x, Quantile(0.9), 1))
		finite(t, "anytime", Anytime(x))
		if p := AnytimeP(x); p < 0 || p > 1 {
			t.Fatalf("anytime p %v", p)
		}
		d := Until{HalfWidth: 0.1, Relative: true, First: 3, AtMost: 40}.Decide(x)
		finite(t, "two-stage", d.Interval)
		if d.Runs < 3 || d.Runs > 40 {
			t.Fatalf("decision %+v", d)
		}
		s := Suggest(x, y, 1, 0.8, true)
		if s.Runs < 0 || s.Cautious < 0 {
			t.Fatalf("suggestion %+v", s)
		}
	})
}
