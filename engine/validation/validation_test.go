package validation_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/internal/doc"
	"github.com/throng-sim/throng/engine/validation"
)

// known is what a made-up scenario has.
var known = validation.Known{
	Events: []string{"buy"}, AllEvents: true, Memory: []string{"mood"}, Attributes: []string{"age", "home"}, Acted: "buy",
}

// read reads validate_against with a file, and returns its problems.
func read(t *testing.T, text, file string) (*validation.Against, string) {
	t.Helper()
	report := &doc.Report{}
	n := doc.Parse("s.yaml", []byte(text), report)
	a := validation.Read(n, func(string) ([]byte, error) { return []byte(file), nil }, &known, report)
	var out strings.Builder
	if err := report.Print(&out); err != nil {
		t.Fatal(err)
	}
	return a, out.String()
}

// made is a made-up run.
type made struct {
	spend []float64
	home  []string
}

// rows returns real data.
func (m *made) rows() string {
	var b strings.Builder
	b.WriteString("spend,home,visits\n")
	for i := range m.spend {
		fmt.Fprintf(&b, "%g,%s,%d\n", m.spend[i], m.home[i], i%3)
	}
	return b.String()
}

// draw draws a sample: normal spending, and homes with a share in town.
func draw(r *rand.Rand, n int, mean, deviation, town float64) *made {
	m := &made{}
	for range n {
		m.spend = append(m.spend, mean+deviation*r.NormFloat64())
		home := "village"
		if r.Float64() < town {
			home = "town"
		}
		m.home = append(m.home, home)
	}
	return m
}

const measures = "{file: real.csv, measures: {spend: events.buy.total.mean, home: agent.home, visits: events.buy}}"

// compare compares a made-up run with real data. Each agent buys i%3 times.
func compare(t *testing.T, real, run *made) *validation.Result {
	t.Helper()
	a, problems := read(t, measures, real.rows())
	if a == nil {
		t.Fatal(problems)
	}
	c := a.NewCollector()
	for i := range run.spend {
		row := engine.SessionRow{Place: engine.Place{Agent: i}}
		for range i % 3 {
			data, err := json.Marshal(map[string]float64{"total": run.spend[i]})
			if err != nil {
				t.Fatal(err)
			}
			row.Events = append(row.Events, engine.Event{Name: "buy", Data: data})
		}
		if i%3 == 0 {
			row.Events = []engine.Event{{Name: "other", Data: []byte(`{"total": 7}`)}}
		}
		c.Add(&row)
	}
	values, err := c.Values(validation.Ending{Persona: func(agent int) ([]engine.Fact, error) {
		return []engine.Fact{{Name: "home", Value: run.home[agent]}}, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	return a.Compare(values)
}

// TestPlantedDifference: over 20 seeds, the planted difference is found and no other.
func TestPlantedDifference(t *testing.T) {
	const size = 600
	for name, planted := range map[string]struct {
		mean, deviation, town float64
		differs               string
	}{
		"mean":  {54, 10, 0.5, "spend"},
		"shape": {50, 20, 0.5, "spend"},
		"share": {50, 10, 0.7, "home"},
	} {
		found, others := 0, 0
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 7))
			result := compare(t, draw(r, size, 50, 10, 0.5), draw(r, size, planted.mean, planted.deviation, planted.town))
			for i := range result.Rows {
				switch row := &result.Rows[i]; {
				case row.Differs() && row.Column == planted.differs:
					found++
				case row.Differs():
					others++
				}
			}
		}
		if found != 20 || others > 2 {
			t.Errorf("%s: found in %d of 20 runs, and %d other differences; want 20, and about one", name, found, others)
		}
	}
}

// TestNoDifference: without a difference, at most about 5% of runs are found to differ in any measure.
func TestNoDifference(t *testing.T) {
	const runs = 400
	found := 0
	for seed := range uint64(runs) {
		r := rand.New(rand.NewPCG(seed, 11))
		if compare(t, draw(r, 60, 50, 10, 0.5), draw(r, 90, 50, 10, 0.5)).Differ() {
			found++
		}
	}
	if share := float64(found) / runs; share > 0.075 {
		t.Errorf("%.3f of runs differ, want at most 0.05", share)
	} else if found == 0 {
		t.Error("no run of 400 differs: the tests find nothing")
	}
}

// TestFigures compares the figures of the rows with values computed by hand.
func TestFigures(t *testing.T) {
	real := &made{spend: []float64{1, 2, 3, 4, 5, 6}, home: []string{"town", "town", "town", "village", "village", "hut"}}
	run := &made{spend: []float64{0, 2, 4, 0, 6, 8, 0, 10, 12}, home: []string{"town", "town", "town", "town", "town", "town", "village", "village", "boat"}}
	result := compare(t, real, run)
	spend, home, visits := &result.Rows[0], &result.Rows[1], &result.Rows[2]
	if spend.Run.N != 6 || spend.Run.Missing != 3 || spend.Run.Mean != 7 || spend.Real.Mean != 3.5 || spend.Mean.Value != 3.5 || math.Abs(spend.Wasserstein-3.5) > 1e-12 {
		t.Errorf("spend is %+v, want 6 values, 3 missing, means of 7 and 3.5, and 3.5 apart", spend)
	}
	if d := spend.Smirnov.Statistic; math.Abs(d-0.5) > 1e-12 { // at 6: all of the real values, half of the run's
		t.Errorf("D of spend is %v, want 0.5", d)
	}
	if strings.Join(home.OnlyReal, " ") != "hut" || strings.Join(home.OnlyRun, " ") != "boat" || home.Bins[0].Name != "town" || home.Bins[0].Real != 3 || home.Bins[0].Run != 6 {
		t.Errorf("home is %+v, want hut and boat on one side each, and 3 and 6 in town", home)
	}
	if visits.Mean.Value != 0 || visits.Smirnov.P != 1 || visits.Differs() {
		t.Errorf("visits are %+v, want no difference", visits)
	}
	for i := range result.Rows {
		if s := result.Rows[i].Sentence(); !strings.HasPrefix(s, result.Rows[i].Column+": ") || strings.Contains(s, "NaN") {
			t.Errorf("the sentence is %q", s)
		}
		if n := len(result.Rows[i].Cells()); n != len(validation.Head()) {
			t.Errorf("a row has %d cells, want %d", n, len(validation.Head()))
		}
	}
}

// TestBadData: each mistake is reported with what to do about it.
func TestBadData(t *testing.T) {
	const one = "{file: real.csv, measures: {x: events.buy}}"
	many := "x\n"
	for i := range 60 {
		many += fmt.Sprintf("text %d\n", i)
	}
	for _, c := range []struct{ text, file, want string }{
		{one, "", "the file is empty"},
		{one, "x\n", "the file has a header and no rows"},
		{one, "y\n1\n", "real.csv has no column x"},
		{one, "x,x\n1,1\n", "there is another column x"},
		{one, "x,y\n1\n", "wrong number of fields"},
		{one, "x\n\xff\n", "the file is not UTF-8 text"},
		{one, many, "column x has 60 different texts, more than 50"},
		{"{file: real.csv, measures: {x: {of: events.buy, kind: number}}}", "x\n1\ntwo\n", `"two" in column x is not a number`},
		{"{file: real.csv, measures: {x: {of: events.buy, kind: nummer}}}", "x\n1\n", "nummer"},
		{"{file: real.parquet, measures: {x: events.buy}}", "x\n1\n", "real data cannot be read from real.parquet"},
		{"{file: real.csv, measures: {}}", "x\n1\n", "nothing is compared"},
		{"{file: real.csv, measures: {x: events.bye}}", "x\n1\n", "the scenario never emits the event bye"},
		{"{file: real.csv, measures: {x: memory.mod}}", "x\n1\n", "no step remembers mod"},
		{"{file: real.csv, measures: {x: agent.hom}}", "x\n1\n", "agents have no attribute hom"},
		{"{file: real.csv, measures: {x: spending}}", "x\n1\n", "there is no figure spending"},
		{"{file: real.csv, measures: {x: {of: memory.mood, per: session}}}", "x\n1\n", "memory.mood belongs to an agent"},
	} {
		a, problems := read(t, c.text, c.file)
		if a != nil || !strings.Contains(problems, c.want) {
			t.Errorf("%s with %q: %s, want %q", c.text, c.file, problems, c.want)
		}
	}
}

// TestMarked: what cannot be compared is marked, and the rest is compared.
func TestMarked(t *testing.T) {
	real := &made{spend: []float64{5, 5, 5, 5, 5, 5}, home: []string{"a", "a", "a", "a", "a", "a"}}
	run := &made{spend: []float64{1, 2, 3, 4, 5, 6}, home: []string{"a", "a", "a", "a", "a", "a"}}
	result := compare(t, real, run)
	spend, home := &result.Rows[0], &result.Rows[1]
	if spend.Compared() || !strings.Contains(spend.Problem, "only 4 values") || !strings.Contains(spend.Sentence(), "was not compared") || spend.Differs() {
		t.Errorf("spend is %+v, want it marked: the run has 4 values", spend)
	}
	if !home.Compared() || home.Differs() || !strings.Contains(home.Sentence(), "both sides have the category a only") || len(home.Notes) != 2 {
		t.Errorf("home is %q with %q, want no difference, and both sides marked as constant", home.Sentence(), home.Notes)
	}
}

// TestMissingCells: cells that stand for nothing are left out and counted.
func TestMissingCells(t *testing.T) {
	a, problems := read(t, "{file: real.csv, measures: {x: events.buy}}", "x\n1\nNaN\n2\nNA\n\"\"\n3\n4\n5\n")
	if a == nil {
		t.Fatal(problems)
	}
	c := a.NewCollector()
	for i := range 10 {
		c.Add(&engine.SessionRow{Place: engine.Place{Agent: i}})
	}
	values, err := c.Values(validation.Ending{})
	if err != nil {
		t.Fatal(err)
	}
	if row := &a.Compare(values).Rows[0]; row.Real.N != 5 || row.Real.Missing != 3 || row.Kind != validation.Number || row.Run.N != 10 {
		t.Errorf("the row is %+v, want 5 numbers and 3 missing cells, and 10 values of the run", row)
	}
}

// TestStatistics computes each statistic of several values of an agent, and of none.
func TestStatistics(t *testing.T) {
	for name, want := range map[string][2]float64{
		"last": {2, math.NaN()}, "first": {4, math.NaN()}, "mean": {3, math.NaN()}, "sum": {9, 0}, "min": {2, math.NaN()}, "max": {4, math.NaN()}, "median": {3, math.NaN()},
	} {
		a, problems := read(t, "{file: real.csv, measures: {x: events.buy.a.b."+name+"}}", "x\n1\n2\n3\n4\n5\n")
		if a == nil {
			t.Fatal(problems)
		}
		c := a.NewCollector()
		row := engine.SessionRow{}
		for _, v := range []int{4, 3, 2} {
			row.Events = append(row.Events, engine.Event{Name: "buy", Data: fmt.Appendf(nil, `{"a": {"b": %d}}`, v)})
		}
		c.Add(&row)
		c.Add(&engine.SessionRow{Place: engine.Place{Agent: 1}})
		values, err := c.Values(validation.Ending{})
		if err != nil {
			t.Fatal(err)
		}
		got := values[0].Numbers
		if len(got) == 1 && math.IsNaN(want[1]) && values[0].Missing == 1 {
			got = append(got, math.NaN())
		}
		if len(got) != 2 || got[0] != want[0] || !math.IsNaN(want[1]) && got[1] != want[1] {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// TestLoad reads measures from a command line.
func TestLoad(t *testing.T) {
	file := []byte("spend,events.buy,note\n1,2,x\n2,3,y\n")
	for _, c := range []struct {
		pairs string
		want  string // the measures, or the error
	}{
		{"", "events.buy=events.buy"},
		{"spend=events.buy.total", "spend=events.buy.total"},
		{"spend", "spend is not COLUMN=FIGURE"},
		{"sped=events.buy", "did you mean `spend`?"},
		{"spend=event.buy", "did you mean `events.buy`?"},
	} {
		report := &doc.Report{}
		a, err := validation.Load("real.csv", file, strings.Fields(c.pairs), &known, report)
		got := fmt.Sprint(err)
		if a != nil {
			got = a.Measures[0].Column + "=" + a.Measures[0].Figure
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%q: %s, want %s", c.pairs, got, c.want)
		}
	}
}
