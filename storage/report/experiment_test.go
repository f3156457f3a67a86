package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine/experiment/findings"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

// trial returns a grid of two factors with numbers. The first measure depends on both, the second on none.
func trial(a, b, seeds int) *findings.Table {
	t := &findings.Table{
		Title: "Does eagerness pay?", Design: "grid", Seed: 1, Factors: []findings.Factor{{Name: "params.eagerness"}, {Name: "params.share"}},
		Measures: []findings.Measure{{Name: "events.order"}, {Name: "cost", Kind: statistics.Cost, Unit: "$"}},
	}
	t.Real = &findings.RealData{File: "real.csv", Digest: "ab12", Shared: "they send messages to each other", Columns: []findings.RealColumn{{Name: "spend", Figure: "events.order.total.sum", Numbers: true}, {Name: "home", Figure: "agent.home"}}}
	for k := range seeds {
		t.Seeds = append(t.Seeds, uint64(k+1))
	}
	for i := range a {
		t.Factors[0].Levels = append(t.Factors[0].Levels, strconv.Itoa(i+1))
	}
	for i := range b {
		t.Factors[1].Levels = append(t.Factors[1].Levels, strconv.Itoa(i))
	}
	for p := range a * b {
		x, y := p/b, p%b
		t.Points = append(t.Points, findings.Point{Label: "params.eagerness=" + strconv.Itoa(x+1) + ", params.share=" + strconv.Itoa(y), Values: []findings.Value{
			{Text: strconv.Itoa(x + 1), Number: float64(x + 1), Level: x, Unit: float64(x) / float64(max(a-1, 1))},
			{Text: strconv.Itoa(y), Number: float64(y), Level: y, Unit: float64(y) / float64(max(b-1, 1))},
		}})
		var runs []findings.Run
		for k := range seeds {
			noise := math.Sin(float64(7*k + p))
			id := strconv.Itoa(p) + "." + strconv.Itoa(k)
			apart := []findings.Distance{
				{Total: 0.1 + 0.1*float64(x+y) + noise/100, Mean: float64(x+y) + noise, Smirnov: 0.1 + 0.1*float64(x+y) + noise/100, Wasserstein: float64(x+y) + 2 + noise, JensenShannon: 0.1, ChiSquare: math.NaN(), CramersV: math.NaN(), Differs: x > 0},
				{Total: 0.2 + noise/20, Mean: math.NaN(), Smirnov: math.NaN(), Wasserstein: math.NaN(), JensenShannon: 0.1 + noise/20, ChiSquare: 3 + noise, CramersV: 0.2},
			}
			runs = append(runs, findings.Run{Distances: apart, Identity: id, ID: "run" + id, State: findings.Done, Values: []float64{float64(10*x+2*y) + noise + float64(k), 1 + noise/10}})
		}
		t.Runs = append(t.Runs, runs)
	}
	return t
}

func trialReport(t *testing.T, x *findings.Table) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteExperiment(&out, &Experiment{Table: x, File: "pay.experiment.yaml", Text: []byte("scenario: shopping\n"), Command: "throngctl experiment run pay.experiment.yaml", Version: "1.2.3"}); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"NaN", "Inf", "<no value>", "%!", "ZgotmplZ"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	wellFormed(t, out.String())
	return out.String()
}

// wellFormed checks that every tag of a page is closed.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	page = regexp.MustCompile(`<meta [^>]*>`).ReplaceAllString(strings.TrimPrefix(page, "<!DOCTYPE html>"), "")
	d := xml.NewDecoder(strings.NewReader(page))
	d.Entity = xml.HTMLEntity
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestExperimentGolden checks that the same experiment produces the same bytes. One run has failed.
func TestExperimentGolden(t *testing.T) {
	x := trial(3, 2, 12)
	x.Runs[5][11].State, x.Runs[5][11].Values, x.Runs[5][11].Distances, x.Runs[5][11].Why = findings.Failed, nil, nil, "out of budget"
	got := trialReport(t, x)
	golden(t, "experiment.html", got)
	inert(t, got)
	for _, want := range []string{
		"1 failed", "71 of 72 runs are done.", `class="clear"><a href="#measure-1">eagerness=3`, "No clear difference in cost: at most $", "<td>out of budget</td>", "<td>1 to 12</td>",
		"<pre>throngctl experiment run pay.experiment.yaml</pre>", "main effects and interactions", "eagerness with share", "scenario: shopping", "prefers-color-scheme:dark", "@media print",
		`class="clear">eagerness=1, share=0 is nearest to real.csv, by more than chance against each of the 5 other points`, "<h3>spend and events.order.total.sum</h3>", "<td>12 of 12</td>",
		"No point is nearest to real.csv in home by more than chance.", "These are not, because they send messages to each other.", "real.csv, SHA-256 ab12",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

// TestExperimentBeforeItsRuns checks the report of an experiment with nothing done, and of one without factors.
func TestExperimentBeforeItsRuns(t *testing.T) {
	x := trial(3, 2, 4)
	for _, runs := range x.Runs {
		for k := range runs {
			runs[k].State, runs[k].Values, runs[k].Distances, runs[k].ID = findings.Waiting, nil, nil, ""
		}
	}
	got := trialReport(t, x)
	for _, want := range []string{"incomplete", "0 of 24 runs are done.", "So far (0 of 24 runs): no run has a value of cost", "So far (0 of 24 runs): no run can be compared with real.csv", "<td>waiting</td>"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing", want)
		}
	}
	x = trial(1, 1, 0)
	x.Points, x.Runs, x.Factors, x.Baseline = nil, nil, nil, -1
	trialReport(t, x)
	x = trial(1, 1, 3)
	x.Factors, x.Points[0] = nil, findings.Point{}
	if got := trialReport(t, x); !strings.Contains(got, "complete") {
		t.Error("an experiment without factors is not complete")
	}
}

// TestHostileExperiment checks that names and texts are shown as they are, and run nothing.
func TestHostileExperiment(t *testing.T) {
	x := trial(3, 2, 3)
	x.Title, x.Design = hostile, hostile
	x.Real.File, x.Real.Digest, x.Real.Shared, x.Real.Columns[0].Name, x.Real.Columns[1].Figure = hostile, hostile, hostile, hostile, hostile
	for i := range x.Factors {
		x.Factors[i].Name = hostile + strconv.Itoa(i)
	}
	for i := range x.Measures {
		x.Measures[i].Name, x.Measures[i].Unit = hostile+strconv.Itoa(i), hostile
	}
	for i := range x.Points {
		x.Points[i].Label = hostile
		for k := range x.Points[i].Values {
			x.Points[i].Values[k].Text += hostile
		}
	}
	x.Runs[0][1].Distances[0].Problem = hostile
	x.Runs[0][0] = findings.Run{Identity: "x", ID: hostile, State: hostile, Why: hostile}
	var out bytes.Buffer
	if err := WriteExperiment(&out, &Experiment{Table: x, File: hostile, Text: []byte(hostile), Command: hostile, Version: hostile}); err != nil {
		t.Fatal(err)
	}
	inert(t, out.String())
	wellFormed(t, out.String())
	if n := strings.Count(out.String(), "&lt;script&gt;alert"); n < 60 {
		t.Errorf("the page has the hostile text %d times: something is left out", n)
	}
	x = trial(3, 2, 3)
	x.Design, x.Points, x.Runs, x.Factors[0].Name = "one-at-a-time", x.Points[:2], x.Runs[:2], hostile
	inert(t, trialReport(t, x))
}

// TestLargeExperiment checks that a report of 300 points and 10 measures stays small, and shows the largest differences first.
func TestLargeExperiment(t *testing.T) {
	x := trial(60, 5, 5)
	for i := range 8 {
		x.Measures = append(x.Measures, findings.Measure{Name: "m" + strconv.Itoa(i)})
	}
	for _, runs := range x.Runs {
		for k := range runs {
			for i := range 8 {
				runs[k].Values = append(runs[k].Values, runs[k].Values[i%2]+float64(i))
			}
		}
	}
	got := trialReport(t, x)
	if len(got) > 4<<20 {
		t.Errorf("the report has %d bytes", len(got))
	}
	if n := strings.Count(got, "All 300 points"); n != 10 {
		t.Errorf("%d of 10 measures have a table of all points", n)
	}
	if n := strings.Count(got, "The 30 nearest of 300 points"); n != 3 {
		t.Errorf("%d of 3 tables of the real data are short", n)
	}
	_, first, _ := strings.Cut(got, `id="measure-1"`)
	first, _, _ = strings.Cut(first, "All 300 points")
	if n := strings.Count(first, "<tr"); !strings.Contains(first, ">params.eagerness=60, params.share=4<") || strings.Contains(first, ">params.eagerness=2, params.share=0<") || n != topForest+1 {
		t.Errorf("the first table has %d rows, or others than those of the largest differences", n)
	}
}

// TestSensitivityPictures checks the pictures of each method.
func TestSensitivityPictures(t *testing.T) {
	two := func(name string, figures ...float64) findings.Influence {
		f := findings.Influence{Name: name}
		for _, v := range figures {
			f.Figures = append(f.Figures, findings.Figure{Value: v, Interval: statistics.Interval{Low: v, High: v}})
		}
		return f
	}
	for _, c := range []struct {
		method  findings.SensitivityKind
		factors []findings.Influence
		bars    []string // x and width of each
		scatter string
	}{
		{findings.Tornado, []findings.Influence{two("a", -2, 4)}, []string{"0.00% 33.33%", "33.33% 66.67%"}, ""},
		{findings.Indices, []findings.Influence{two("a", 0.5, 1)}, []string{"0.00% 50.00%", "0.00% 100.00%"}, ""},
		{findings.Shares, []findings.Influence{two("a", 1), two("b", math.NaN())}, []string{"0.00% 100.00%"}, ""},
		{findings.Screening, []findings.Influence{two("a", 10, -10, 0), two("b", 5, 0, 2), two("c", 1, 0, math.NaN())}, []string{"0.00% 100.00%", "0.00% 50.00%", "0.00% 10.00%"}, "100.00% 150.0 50.00% 0.0"},
	} {
		v := newInfluence(&findings.Sensitivity{Method: c.method, Figures: []string{"x", "y", "z"}, Factors: c.factors})
		var bars, dots []string
		for _, row := range v.Rows {
			for _, m := range regexp.MustCompile(`<rect class="[a-z ]*" x="([^"]*)" width="([^"]*)"`).FindAllStringSubmatch(string(row.Picture), -1) {
				bars = append(bars, m[1]+" "+m[2])
			}
		}
		for _, m := range regexp.MustCompile(`cx="([^"]*)" cy="([^"]*)"`).FindAllStringSubmatch(string(v.Scatter), -1) {
			dots = append(dots, m[1], m[2])
		}
		if strings.Join(bars, ", ") != strings.Join(c.bars, ", ") || strings.Join(dots, " ") != c.scatter {
			t.Errorf("%s: bars %q, dots %q", c.method, bars, dots)
		}
	}
}

// TestForestWithoutABaseline shows the estimates.
func TestForestWithoutABaseline(t *testing.T) {
	x := trial(3, 1, 3)
	x.Baseline = -1
	f := newForest(findings.Compare(x), 0)
	if f.Compared || len(f.Rows) != 3 || f.Rows[0].Picture == "" || f.Rows[0].Difference != "" {
		t.Errorf("%+v", f)
	}
	if got := trialReport(t, x); strings.Contains(got, "Differences are from the baseline") || strings.Contains(got, "the baseline</td>") {
		t.Error("the page names a baseline")
	}
}

func TestRuler(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, "0 0.2 0.4 0.6 0.8 1"},
		{[]float64{nan, inf}, "0 0.2 0.4 0.6 0.8 1"},
		{[]float64{0, 0}, "-1 -0.5 0 0.5 1"},
		{[]float64{-1.036, 8.7}, "-5 0 5 10"},
		{[]float64{nan, 0.12, 0.35}, "0.1 0.15 0.2 0.25 0.3 0.35"},
		{[]float64{99.5, 100.5}, "99.5 100 100.5"},
		{[]float64{-3e9, -1e9}, "-3e+09 -2.5e+09 -2e+09 -1.5e+09 -1e+09"},
	} {
		r := newRuler(c.values)
		var got []string
		for i := range r.steps + 1 {
			got = append(got, findings.Tick(r.tick(i)))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%v: got %q, want %q", c.values, got, c.want)
		}
	}
}

func TestSeedList(t *testing.T) {
	for want, seeds := range map[string][]uint64{"": nil, "7": {7}, "1, 2": {1, 2}, "1 to 3, 9": {1, 2, 3, 9}, "5, 4": {5, 4}} {
		if got := seedList(seeds); got != want {
			t.Errorf("%v: got %q, want %q", seeds, got, want)
		}
	}
}

// TestCurveOverManyDots leaves out the line and the intervals, and labels that would touch.
func TestCurveOverManyDots(t *testing.T) {
	p := findings.CurvePlot{Measure: "m", Factor: "f", Numbers: true, Log: true, Unit: "s", Lines: make([]findings.CurveLine, 1)}
	for i := range 100 {
		x := math.Pow(10, float64(i)/25)
		p.Lines[0].Dots = append(p.Lines[0].Dots, findings.CurveDot{X: x, Text: strconv.FormatFloat(x, 'g', -1, 64), Mean: float64(i), Low: float64(i - 1000), High: float64(i + 1000)})
	}
	v := curveView(&p)
	if text := string(v.Picture); strings.Count(text, "h0") != 100 || strings.Contains(text, "<circle") || strings.Contains(text, "interval") || strings.Count(text, "<text") > 30 {
		t.Errorf("%s", text)
	}
	if v.Title != "m (s)" || v.About != "over f, logarithmic" {
		t.Errorf("%+v", v)
	}
}

func TestWriteExperimentFails(t *testing.T) {
	if err := WriteExperiment(broken{}, &Experiment{Table: trial(1, 2, 2)}); !errors.Is(err, io.ErrShortWrite) {
		t.Errorf("got %v", err)
	}
	x := trial(2, 2, 2)
	x.Points[1].Values[0].Level = 7
	if err := WriteExperiment(io.Discard, &Experiment{Table: x}); err == nil || !strings.Contains(err.Error(), x.Title) {
		t.Errorf("a damaged grid: %v", err)
	}
}
