package compare

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/throng-sim/throng/engine"
	"github.com/throng-sim/throng/engine/experiment/statistics"
)

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Student's sleep data (Biometrika 1908): hours of sleep gained by ten patients with two drugs.
var drugs = [2][]float64{
	{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
	{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4},
}

// slept returns a run in which each agent has an event with a number.
func slept(all ...float64) *Sample {
	s := &Sample{}
	for agent, x := range all {
		data, _ := json.Marshal(map[string]float64{"gained": x}) // finite
		s.Add(&engine.SessionRow{Place: engine.Place{Agent: agent}, Events: []engine.Event{{Name: "sleep", Data: data}}})
	}
	s.Close()
	return s
}

// TestAgents compares with the result of R 4 for Student's data, t.test(extra ~ group). Ten pairs have an exact test of their own.
func TestAgents(t *testing.T) {
	groups := []Group{{slept(drugs[0]...)}, {slept(drugs[1]...)}}
	d := rowsByName(Table(groups, Units{Agents: true}))["sleep.gained"].Against[0]
	near(t, "p", d.P, 0.07939, 5e-6)
	near(t, "the difference", d.Value, 1.58, 1e-9)
	near(t, "low", d.Interval.Low, -0.2054832, 5e-7)
	near(t, "high", d.Interval.High, 3.3654832, 5e-7)
	if pairs := rowsByName(Table(groups, Units{Agents: true, Paired: true}))["sleep.gained"].Against[0]; pairs.Point != 10 || !pairs.Clear() {
		t.Errorf("pairs: %+v", pairs)
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

func rowsByName(rows []Row) map[string]*Row {
	all := map[string]*Row{}
	for i := range rows {
		all[rows[i].Name] = &rows[i]
	}
	return all
}

// TestTable compares agents of runs in which they share nothing.
func TestTable(t *testing.T) {
	a, again, more := crowd(1, 1, 300, 4, 0), crowd(1, 1, 300, 4, 0), crowd(1, 2, 300, 4, 0.1)
	rows := Table([]Group{{a}, {again}, {more}}, Units{Agents: true, Paired: true})
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	if got, want := fmt.Sprint(names), "[ended ok ended stopped acted order order.total session time, ms]"; got != want {
		t.Errorf("measures are %s, want %s", got, want)
	}
	all := rowsByName(rows)
	for name, r := range all {
		if !r.Against[0].Same || r.Against[0].Clear() || r.Difference(0) != "the same" || r.Chance(0) != "" {
			t.Errorf("%s differs in the same run: %+v", name, r.Against[0])
		}
	}
	if d := all["order"].Against[1]; !d.Clear() || d.Interval.Low <= 0 || d.Value < 0.05 || d.Value > 0.15 || d.Point != 300 {
		t.Errorf("a tenth more that buys is %+v", d)
	}
	if share := all["ended ok"].Of[0]; !share.Interval.Contains(share.Mean) || math.Abs(share.Mean-all["order"].Of[0].Mean) > 1e-12 {
		t.Errorf("the share of ok is %+v, orders per session %+v", share, all["order"].Of[0])
	}
	if n := len(a.Cycles); n != 4 || a.Cycles[0].Sessions != 300 || a.Cycles[3].Events["order"] == 0 || a.Cycles[3].P95 <= a.Cycles[3].P50 {
		t.Errorf("cycles %+v", a.Cycles)
	}
}

// TestSingleRuns checks that two single runs have a difference, but neither an interval nor a p-value, if agents share the run's chance.
func TestSingleRuns(t *testing.T) {
	for _, paired := range []bool{true, false} {
		for _, r := range Table([]Group{{crowd(1, 1, 40, 2, 0)}, {crowd(1, 2, 40, 2, 0.4)}}, Units{Paired: paired}) {
			d := r.Against[0]
			if d.Same || d.Clear() || d.Interval.Known() || !math.IsNaN(d.Adjusted) || math.IsNaN(d.Value) || r.Chance(0) != "unknown" || strings.Contains(r.Difference(0), "to") {
				t.Errorf("paired %v, %s: %s, %s, %+v", paired, r.Name, r.Difference(0), r.Chance(0), d)
			}
		}
	}
}

// TestMissing checks a measure that only one group has.
func TestMissing(t *testing.T) {
	silent := &Sample{}
	silent.Add(&engine.SessionRow{})
	silent.Close()
	for _, u := range []Units{{}, {Agents: true}, {Paired: true}, {Agents: true, Paired: true}} {
		row := rowsByName(Table([]Group{{silent}, {slept(1, 2, 3)}}, u))["sleep.gained"]
		if d := row.Against[0]; !math.IsNaN(d.Value) || d.Clear() || row.Value(0) != "none" || row.Difference(0) != "none" {
			t.Errorf("%+v: %s, %s, %+v", u, row.Value(0), row.Difference(0), d)
		}
	}
}

// shop is a run in which all agents share the luck of the shop: how attractive it is.
func shop(seed uint64, agents int) *Sample {
	draw := rand.New(rand.NewPCG(seed, 3))
	attractive := 0.2 + 0.6*draw.Float64()
	s := &Sample{}
	for agent := range agents {
		s.Add(&engine.SessionRow{Place: engine.Place{Agent: agent}, Acted: draw.Float64() < attractive, Total: time.Duration(draw.IntN(100)) * time.Millisecond})
	}
	s.Close()
	return s
}

// TestChanceIsNotASignal compares runs that differ by chance only. With runs as units, at most one in twenty tables may claim a difference.
// With agents as units, the chance that all agents of a run share looks like a difference, so that nearly every table claims one: the
// reason why agents are compared only if they share nothing.
func TestChanceIsNotASignal(t *testing.T) {
	const rounds = 200
	claims := func(seeds int, u Units) (claimed int) {
		for round := range uint64(rounds) {
			groups := make([]Group, 2)
			for i := range groups {
				for k := range uint64(seeds) {
					groups[i] = append(groups[i], shop(round<<8+uint64(i)<<7+k, 100))
				}
			}
			for _, r := range Table(groups, u) {
				if r.Against[0].Clear() {
					claimed++
					break
				}
			}
		}
		return claimed
	}
	for _, paired := range []bool{true, false} {
		if n := claims(8, Units{Paired: paired}); n > rounds/12 {
			t.Errorf("runs, paired %v: %d of %d tables claim a difference", paired, n, rounds)
		}
		if n := claims(1, Units{Agents: true, Paired: paired}); n < rounds/2 {
			t.Errorf("agents, paired %v: only %d of %d tables claim a difference: is the shop's luck shared?", paired, n, rounds)
		}
	}
}

// TestGroups checks that runs with the same seed are compared with each other: the shop's luck cancels out.
func TestGroups(t *testing.T) {
	var groups [2]Group
	for seed := range uint64(12) {
		groups[0] = append(groups[0], crowd(seed, seed, 60, 2, 0))
		groups[1] = append(groups[1], crowd(seed, seed, 60, 2, 0.05))
	}
	paired := rowsByName(Table(groups[:], Units{Paired: true}))["acted"]
	apart := rowsByName(Table(groups[:], Units{}))["acted"]
	if d := paired.Against[0]; !d.Clear() || d.Interval.HalfWidth() >= apart.Against[0].Interval.HalfWidth() || d.Value != apart.Against[0].Value && math.Abs(d.Value-apart.Against[0].Value) > 1e-12 {
		t.Errorf("paired %+v, apart %+v", d, apart.Against[0])
	}
	if text := paired.Difference(0); !strings.HasPrefix(text, "+") || !strings.Contains(text, " points (+") {
		t.Errorf("the difference is %q", text)
	}
}

func TestMethod(t *testing.T) {
	seen := map[string]bool{}
	for _, u := range []Units{{}, {Agents: true}, {Paired: true}, {Agents: true, Paired: true}} {
		seen[u.Method(3)] = true
	}
	if len(seen) != 4 || !strings.Contains(Units{Paired: true}.Method(1), "Compare several seeds") {
		t.Errorf("methods are not distinct: %v", seen)
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
	row := func(k Kind, mean, low, high float64) *Row {
		return &Row{Kind: k, Of: []statistics.Estimate{{Mean: mean, Interval: statistics.Interval{Low: low, High: high}}}}
	}
	against := func(d statistics.Difference) *Row { return &Row{Against: []statistics.Difference{d}} }
	for _, c := range []struct{ got, want string }{
		{row(Ended, 0.1, 0.05, 0.2).Value(0), "10.00% (5.00 to 20.00)"},
		{row(Value, 12.34567, 1, 20).Value(0), "12.35 (1 to 20)"},
		{row(Acted, 0.5, nan, nan).Value(0), "50.00%"},
		{row(Value, nan, nan, nan).Value(0), "none"},
		{against(statistics.Difference{Value: -0.01, Interval: statistics.Interval{Low: -0.02, High: 0.003}}).Difference(0), "-1.00 points (-2.00 to +0.30)"},
		{against(statistics.Difference{Same: true}).Difference(0), "the same"},
		{against(statistics.Difference{Adjusted: 0.0004}).Chance(0), "< 0.001"},
		{against(statistics.Difference{Adjusted: 0.25}).Chance(0), "0.250"},
		{against(statistics.Difference{Adjusted: nan}).Chance(0), "unknown"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
