package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// TestWilson checks the intervals in Newcombe (1998), Statistics in Medicine 17, table I.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		hits, of  int64
		low, high float64
	}{{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718}} {
		got := Wilson(c.hits, c.of)
		what := fmt.Sprintf("%d of %d", c.hits, c.of)
		near(t, what, got.Mean, float64(c.hits)/float64(c.of), 1e-12)
		near(t, what+", low", got.Low, c.low, 5e-5)
		near(t, what+", high", got.High, c.high, 5e-5)
	}
	if got := Wilson(0, 0); !math.IsNaN(got.Mean) {
		t.Errorf("of nothing: %v", got)
	}
}

// Student's sleep data (Biometrika 1908): hours of sleep gained by ten patients with two drugs.
var drugs = [2][]float64{
	{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
	{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4},
}

func agents(all []float64) *values {
	v := &values{}
	for agent, x := range all {
		v.add(agent, x)
	}
	return v
}

// TestTwoSamples compares with the results of R 4 for Student's data: t.test(extra ~ group), and with paired = TRUE.
func TestTwoSamples(t *testing.T) {
	a, b := agents(drugs[0]), agents(drugs[1])
	welch := differ(a, b, false)
	near(t, "Welch's p", welch.P, 0.07939, 5e-6)
	near(t, "its mean", welch.Mean, 1.58, 1e-9)
	near(t, "its low", welch.Low, -0.2054832, 5e-7)
	near(t, "its high", welch.High, 3.3654832, 5e-7)
	paired := differ(a, b, true)
	near(t, "the paired p", paired.P, 0.002833, 5e-7)
	near(t, "its low", paired.Low, 0.7001142, 5e-7)
	near(t, "its high", paired.High, 2.4598858, 5e-7)
	if welch.Agents != 20 || paired.Agents != 10 || paired.Same {
		t.Errorf("%+v, %+v", welch, paired)
	}
}

// TestWithoutDeviation checks values without any deviation, and no values at all.
func TestWithoutDeviation(t *testing.T) {
	two := agents([]float64{2, 2, 2})
	if d := differ(two, agents([]float64{2, 2, 2}), true); !d.Same || d.P != 1 || d.Mean != 0 {
		t.Errorf("the same: %+v", d)
	}
	if d := differ(two, agents([]float64{3, 3, 3}), true); d.Same || d.P != 0 || d.Low != 1 || d.High != 1 {
		t.Errorf("one more each: %+v", d)
	}
	for _, paired := range []bool{true, false} {
		if d := differ(nil, two, paired); !math.IsNaN(d.P) || !math.IsNaN(d.Mean) {
			t.Errorf("against nothing: %+v", d)
		}
	}
	if d := differ(agents([]float64{1}), agents([]float64{2}), true); d.Mean != 1 || !math.IsNaN(d.Low) {
		t.Errorf("a single agent: %+v", d)
	}
}

func TestHolm(t *testing.T) {
	var rows []Row
	for _, p := range []float64{0.01, 0.04, math.NaN(), 0.03, 0.005} {
		rows = append(rows, Row{Against: []Difference{{P: p}}})
	}
	adjust(rows, 0)
	for i, want := range []float64{0.03, 0.06, math.NaN(), 0.06, 0.02} {
		if got := rows[i].Against[0].Adjusted; !(math.Abs(got-want) < 1e-12) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("p %v becomes %v, want %v", rows[i].Against[0].P, got, want)
		}
	}
}

// crowd samples a run: each agent buys with its own probability, the same in every run with the same seed of the agents, and spends a
// random amount.
func crowd(people, run uint64, agents, cycles int, more float64) *Sample {
	chances := rand.New(rand.NewPCG(people, 1))
	likes := make([]float64, agents)
	for i := range likes {
		likes[i] = chances.Float64()
	}
	draw := rand.New(rand.NewPCG(people, run))
	s := &Sample{}
	for cycle := range cycles {
		for agent := range agents {
			r := engine.SessionRow{Place: engine.Place{Cycle: cycle, Agent: agent}, Outcome: engine.OK, Total: time.Duration(draw.IntN(100)) * time.Millisecond}
			if draw.Float64() < likes[agent]/2+more {
				r.Acted = true
				r.Events = []engine.Event{{Name: "order", Data: fmt.Appendf(nil, `{"total": %.2f, "note": "1", "paid": null}`, 10*likes[agent]+draw.Float64())}}
			} else {
				r.Outcome = engine.Stopped
			}
			s.Add(&r)
		}
	}
	s.Close()
	return s
}

func rowsByName(rows []Row) map[string]Row {
	all := map[string]Row{}
	for _, r := range rows {
		all[r.Name] = r
	}
	return all
}

func TestTable(t *testing.T) {
	a, same, more := crowd(1, 1, 300, 4, 0), crowd(1, 1, 300, 4, 0), crowd(1, 2, 300, 4, 0.1)
	rows := Table([]*Sample{a, same, more}, []bool{true, true})
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	if got, want := fmt.Sprint(names), "[ended ok ended stopped acted order order.total session time, ms]"; got != want {
		t.Errorf("measures are %s, want %s", got, want)
	}
	all := rowsByName(rows)
	for name, r := range all {
		if !r.Against[0].Same || r.Against[0].Clear() {
			t.Errorf("%s differs in the same run: %+v", name, r.Against[0])
		}
	}
	bought := all["order"]
	if d := bought.Against[1]; !d.Clear() || d.Low <= 0 || d.Mean < 0.05 || d.Mean > 0.15 || d.Agents != 300 {
		t.Errorf("a tenth more that buys is %+v", d)
	}
	if share := all["ended ok"].Of[0]; share.Low > share.Mean || share.High < share.Mean || math.Abs(share.Mean-bought.Of[0].Mean) > 1e-12 {
		t.Errorf("the share of ok is %+v, orders per session %+v", share, bought.Of[0])
	}
	if n := len(a.Cycles); n != 4 || a.Cycles[0].Sessions != 300 || a.Cycles[3].Events["order"] == 0 || a.Cycles[3].P95 <= a.Cycles[3].P50 {
		t.Errorf("cycles %+v", a.Cycles)
	}
}

// TestChanceIsNotASignal compares runs that differ by chance only: at most one in twenty may show a significant difference, over all
// measures together.
func TestChanceIsNotASignal(t *testing.T) {
	for _, paired := range []bool{true, false} {
		claimed := 0
		const rounds = 200
		for i := range uint64(rounds) {
			for _, r := range Table([]*Sample{crowd(i, 1, 40, 2, 0), crowd(i, 2, 40, 2, 0)}, []bool{paired}) {
				if r.Against[0].Clear() {
					claimed++
					break
				}
			}
		}
		if claimed > rounds/10 {
			t.Errorf("paired %v: %d of %d rounds claim a difference", paired, claimed, rounds)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int{
		`{"a": 1, "b": -2.5e3, "c": "3", "d": null, "e": {"f": 1}, "g": true}`: 2, ` {"a":1}`: 1, `[1]`: 0, `{"a":`: 0, ``: 0, `5`: 0,
	} {
		if got := numbers([]byte(text)); len(got) != want {
			t.Errorf("%s has %v", text, got)
		}
	}
}

// TestMeasuresAreBounded checks that the number of compared events is limited.
func TestMeasuresAreBounded(t *testing.T) {
	s := &Sample{}
	for i := range 2 * maxMeasures {
		s.Add(&engine.SessionRow{Events: []engine.Event{{Name: fmt.Sprint("event ", i)}}})
	}
	s.Close()
	if !s.Dropped() || len(s.measures) != maxMeasures {
		t.Errorf("%d measures", len(s.measures))
	}
}

func TestCommon(t *testing.T) {
	runs := []engine.RunRecord{{Cycle: 24}, {Cycle: 20, Ancestry: engine.Ancestry{ForkCycle: 5}}, {Cycle: 30, Ancestry: engine.Ancestry{ForkCycle: 2}}}
	if from, to := Common(runs); from != 5 || to != 20 {
		t.Errorf("got %d to %d", from, to)
	}
}

func TestTexts(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ got, want string }{
		{Interval{0.1, 0.05, 0.2}.Text(Ended), "10.00% (5.00 to 20.00)"},
		{Interval{12.34567, 1, 20}.Text(Value), "12.35 (1 to 20)"},
		{Interval{0.5, nan, nan}.Text(Acted), "50.00%"},
		{Interval{nan, nan, nan}.Text(Value), "none"},
		{(&Difference{Interval: Interval{-0.01, -0.02, 0.003}}).Text(Ended), "-1.00 points (-2.00 to +0.30)"},
		{(&Difference{Same: true}).Text(Ended), "the same"},
		{(&Difference{Adjusted: 0.0004}).Chance(), "< 0.001"},
		{(&Difference{Adjusted: 0.25}).Chance(), "0.250"},
		{(&Difference{Adjusted: nan}).Chance(), "not known"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
