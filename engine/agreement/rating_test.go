package agreement

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/decision"
	"github.com/throng-sim/throng/engine/internal/draw"
)

// rated adds a pair of ratings of an agent.
func rated(c *Collector, agent, cycle, model, rule int) {
	c.Add(&engine.SessionRow{Place: engine.Place{Agent: agent, Cycle: cycle}, Steps: []engine.StepRecord{
		{Path: "rate", Decision: &decision.Pair{Model: fmt.Appendf(nil, `{"stars":%d}`, model), Rule: fmt.Appendf(nil, `{"stars":%d}`, rule)}},
	}})
}

// TestRatingByHand compares the figures of a table with those computed by hand, and the interval of kappa with the jackknife.
func TestRatingByHand(t *testing.T) {
	var all []both
	var c Collector
	for _, cell := range [][3]int{{1, 1, 10}, {1, 2, 5}, {2, 2, 10}, {2, 3, 5}, {3, 3, 10}, {3, 1, 10}} {
		for range cell[2] {
			rated(&c, len(all), 0, cell[0], cell[1])
			all = append(all, both{len(all), float64(cell[0]), float64(cell[1])})
		}
	}
	r := c.Result().Steps[0].Fields[0].Rating
	// Differences: 10 of 1, 10 of 2. Squares: (10 + 40) / 50 = 1. By chance: variances of 0.69 each, and means that differ by 0.2.
	if r == nil || math.Abs(r.Difference.Mean-0.6) > 1e-12 || math.Abs(r.Weighted.Value-(1-1/1.42)) > 1e-12 {
		t.Fatalf("%+v", r)
	}
	// The standard deviation of the differences is sqrt(0.64 * 50 / 49), and the quantile of t with 49 degrees of freedom is 2.0096.
	if half := 2.0096 * math.Sqrt(0.64/49); math.Abs(*r.Difference.High-0.6-half) > 1e-4 || math.Abs(0.6-*r.Difference.Low-half) > 1e-4 {
		t.Errorf("difference %v to %v, want 0.6 ± %v", *r.Difference.Low, *r.Difference.High, half)
	}
	sum := 0.
	for i := range all {
		left := append(append([]both{}, all[:i]...), all[i+1:]...)
		d := newRating(left).Weighted.Value - r.Weighted.Value
		sum += d * d
	}
	half := 2.0096 * math.Sqrt(sum*49/50)
	if got := (r.Weighted.High - r.Weighted.Low) / 2; math.Abs(got-half) > 0.03*half {
		t.Errorf("half the interval of kappa is %v, by the jackknife %v", got, half)
	}
	step := &c.Result().Steps[0]
	if got := strings.Join(step.Remarks(), "\n"); !strings.Contains(got, "stars: model and rule are 0.6 [0.37, 0.83] apart on average; weighted kappa 0.30 [0.02, 0.57]") {
		t.Errorf("remarks %s", got)
	}
	sheet := c.Result().Sheet()
	if row := sheet.Rows[1]; len(row) != len(sheet.Columns) || row[9] == "" || row[12] == "" || sheet.Rows[0][9] != "" {
		t.Errorf("sheet %q", sheet.Rows)
	}
}

// TestOnlyRatingsAreRated checks what is not a rating, and ratings without an interval.
func TestOnlyRatingsAreRated(t *testing.T) {
	for name, c := range map[string]struct {
		pairs [][2]string
		is    bool
	}{
		"two numbers":  {[][2]string{{"1", "2"}, {"2", "2"}}, false},
		"texts":        {[][2]string{{`"1"`, `"2"`}, {`"3"`, `"3"`}}, false},
		"mixed":        {[][2]string{{"1", "2"}, {"3", `"none"`}}, false},
		"one unknown":  {[][2]string{{"1", "2"}, {"3", "null"}, {"2", "4"}}, true},
		"rare texts":   {[][2]string{{"1", "2"}, {"2", `"3"`}, {"4", "5"}}, false},
		"ratings":      {[][2]string{{"1", "2"}, {"3", "3"}}, true},
		"not integers": {[][2]string{{"0.5", "1"}, {"1.5", "1"}}, true},
	} {
		var of Collector
		for _, p := range c.pairs {
			add(&of, 0, 1, decision.Model, p[0], p[1])
		}
		if got := of.Result().Steps[0].Fields[0].Rating; (got != nil) != c.is {
			t.Errorf("%s: %+v", name, got)
		}
	}
	var one Collector
	for i := range 3 {
		rated(&one, 7, i, i+1, 3)
	}
	if r := one.Result().Steps[0].Fields[0].Rating; r.Difference.Mean != 1 || r.Difference.Low != nil || r.Difference.High != nil || r.Weighted != nil {
		t.Errorf("of a single agent: %+v", r)
	}
}

// TestIntervalsOfRatings draws pairs with a known kappa of 0.6 and a known mean difference of 0.64, some of them several times for one agent.
// About 95% of the intervals hold them.
func TestIntervalsOfRatings(t *testing.T) {
	const seeds, people = 300, 60
	for _, repeated := range []int{1, 5} {
		kappas, differences := 0, 0
		for seed := range seeds {
			s := draw.Key{}.Text("ratings").Int(uint64(seed)).Source()
			var all []both
			for agent := range people {
				model := float64(1 + int(5*s.Float64()))
				rule := model
				if s.Float64() < 0.4 {
					rule = float64(1 + int(5*s.Float64()))
				}
				for range repeated {
					all = append(all, both{agent, model, rule})
				}
			}
			r := newRating(all)
			if r.Weighted.Low <= 0.6 && r.Weighted.High >= 0.6 {
				kappas++
			}
			if *r.Difference.Low <= 0.64 && *r.Difference.High >= 0.64 {
				differences++
			}
		}
		for what, n := range map[string]int{"kappa": kappas, "the difference": differences} {
			if n < seeds*90/100 || n > seeds*99/100 {
				t.Errorf("pairs repeated %d times: %d of %d intervals hold %s", repeated, n, seeds, what)
			}
		}
	}
}
