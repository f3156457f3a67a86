package statistics

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

var nan = math.NaN()

// TestFewValues is the table of what each function says about 0, 1, 2 and equal values.
func TestFewValues(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name     string
		values   []float64
		n, lost  int
		mean     float64
		known    bool
		note     string
		boundary func(Interval) bool
	}{
		{name: "none", mean: nan, note: "no run has a value"},
		{name: "only missing", values: []float64{nan, inf, -inf}, lost: 3, mean: nan, note: "no run has a value"},
		{name: "one", values: []float64{nan, 4}, n: 1, lost: 1, mean: 4, note: "one run has a value"},
		{name: "two", values: []float64{1, 3}, n: 2, mean: 2, known: true, boundary: func(i Interval) bool { return i.Low < -10 && i.High > 14 }},
		{name: "equal", values: []float64{7, 7, 7}, n: 3, mean: 7, note: "equal in all 3 runs; with 95% confidence, at most 64% of all runs differ"},
		{name: "equal up to rounding", values: []float64{0.3, 0.1 + 0.2, 0.3}, n: 3, mean: 0.3, note: "equal in all 3 runs"},
		{name: "all zero", values: make([]float64, 20), n: 20, note: "equal in all 20 runs; with 95% confidence, at most 14% of all runs differ"},
	} {
		for _, kind := range []Kind{Number, Share, Percentile, Cost, Timing} {
			e := Summarize(c.values, kind, 1)
			if e.N != c.n || e.Missing != c.lost || math.Abs(e.Mean-c.mean) > 1e-15 || math.IsNaN(e.Mean) != math.IsNaN(c.mean) {
				t.Errorf("%s: n %d, missing %d, mean %v; want %d, %d, %v", c.name, e.N, e.Missing, e.Mean, c.n, c.lost, c.mean)
			}
			if e.Interval.Known() != c.known || !strings.Contains(e.Interval.Note, c.note) {
				t.Errorf("%s: interval %+v, want known %v, note %q", c.name, e.Interval, c.known, c.note)
			}
			if !c.known && (e.Interval.Method != None || e.Interval.Contains(e.Mean)) {
				t.Errorf("%s: an unknown interval has method %q", c.name, e.Interval.Method)
			}
			if c.boundary != nil && kind == Number && !c.boundary(e.Interval) {
				t.Errorf("%s: interval %+v", c.name, e.Interval)
			}
		}
		if b := Bootstrap(c.values, Mean, 1); b.Known() || b.Note == "" {
			t.Errorf("%s: bootstrap %+v, want an unknown interval with a note", c.name, b)
		}
		if a := Anytime(c.values); a.Known() || a.Note == "" {
			t.Errorf("%s: anytime %+v, want an unknown interval with a note", c.name, a)
		}
	}
}

// TestFewPairs is the table of differences between few or equal values.
func TestFewPairs(t *testing.T) {
	for _, c := range []struct {
		name            string
		baseline, point []float64
		paired, welch   string // value, p, test, known interval, same
	}{
		{"none", nil, nil, "NaN NaN paired t false false", "NaN NaN Welch's t false false"},
		{"one", []float64{1}, []float64{3}, "2 NaN paired t false false", "2 NaN Welch's t false false"},
		{"no pair", []float64{1, nan}, []float64{nan, 3}, "NaN NaN paired t false false", "2 NaN Welch's t false false"},
		{"two", []float64{1, 2}, []float64{3, 5}, "2.5 0.5 exact sign-flip true false", "2.5 0.1987 Welch's t true false"},
		{"same", []float64{1, 2, 3}, []float64{1, 2, 3}, "0 1 exact sign-flip false true", "0 1 Welch's t true false"},
		{"same up to rounding", []float64{0.3, 2, 3}, []float64{0.1 + 0.2, 2, 3}, "0 1 exact sign-flip false true", "0 1 Welch's t true false"},
		{"equal shift", []float64{1, 2, 3, 4, 5, 6}, []float64{2, 3, 4, 5, 6, 7}, "1 0.03125 exact sign-flip false false", "1 0.3763 Welch's t true false"},
		{"constant", []float64{1, 1, 1, 1}, []float64{2, 2, 2, 2}, "1 0.125 exact sign-flip false false", "1 0.02857 Mann–Whitney false false"},
		{"constant and same", []float64{2, 2}, []float64{2, 2, 2}, "0 1 exact sign-flip false true", "0 1 Mann–Whitney false true"},
		{"one constant", []float64{1, 1, 1}, []float64{2, 3, 4}, "2 0.25 exact sign-flip true false", "2 0.07418 Welch's t true false"},
	} {
		for kind, d := range map[string]Difference{c.paired: Paired(c.baseline, c.point), c.welch: Welch(c.baseline, c.point)} {
			got := fmt.Sprintf("%.3g %.4g %s %v %v", d.Value, d.P, d.Test, d.Interval.Known(), d.Same)
			if got != kind {
				t.Errorf("%s: got %q, want %q", c.name, got, kind)
			}
			if !d.Interval.Known() && d.Note == "" {
				t.Errorf("%s: %s has neither interval nor note", c.name, d.Test)
			}
			if d.Interval.Known() == math.IsNaN(d.Margin) {
				t.Errorf("%s: margin %v with interval %+v", c.name, d.Margin, d.Interval)
			}
		}
	}
}

func TestRanksOfFewValues(t *testing.T) {
	for _, c := range []struct {
		baseline, point []float64
		want            string // value, p, known interval
	}{
		{nil, []float64{1}, "NaN NaN false"},
		{[]float64{1}, []float64{3}, "2 NaN false"},
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, "3 0.1 false"},
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, "4 0.02857 true"},
		{[]float64{5, 5, 5, 5}, []float64{5, 5, 5, 5}, "0 1 false"},
		{[]float64{5, 5, 5, 5}, []float64{6, 6, 6, 6}, "1 0.02857 false"},
	} {
		d := Ranks(c.baseline, c.point)
		if got := fmt.Sprintf("%.3g %.4g %v", d.Value, d.P, d.Interval.Known()); got != c.want || !d.Interval.Known() && d.Note == "" {
			t.Errorf("%v and %v: got %s (%s), want %s", c.baseline, c.point, got, d.Note, c.want)
		}
	}
}

// TestRule checks which method each kind of measure gets, and that a screen can say so.
func TestRule(t *testing.T) {
	few, many := []float64{0.01, 0.02, 0.04, 0.03}, make([]float64, MinBootstrap)
	for i := range many {
		many[i] = 0.01 * float64(1+i%4)
	}
	middle := make([]float64, len(many))
	for i, x := range many {
		middle[i] = 0.5 + x
	}
	for _, c := range []struct {
		values []float64
		kind   Kind
		want   Method
		note   bool
	}{
		{few, Number, StudentT, false},
		{many, Number, StudentT, false},
		{few, Share, StudentT, true},
		{many, Share, BootstrapBCa, false},
		{middle, Share, StudentT, false},
		{few, Cost, StudentT, true},
		{many, Cost, BootstrapBCa, false},
		{many, Percentile, BootstrapBCa, false},
		{many, Timing, BootstrapBCa, false},
	} {
		i := Summarize(c.values, c.kind, 1).Interval
		if i.Method != c.want || (i.Note != "") != c.note {
			t.Errorf("kind %d with %d values: %+v, want %s, a note %v", c.kind, len(c.values), i, c.want, c.note)
		}
	}
	if i := Summarize([]float64{0, 0.001, 0.08}, Share, 1).Interval; i.Low != 0 {
		t.Errorf("the interval of a share starts at %v, want 0", i.Low)
	}
	if i := Summarize([]float64{1, 0.999, 0.95}, Share, 1).Interval; i.High != 1 {
		t.Errorf("the interval of a share ends at %v, want 1", i.High)
	}
	for _, c := range []struct {
		kind   Kind
		paired bool
		want   Method
	}{{Number, true, SignFlip}, {Number, false, WelchT}, {Timing, true, MannWhitney}, {Timing, false, MannWhitney}} {
		if d := Differ(sleep1, sleep2, c.kind, c.paired); d.Test != c.want {
			t.Errorf("kind %d, paired %v: test %q, want %q", c.kind, c.paired, d.Test, c.want)
		}
	}
	long := append(append([]float64{}, sleep1...), sleep2...)
	if d := Differ(long, make([]float64, 20), Number, true); d.Test != PairedT || d.Interval.Method != PairedT {
		t.Errorf("20 pairs: test %q, interval %q", d.Test, d.Interval.Method)
	}
}

func TestDifferences(t *testing.T) {
	got := fmt.Sprint(Differences([]float64{1, nan, 0.3, 4, 5}, []float64{3, 1, 0.1 + 0.2, math.Inf(1)}))
	if want := "[2 NaN 0 NaN]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestPairingNote(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6, 7}
	up, down := []float64{2, 3.1, 4, 5.2, 6, 7, 8.1}, []float64{7, 6, 5, 4.5, 3, 2, 1}
	if d := Paired(x, up); d.Note != "" || d.Pairing.Saved < 1000 || d.Pairing.Ratio < 100 {
		t.Errorf("correlated points: %+v", d.Pairing)
	}
	if d := Paired(x, down); !strings.Contains(d.Note, "pairing does not help") || d.Pairing.Saved >= 0 || !d.Pairing.Used {
		t.Errorf("opposed points: %+v, note %q", d.Pairing, d.Note)
	}
}

func TestUntil(t *testing.T) {
	for _, u := range []Until{{}, {HalfWidth: 1, First: 1, AtMost: 5}, {HalfWidth: 1, First: 5, AtMost: 4}, {HalfWidth: nan, First: 2, AtMost: 4}} {
		if u.Validate() == nil {
			t.Errorf("%+v is valid", u)
		}
	}
	u := Until{HalfWidth: 0.05, Relative: true, First: 3, AtMost: 40}
	if err := u.Validate(); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		values []float64
		want   string // runs, done, capped, known interval, reason
	}{
		{nil, "3 false false false 0 of the first 3 runs have a value"},
		{[]float64{10, nan, 11}, "3 false false false 2 of the first 3 runs have a value"},
		{[]float64{10, nan, 11, 10.5}, "17 false false false 3 of 17 runs have a value"},
		{[]float64{10, 10, 10}, "3 true false false equal in all 3 runs; with 95% confidence, at most 64% of all runs differ"},
		{[]float64{10, 10.01, 10.02}, "3 true false true 3 runs are enough"},
		{[]float64{1, 5, 9}, "40 false true false 3 of 40 runs have a value"},
		{[]float64{-1, 0, 1}, "40 false true false 3 of 40 runs have a value"},
	} {
		d := u.Decide(c.values)
		if got := fmt.Sprint(d.Runs, d.Done, d.Capped, d.Interval.Known(), " ", d.Reason); got != c.want {
			t.Errorf("%v: got %q, want %q", c.values, got, c.want)
		}
	}
	full := make([]float64, 45)
	for i := range full {
		full[i] = float64(1 + 4*(i%3))
	}
	if d := u.Decide(full); !d.Done || !d.Capped || d.Interval.Method != TwoStage || !strings.Contains(d.Reason, "largest number of 40") {
		t.Errorf("at the largest number: %+v", d)
	}
	// Later runs must not change the number of runs.
	if a, b := u.Decide([]float64{10, 11, 10.5}), u.Decide([]float64{10, 11, 10.5, 90, -70}); a.Runs != b.Runs {
		t.Errorf("a look changed the number of runs from %d to %d", a.Runs, b.Runs)
	}
}

func TestSuggest(t *testing.T) {
	s := Suggest(sleep1, sleep2, 1, 0.8, true)
	near(t, "deviation", s.SD, 1.2299954832)
	if s.Runs != Replicates(1, s.SD, 0.8, true) || s.Cautious <= s.Runs || s.Note != "" {
		t.Errorf("paired: %+v", s)
	}
	if u := Suggest(sleep1, sleep2, 1, 0.8, false); u.Runs <= s.Runs {
		t.Errorf("independent runs need %d, pairs %d", u.Runs, s.Runs)
	}
	for _, s := range []Suggestion{
		Suggest(nil, nil, 1, 0.8, true), Suggest([]float64{1}, []float64{2}, 1, 0.8, false), Suggest([]float64{1, 1}, []float64{2, 2}, 1, 0.8, true),
	} {
		if s.Runs != 0 || s.Note == "" {
			t.Errorf("a suggestion from nothing: %+v", s)
		}
	}
	for _, n := range []int{Replicates(0, 1, 0.8, true), Replicates(1, nan, 0.8, true), Replicates(1, 1, 1, true), ReplicatesForWidth(0, 1)} {
		if n != 0 {
			t.Errorf("got %d runs, want 0", n)
		}
	}
	if n := Replicates(100, 1, 0.8, true); n != minSignFlip {
		t.Errorf("a large effect needs %d pairs, want %d", n, minSignFlip)
	}
}
