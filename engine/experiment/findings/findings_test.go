package findings_test

import (
	"math"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

var nan = math.NaN()

// table returns a table of a grid over factors with numeric levels, and one measure y. of returns the value of a point and a replicate.
func table(replicates int, of func(values []float64, replicate int) float64, levels ...[]float64) *findings.Table {
	t := &findings.Table{Title: "T", Design: "grid", Seed: 1, Measures: []findings.Measure{{Name: "y"}}}
	for k := range replicates {
		t.Seeds = append(t.Seeds, uint64(k+1))
	}
	points := [][]int{nil}
	for i, l := range levels {
		f := findings.Factor{Name: "params." + string(rune('a'+i))}
		var next [][]int
		for _, p := range points {
			for k := range l {
				next = append(next, append(slices.Clone(p), k))
			}
		}
		for _, v := range l {
			f.Levels = append(f.Levels, text(v))
		}
		points, t.Factors = next, append(t.Factors, f)
	}
	for _, p := range points {
		var values []float64
		for i, k := range p {
			values = append(values, levels[i][k])
		}
		add(t, p, values, of)
	}
	return t
}

func text(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// add adds a point with its runs.
func add(t *findings.Table, levels []int, values []float64, of func([]float64, int) float64) {
	p := findings.Point{}
	for i, v := range values {
		if i > 0 {
			p.Label += ", "
		}
		p.Label += t.Factors[i].Name + "=" + text(v)
		p.Values = append(p.Values, findings.Value{Text: text(v), Number: v, Level: levels[i], Unit: float64(levels[i]) / float64(max(len(t.Factors[i].Levels)-1, 1))})
	}
	var runs []findings.Run
	for k := range t.Seeds {
		id := "0123456789abcdef" + strconv.Itoa(len(t.Points)) + "." + strconv.Itoa(k)
		r := findings.Run{Identity: id, ID: "r" + strconv.Itoa(k), State: findings.Done, Values: []float64{of(values, k)}}
		if math.IsInf(r.Values[0], -1) {
			r.State, r.Values = findings.Failed, nil
		}
		runs = append(runs, r)
	}
	t.Points, t.Runs = append(t.Points, p), append(t.Runs, runs)
}

// sleep is the data of Student (1908), "The probable error of a mean": hours of sleep gained with two drugs, as in R's data set sleep.
func sleep() *findings.Table {
	hours := [2][]float64{{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}, {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}}
	return table(10, func(v []float64, k int) float64 { return hours[int(v[0])-1][k] }, []float64{1, 2})
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 || math.IsNaN(a) && math.IsNaN(b) }

// TestEffectsOfMaize compares the plot with Darwin's maize in Fisher (1935), "The design of experiments": heights in inches of 15 pairs of
// plants, self-fertilized and crossed, R's HistData::ZeaMays. R's t.test(cross, self, paired = TRUE) has the mean 2.616667 and the
// interval 0.003899 to 5.229434.
func TestEffectsOfMaize(t *testing.T) {
	heights := [2][]float64{
		{17.375, 20.375, 20, 20, 18.375, 18.625, 18.625, 15.25, 16.5, 18, 16.25, 18, 12.75, 15.5, 18},
		{23.5, 12, 21, 22, 19.125, 21.5, 22.125, 20.375, 18.25, 21.625, 23.25, 21, 22.125, 23, 12},
	}
	c := findings.Compare(table(15, func(v []float64, k int) float64 { return heights[int(v[0])][k] }, []float64{0, 1}))
	p := c.Effects(0)
	if len(p.Bars) != 1 || p.Baseline != "params.a=0" || p.Measure != "y" {
		t.Fatalf("%+v", p)
	}
	if b := p.Bars[0]; !near(b.Value, 2.6166667) || !near(b.Low, 0.0038992) || !near(b.High, 5.2294342) || !b.Clear || b.Runs != 15 || b.Point != 1 || b.Label != "params.a=1" {
		t.Errorf("%+v", b)
	}
	if s := c.Sentences()[0]; s.Text != "a=1 raises y by 2.62 [0.0039, 5.23], from 17.6" || !s.Clear || s.Point != 1 || s.Measure != 0 {
		t.Errorf("%+v", s)
	}
}

// TestEstimatesOfSleep compares the plot without a baseline with R: t.test(extra)$conf.int of each group.
func TestEstimatesOfSleep(t *testing.T) {
	x := sleep()
	x.Baseline = -1
	p := findings.Compare(x).Effects(0)
	if len(p.Bars) != 2 || p.Baseline != "" || !near(p.Bars[0].Low, -0.5297804) || !near(p.Bars[0].High, 2.0297804) || !near(p.Bars[1].Value, 2.33) || p.Bars[1].Clear {
		t.Errorf("%+v", p)
	}
}

// TestCurves averages a grid by hand: y = 10 a + b + noise, with the noise -1, 0, 1 in three replicates. At a = 2 the mean over b = 1, 3
// is 22, the standard deviation over replicates 1, and t with 2 degrees of freedom 4.3026527.
func TestCurves(t *testing.T) {
	of := func(v []float64, k int) float64 { return 10*v[0] + v[1] + float64(k-1) }
	x := table(3, of, []float64{1, 2, 4}, []float64{1, 3})
	p := x.Curves(0, 0, -1)
	if !p.Numbers || !p.Log || p.By != "" || len(p.Lines) != 1 || len(p.Lines[0].Dots) != 3 {
		t.Fatalf("%+v", p)
	}
	if d := p.Lines[0].Dots[1]; d.X != 2 || d.Text != "2" || d.Runs != 6 || !near(d.Mean, 22) || !near(d.Low, 22-4.3026527/math.Sqrt(3)) || !near(d.High, 22+4.3026527/math.Sqrt(3)) {
		t.Errorf("%+v", d)
	}
	p = x.Curves(0, 1, 0)
	if p.Log || p.By != "a" || len(p.Lines) != 3 || p.Lines[2].Label != "4" || p.Lines[2].Dots[1].Mean != 43 || p.Lines[2].Dots[1].Runs != 3 {
		t.Errorf("by a: %+v", p)
	}
	// An added baseline has no partners at the other levels of b.
	add(x, []int{-1, 0}, []float64{3, 1}, of)
	if p = x.Curves(0, 0, -1); len(p.Lines[0].Dots) != 3 {
		t.Errorf("an added baseline is averaged: %+v", p)
	}
	if p = x.Curves(0, 0, 1); len(p.Lines[0].Dots) != 4 || p.Lines[0].Dots[2].X != 3 || len(p.Lines[1].Dots) != 3 {
		t.Errorf("an added baseline by b: %+v", p)
	}
	// With one factor at a time, the others have the values of the baseline.
	x = table(3, of, []float64{1, 2}, []float64{1, 3})
	x.Points, x.Runs, x.Design, x.Baseline = nil, nil, "one-at-a-time", 0
	for _, p := range [][]int{{0, 0}, {1, 0}, {0, 1}} {
		add(x, p, []float64{float64(1 + p[0]), float64(1 + 2*p[1])}, of)
	}
	if p = x.Curves(0, 0, -1); len(p.Lines[0].Dots) != 2 || p.Lines[0].Dots[0].Mean != 11 || p.Lines[0].Dots[0].Runs != 3 {
		t.Errorf("one factor at a time: %+v", p)
	}
}

// TestCurvesOfRanges checks that each value of a range has a dot, texts are placed by their index, and incomplete replicates are left out.
func TestCurvesOfRanges(t *testing.T) {
	of := func(v []float64, k int) float64 { return v[0] + float64(k) }
	x := table(2, of, []float64{0.7, 0.1, 0.4}, []float64{5})
	x.Design = "lhs"
	x.Factors[0].Levels = nil
	for i := range x.Points {
		x.Points[i].Values[0].Level = -1
	}
	p := x.Curves(0, 0, -1)
	var got []float64
	for _, d := range p.Lines[0].Dots {
		got = append(got, d.X, d.Mean)
	}
	if want := []float64{0.1, 0.6, 0.4, 0.9, 0.7, 1.2}; len(got) != 6 || !near(got[1], want[1]) || !near(got[4], want[4]) || p.Log {
		t.Errorf("dots %v, want %v", got, want)
	}
	if p = x.Curves(0, 1, -1); len(p.Lines[0].Dots) != 1 || p.Lines[0].Dots[0].Runs != 6 || !near(p.Lines[0].Dots[0].Mean, 0.9) {
		t.Errorf("over the other factor: %+v", p)
	}
	x.Runs[0][1] = findings.Run{State: findings.Failed}
	if d := x.Curves(0, 1, -1).Lines[0].Dots[0]; d.Runs != 3 || !near(d.Mean, 0.4) || !math.IsNaN(d.Low) {
		t.Errorf("one complete replicate: %+v", d)
	}
	x.Runs[1][0] = findings.Run{State: findings.Failed}
	if d := x.Curves(0, 1, -1).Lines[0].Dots[0]; d.Runs != 4 || !near(d.Mean, (0.7+1.1+0.9)/3) || !math.IsNaN(d.Low) {
		t.Errorf("no complete replicate: %+v", d)
	}
	x.Points[2].Values[0].Number = nan
	if p := x.Curves(0, 0, -1); p.Numbers || len(p.Lines[0].Dots) != 3 {
		t.Errorf("texts: %+v", p)
	}
}

func TestSentences(t *testing.T) {
	flat := func([]float64, int) float64 { return 2 }
	noise := func(v []float64, k int) float64 { return float64((k*7+int(v[0])*3)%5) + 10 }
	for name, c := range map[string]struct {
		of     func([]float64, int) float64
		change func(x *findings.Table)
		want   findings.Sentence
	}{
		"lower":        {func(v []float64, k int) float64 { return -5*v[0] + 0.1*float64(k%3)*v[0] }, nil, findings.Sentence{Text: "a=3 lowers y by 9.8 [9.69, 9.91], from -4.9; 1 other point differs clearly, too", Point: 2, Clear: true}},
		"a unit":       {func(v []float64, k int) float64 { return 5*v[0] + 0.1*float64(k%3)*v[0] }, func(x *findings.Table) { x.Measures[0].Unit = "$" }, findings.Sentence{Text: "a=3 raises y by $10.2 [10.1, 10.3], from $5.1; 1 other point differs clearly, too", Point: 2, Clear: true}},
		"none":         {noise, nil, findings.Sentence{Text: "No clear difference in y: at most 1.72 either way (36 runs)", Point: -1}},
		"a constant":   {func(v []float64, k int) float64 { return v[0] + float64(k) }, func(x *findings.Table) { first(x, 4) }, findings.Sentence{Text: "No clear difference in y: at most 2 either way (12 runs)", Point: -1}},
		"same":         {flat, nil, findings.Sentence{Text: "No difference in y in any run (36 runs)", Point: -1}},
		"too few":      {noise, func(x *findings.Table) { first(x, 1) }, findings.Sentence{Text: "No clear difference in y: too few runs to say how large it could be (3 runs)", Point: -1}},
		"none done":    {noise, func(x *findings.Table) { first(x, 0) }, findings.Sentence{Text: "So far (0 of 36 runs): no run has a value of y", Point: -1}},
		"provisional":  {flat, func(x *findings.Table) { x.Runs[1][3] = findings.Run{Identity: "x", State: findings.Waiting} }, findings.Sentence{Text: "So far (35 of 36 runs): no difference in y in any run (35 runs)", Point: -1}},
		"failed":       {flat, func(x *findings.Table) { x.Runs[1][3] = findings.Run{Identity: "x", State: findings.Failed} }, findings.Sentence{Text: "No difference in y in any run (35 runs)", Point: -1}},
		"no baseline":  {func(v []float64, k int) float64 { return v[0] + float64(k%2) }, func(x *findings.Table) { x.Baseline = -1 }, findings.Sentence{Text: "y is between 1.5 [1.17, 1.83] at params.a=1 and 3.5 [3.17, 3.83] at params.a=3", Point: 2}},
		"equal points": {flat, func(x *findings.Table) { x.Baseline = -1 }, findings.Sentence{Text: "y is 2 at params.a=1", Point: 0}},
		"all unknown":  {func([]float64, int) float64 { return nan }, nil, findings.Sentence{Text: "No run has a value of y", Point: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			x := table(12, c.of, []float64{1, 2, 3})
			if c.change != nil {
				c.change(x)
			}
			if got := findings.Compare(x).Sentences()[0]; got != c.want {
				t.Errorf("got  %+v\nwant %+v", got, c.want)
			}
		})
	}
}

// first leaves only the first replicates, or nothing done of all.
func first(x *findings.Table, n int) {
	for i := range x.Runs {
		if n == 0 {
			for k := range x.Runs[i] {
				x.Runs[i][k].State, x.Runs[i][k].Values = findings.Waiting, nil
			}
			continue
		}
		x.Runs[i] = x.Runs[i][:n]
	}
}

// TestClearSentencesComeFirst has one measure that does not change and one that does.
func TestClearSentencesComeFirst(t *testing.T) {
	x := sleep()
	x.Measures = []findings.Measure{{Name: "flat"}, {Name: "y"}}
	for i := range x.Runs {
		for k := range x.Runs[i] {
			x.Runs[i][k].Values = []float64{1, x.Runs[i][k].Values[0]}
		}
	}
	c := findings.Compare(x)
	if s := c.Sentences(); len(s) != 2 || s[0].Measure != 1 || !s[0].Clear || s[1].Measure != 0 || s[1].Clear {
		t.Errorf("%+v", s)
	}
	c.Rows = c.Rows[1:] // one measure was chosen
	if s := c.Sentences(); len(s) != 1 || s[0].Measure != 1 {
		t.Errorf("of one row: %+v", s)
	}
}

func TestTexts(t *testing.T) {
	known := statistics.Interval{Low: -1, High: 2}
	unknown := statistics.Interval{Low: nan, High: nan}
	seconds, dollars := findings.Measure{Unit: "s"}, findings.Measure{Unit: "$"}
	for _, c := range []struct{ got, want string }{
		{findings.Text(1.23456), "1.23"},
		{findings.Text(0.05), "0.05"},
		{findings.Text(-0.00004551), "-0.0000455"},
		{findings.Text(999.4), "999"},
		{findings.Text(123456.7), "123,457"},
		{findings.Text(2e15), "2e+15"},
		{findings.Text(3e-10), "3e-10"},
		{findings.Tick(10.25), "10.25"},
		{findings.Tick(-25000), "-25,000"},
		{findings.Tick(3e9), "3e+09"},
		{findings.Brief("params.a=1, service.model.model=big, settings.cycles=2"), "a=1, model.model=big, cycles=2"},
		{findings.Text(nan), "-"},
		{findings.Text(math.Inf(-1)), "-"},
		{findings.Signed(1.5), "+1.5"},
		{findings.Signed(-1.5), "-1.5"},
		{findings.Signed(0), "0"},
		{findings.Signed(math.Copysign(0, -1)), "0"},
		{findings.Signed(math.Inf(1)), "-"},
		{findings.Range(1, known), "1 [-1, 2]"},
		{findings.Range(1, unknown), "1"},
		{findings.Chance(nan), "-"},
		{findings.Chance(0.0009), "< 0.001"},
		{findings.Chance(0.0432), "0.043"},
		{findings.Change(&statistics.Difference{Same: true}), "none in any run"},
		{findings.Change(&statistics.Difference{Value: 1, Interval: known}), "1 [-1, 2]"},
		{findings.Saved(&statistics.Difference{Pairing: statistics.Pairing{Used: true, Saved: 12.4}}), "12 runs"},
		{findings.Saved(&statistics.Difference{Pairing: statistics.Pairing{Saved: 12.4}}), "-"},
		{findings.Saved(&statistics.Difference{Pairing: statistics.Pairing{Used: true, Saved: nan}}), "-"},
		{seconds.Range(1.5, known), "1.5 s [-1, 2]"},
		{dollars.Range(-1.5, unknown), "-$1.5"},
		{dollars.Text(nan), "-"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestColumn checks that runs without a result have no value.
func TestColumn(t *testing.T) {
	x := table(3, func(_ []float64, k int) float64 { return []float64{1, math.Inf(-1), nan}[k] }, []float64{1})
	if c := x.Column(0, 0); c[0] != 1 || !math.IsNaN(c[1]) || !math.IsNaN(c[2]) {
		t.Errorf("%v", c)
	}
	if n, of := x.Count(findings.Done); n != 2 || of != 3 {
		t.Errorf("%d of %d", n, of)
	}
	x.Runs = append(x.Runs, x.Runs[0])
	if n, of := x.Count(findings.Failed); n != 1 || of != 3 {
		t.Errorf("%d of %d with two points that share their runs", n, of)
	}
}

// TestEmptyTables checks that tables without points, replicates or measures have no findings.
func TestEmptyTables(t *testing.T) {
	for _, x := range []*findings.Table{
		{Baseline: -1},
		table(0, nil, []float64{1, 2}),
		table(2, func([]float64, int) float64 { return 1 }), // no factor
	} {
		c := findings.Compare(x)
		for i := range c.Rows {
			c.Effects(i)
			for k := range x.Factors {
				x.Curves(i, k, -1)
			}
		}
		if s, err := analyzed(x); s != nil || err != nil {
			t.Errorf("%+v, %v", s, err)
		}
		if got := c.Sentences(); len(got) != len(x.Measures) {
			t.Errorf("%+v", got)
		}
		if s := x.Sheet(); len(s.Rows) != len(x.Points)*len(x.Seeds) {
			t.Errorf("%+v", s)
		}
		if s := c.Sheet(); len(s.Rows) != len(x.Points)*len(x.Measures) {
			t.Errorf("%+v", s)
		}
	}
}

func analyzed(x *findings.Table) (*findings.Sensitivity, error) {
	if len(x.Measures) == 0 {
		return nil, nil //nolint:nilnil // there is nothing to analyze
	}
	return findings.Analyze(x, 0)
}

// TestUntil checks that the interval of the measure of the rule is the rule's, in the table and in plots.
func TestUntil(t *testing.T) {
	x := sleep()
	x.Until = &statistics.Until{HalfWidth: 1, First: 5, AtMost: 20}
	want := x.Until.Final(x.Column(1, 0))
	if e := findings.Compare(x).Rows[0].Estimates[1]; e.Interval != want || want.Method != statistics.TwoStage {
		t.Errorf("%+v, want %+v", e.Interval, want)
	}
	if d := x.Curves(0, 0, -1).Lines[0].Dots[1]; d.Low != want.Low || d.High != want.High {
		t.Errorf("%+v, want %+v", d, want)
	}
}

// TestAnalyze analyzes y = 10 a + b without noise in a full grid: the share of a is 100 / 101.
func TestAnalyze(t *testing.T) {
	of := func(v []float64, _ int) float64 { return v[1] + 10*v[0] }
	x := table(2, of, []float64{0, 1}, []float64{0, 1})
	s, err := findings.Analyze(x, 0)
	if err != nil || s.Method != findings.Shares || len(s.Factors) != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	for i, want := range []struct {
		name  string
		share float64
	}{{"params.a", 100.0 / 101}, {"params.b", 1.0 / 101}, {"params.a with params.b", 0}} {
		if f := s.Factors[i]; f.Name != want.name || !near(f.Figures[0].Value, want.share) || f.Figures[0].Interval.Known() {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	x.Design = "one-at-a-time"
	x.Points, x.Runs = x.Points[:3], x.Runs[:3]
	s, err = findings.Analyze(x, 0)
	if err != nil || s.Method != findings.Tornado || s.Factors[0].Name != "params.a" || s.Factors[0].Figures[1].Value != 10 || s.Factors[0].Figures[1].Interval.Known() {
		t.Errorf("%+v, %v", s, err)
	}
	x.Design = "lhs"
	if s, err = findings.Analyze(x, 0); s != nil || err != nil {
		t.Errorf("a design without an analysis: %+v, %v", s, err)
	}
	x = sleep()
	if s, err = findings.Analyze(x, 0); s != nil || err != nil {
		t.Errorf("one factor: %+v, %v", s, err)
	}
}

// TestSheets checks columns, kinds and cells of both sheets.
func TestSheets(t *testing.T) {
	x := sleep()
	x.Measures[0].Name = "Seed" // a column has this name
	x.Runs[1][0] = findings.Run{Identity: "short", State: findings.Failed}
	s := x.Sheet()
	var names []string
	for _, c := range s.Columns {
		names = append(names, c.Name)
		if c.Help == "" {
			t.Errorf("the column %s has no help", c.Name)
		}
	}
	if want := []string{"experiment", "point", "params.a", "replicate", "seed", "run", "state", "measure.Seed"}; !slices.Equal(names, want) || s.Columns[2].Kind != findings.Numbers {
		t.Errorf("%v, want %v", names, want)
	}
	if len(s.Rows) != 20 || !slices.Equal(s.Rows[0], []string{"T", "1", "1", "1", "1", "0123456789ab", "done", "0.7"}) || !slices.Equal(s.Rows[1], []string{"T", "2", "2", "1", "1", "short", "failed", ""}) {
		t.Errorf("%q", s.Rows[:2])
	}
	x.Points[1].Values[0].Text = "NaN" // a number, but not in JSON
	e := findings.Compare(x).Sheet()
	if len(e.Rows) != 2 || e.Columns[3].Kind != findings.Texts {
		t.Fatalf("%+v", e)
	}
	for i, c := range e.Columns {
		empty := e.Rows[0][i] == ""
		if late := i >= slices.IndexFunc(e.Columns, func(c findings.Column) bool { return c.Name == "difference" }); late != empty {
			t.Errorf("the column %s of the baseline is %q", c.Name, e.Rows[0][i])
		}
		if len(e.Rows[1]) != len(e.Columns) {
			t.Fatalf("%d cells", len(e.Rows[1]))
		}
	}
	if e.Rows[1][4] != "9" || e.Rows[1][5] != "1" {
		t.Errorf("%q", e.Rows[1])
	}
}

// TestOrderOfReplicates checks that the order of replicates changes nothing but the order of rows.
func TestOrderOfReplicates(t *testing.T) {
	of := func(v []float64, k int) float64 {
		if k == 2 && v[0] == 4 {
			return math.Inf(-1) // it failed
		}
		return v[0]*v[1] + math.Sin(float64(k)*v[0])
	}
	a := table(14, of, []float64{1, 2, 4}, []float64{1, 3})
	b := table(14, func(v []float64, k int) float64 { return of(v, (k*5+3)%14) }, []float64{1, 2, 4}, []float64{1, 3})
	alike := func(what string, x, y any) {
		t.Helper()
		if !similar(reflect.ValueOf(x), reflect.ValueOf(y)) {
			t.Errorf("%s:\n%+v\n%+v", what, x, y)
		}
	}
	alike("effects", findings.Compare(a).Effects(0), findings.Compare(b).Effects(0))
	alike("sentences", findings.Compare(a).Sentences(), findings.Compare(b).Sentences())
	alike("curves", a.Curves(0, 0, -1), b.Curves(0, 0, -1))
	x, err := findings.Analyze(a, 0)
	y, err2 := findings.Analyze(b, 0)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	alike("sensitivity", *x, *y)
}

// similar compares values. Numbers may differ by rounding.
func similar(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !similar(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !similar(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Float64:
		return near(a.Float(), b.Float())
	default:
		return a.Interface() == b.Interface()
	}
}
